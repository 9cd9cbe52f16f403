// A thread's own copies of the rows of V that all threads update most.
//
// The lines of a row that two cores update are the one's or the other's, and each that wants them waits until they have
// come. Without sharing of negatives every pair updates rows of frequent words, so that two threads were little faster
// than one. So each thread adds to copies of its own. One update in a few makes it merge the row: it hands what it has
// added to the model's row, and takes over what the others have handed in. Rows that are updated more often are merged
// more often: what waits is bounded in updates, on average, and nothing is counted for each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "math/padding.h"
#include "math/pages.h"
#include "model/model.h"

namespace muse {

class RowCopies {
 public:
  // Of the first rows of `shared`, which are those of the most frequent words where the vocabulary is sorted, for one
  // of `threads` threads. One thread has none: its rows are the model's.
  RowCopies(const Matrix& shared, int threads);
  RowCopies(const RowCopies&) = delete;
  ~RowCopies();  // hands in what is left

  // Where this thread reads and updates a row of the model. Without a branch, which would be guessed wrong every third
  // time.
  float* own(float* row) const {
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    const std::uintptr_t ours = std::uintptr_t{0} - std::uintptr_t{floats_between(shared_, row) < size_};  // all ones
    return reinterpret_cast<float*>(address + (to_copies_ & ours));
  }

  // Rows that own() gave were updated: a few of them are merged, when the next ones have been.
  void updated(float* const* rows, int count);

 private:
  struct Release {
    void operator()(float* block) const { release_zeros(block); }
  };
  using Block = std::unique_ptr<float, Release>;

  static Block allocate(std::size_t floats);
  // How far `row` lies behind `first`; where it lies before it, or in other memory, more than any copies hold.
  static std::size_t floats_between(const float* first, const float* row) {
    return (reinterpret_cast<std::uintptr_t>(row) - reinterpret_cast<std::uintptr_t>(first)) / sizeof(float);
  }
  void merge(std::size_t at);

  float* const shared_;
  const std::size_t stride_;      // floats, as those that follow
  std::size_t size_ = 0;          // of all copies
  std::uintptr_t to_copies_ = 0;  // bytes from a row to its copy
  int every_ = 0, next_ = 0;      // one in so many updates has its row merged; until the next of them
  Block copies_, base_;           // base: the copies as they were when they were merged
  std::vector<std::size_t> due_;  // where copies begin that are to be merged; their rows are on their way
};

}  // namespace muse
