// Contexts of many uses at once (use_context.h), which are made in the order of the text: there windows overlap, and
// what one sentence needs the next one needs too. They are kept in 16 bits a number.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "senses/use_context.h"
#include "text/corpus.h"

namespace muse {

class UseRows {
 public:
  // `space` and `corpus` must stay where they are.
  UseRows(const UseSpace& space, const Corpus& corpus);

  static std::int64_t row_bytes(const UseSpace& space);

  // Makes the contexts of all uses of some words, `uses` being the places of each. The calling thread calls poll(uses
  // done) often; an exception from there ends the work and is thrown on.
  void compute(std::span<const std::span<const std::int64_t>> uses, int workers,
               const std::function<void(std::int64_t)>& poll);

  // Copies rows of so many uses, counted through all words, with the stride of UseContexts.
  void read(std::int64_t first, std::int64_t count, float* out) const;
  // What UseContexts::compute says of the lengths of rows.
  const float* scales(std::int64_t first) const { return scales_.data() + first; }

 private:
  struct Item {
    std::int32_t place;  // within its block of the text
    std::int32_t row;
  };
  class Maker;

  void reserve_rows();
  void sort(std::span<const std::span<const std::int64_t>> uses);

  const UseSpace& space_;
  const Corpus& corpus_;
  int stride_;
  std::unique_ptr<std::int16_t[], void (*)(void*)> rows_;
  std::size_t capacity_ = 0;  // numbers in rows_
  std::vector<float> scales_;
  std::vector<Item> items_;           // of all blocks
  std::vector<std::int64_t> blocks_;  // where each block's begin
};

}  // namespace muse
