#include "text/corpus.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace muse {
namespace {

struct OwnedArrays {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
};

void check_arrays(const OwnedArrays& arrays) {
  const auto& offsets = arrays.offsets;
  const auto n_tokens = static_cast<std::int64_t>(arrays.tokens.size());
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != n_tokens) {
    throw std::invalid_argument("sentence offsets must start at 0 and end at the number of tokens, " +
                                std::to_string(n_tokens));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      throw std::invalid_argument("sentence offsets must never decrease, but offsets[" + std::to_string(i) +
                                  "] = " + std::to_string(offsets[i]) + " after " + std::to_string(offsets[i - 1]));
    }
  }
  for (std::size_t i = 0; i < arrays.tokens.size(); ++i) {
    if (arrays.tokens[i] < 0) {
      throw std::invalid_argument("word ids must not be negative, but tokens[" + std::to_string(i) +
                                  "] = " + std::to_string(arrays.tokens[i]));
    }
  }
}

}  // namespace

Corpus::Corpus() : Corpus({}, std::vector<std::int64_t>{0}) {}

Corpus::Corpus(std::vector<std::int32_t> tokens, std::vector<std::int64_t> offsets) {
  auto arrays = std::make_shared<OwnedArrays>(OwnedArrays{std::move(tokens), std::move(offsets)});
  check_arrays(*arrays);
  tokens_ = arrays->tokens;
  offsets_ = arrays->offsets;
  raw_tokens_ = n_tokens();
  raw_sentences_ = n_sentences();
  owner_ = std::move(arrays);
}

Corpus::Corpus(std::shared_ptr<const void> owner, std::span<const std::int32_t> tokens,
               std::span<const std::int64_t> offsets, std::int64_t raw_tokens, std::int64_t raw_sentences, bool spilled)
    : owner_(std::move(owner)),
      tokens_(tokens),
      offsets_(offsets),
      raw_tokens_(raw_tokens),
      raw_sentences_(raw_sentences),
      spilled_(spilled) {}

void Corpus::check_words(std::int64_t num_words) const {
  for (const std::int32_t token : tokens_)
    if (token >= num_words) throw std::invalid_argument("the corpus has a word id beyond the vocabulary");
}

}  // namespace muse
