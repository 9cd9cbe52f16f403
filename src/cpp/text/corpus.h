// A finished corpus: flat int32 word ids with sentence offsets, ready for any number of passes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace muse {

/// Sentence `i` is `tokens()[offsets()[i] .. offsets()[i + 1])`. Immutable, cheap to copy, safe to share between
/// threads.
///
/// `CorpusEncoder::finish` makes one from text and never leaves an empty sentence in it. The ids may live in memory or
/// in a memory-mapped temporary file; readers cannot tell the difference.
class Corpus {
 public:
  Corpus();

  /// From ready-made arrays. Throws std::invalid_argument unless the offsets start at 0, never decrease and end at
  /// `tokens.size()`, and no token is negative. What the vectors hold counts as the raw corpus too.
  Corpus(std::vector<std::int32_t> tokens, std::vector<std::int64_t> offsets);

  /// Over memory that `owner` keeps alive. The raw numbers are those before any word was dropped.
  Corpus(std::shared_ptr<const void> owner, std::span<const std::int32_t> tokens, std::span<const std::int64_t> offsets,
         std::int64_t raw_tokens, std::int64_t raw_sentences, bool spilled);

  /// Throws std::invalid_argument if an id is not below `num_words`.
  void check_words(std::int64_t num_words) const;

  std::span<const std::int32_t> tokens() const { return tokens_; }    // (n_tokens,)
  std::span<const std::int64_t> offsets() const { return offsets_; }  // (n_sentences + 1,)

  std::int64_t n_tokens() const { return static_cast<std::int64_t>(tokens_.size()); }
  std::int64_t n_sentences() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t raw_tokens() const { return raw_tokens_; }
  std::int64_t raw_sentences() const { return raw_sentences_; }
  bool spilled() const { return spilled_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::int32_t> tokens_;
  std::span<const std::int64_t> offsets_;
  std::int64_t raw_tokens_ = 0;
  std::int64_t raw_sentences_ = 0;
  bool spilled_ = false;
};

}  // namespace muse
