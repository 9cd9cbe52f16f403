// What is drawn from word counts: which tokens are kept, which words serve as negatives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/equations.h"

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
  std::int32_t draw(std::uint64_t bits) const { return draw_word(table_.data(), table_.size(), bits); }

  std::span<const AliasColumn> table() const { return table_; }

 private:
  std::vector<AliasColumn> table_;
};

}  // namespace muse
