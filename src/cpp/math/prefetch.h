// Asking the memory for a row before it is read.
#pragma once

#include <cstddef>
#include <vector>

#include "math/kernels.h"

namespace muse {

inline void prefetch_row(const float* row, int dim) {
  for (int d = 0; d < dim; d += kRowPad) __builtin_prefetch(row + d, 0, kSecondCache);
}

// Asks the memory for rows, a few between two calls of a kernel.
class RowPrefetch {
 public:
  void clear(int dim) {
    rows_.clear();
    next_ = 0;
    dim_ = dim;
  }
  void add(const float* row) { rows_.push_back(row); }
  void ask(std::size_t count) {
    const std::size_t end = next_ + count < rows_.size() ? next_ + count : rows_.size();
    for (; next_ < end; ++next_) prefetch_row(rows_[next_], dim_);
  }
  // What is left will be asked for in `calls` portions, but for the rows that kernels take.
  void spread(int calls, std::size_t taken = 0) {
    const std::size_t left = rows_.size() - next_;
    portion_ = taken < left ? (left - taken) / static_cast<std::size_t>(calls) + 1 : 0;
  }
  void advance() { ask(portion_); }
  // The next `count` rows, for a kernel that asks for them; where there are fewer, `near` serves.
  const float* const* take(int count, const float* near) {
    const std::size_t begin = next_;
    next_ += static_cast<std::size_t>(count);
    if (rows_.size() < next_) rows_.resize(next_, near);
    return rows_.data() + begin;
  }

 private:
  std::vector<const float*> rows_;
  std::size_t next_ = 0, portion_ = 0;
  int dim_ = 0;
};

}  // namespace muse
