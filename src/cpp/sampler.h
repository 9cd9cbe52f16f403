// What is drawn from word counts: which tokens are kept, which words serve as negatives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "random.h"

namespace muse {

// Probability that subsampling keeps a token of each word: sqrt(t / f) + t / f, at most 1 (word2vec's formula);
// `sample` t <= 0 keeps everything.
std::vector<float> keep_probabilities(std::span<const std::int64_t> counts, double sample);

// Draws words in proportion to count^exponent in constant time without branches on the distribution (alias method).
class NegativeSampler {
 public:
  // Throws std::invalid_argument when no count is positive.
  NegativeSampler(std::span<const std::int64_t> counts, double exponent);

  // Words are numbers below 2^32; `bits` are 64 random bits.
  std::int32_t draw(std::uint64_t bits) const {
    const auto column = static_cast<std::uint32_t>(((bits >> 32) * table_.size()) >> 32);
    const Column& c = table_[column];
    return static_cast<std::uint32_t>(bits) < c.threshold ? static_cast<std::int32_t>(column) : c.alias;
  }

 private:
  struct Column {
    std::uint32_t threshold;  // of 2^32: keep the column's own word below it
    std::int32_t alias;
  };
  std::vector<Column> table_;
};

}  // namespace muse
