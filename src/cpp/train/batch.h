// A batch: the tokens of a stretch of the corpus that survive subsampling, with the random decisions that do not
// depend on the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/equations.h"
#include "model/options.h"
#include "text/corpus.h"

namespace muse {

// Positions are kept tokens in corpus order. Those in [first_target, last_target) are the batch's own; the others are a
// halo that completes their windows where the batch begins or ends inside a sentence.
struct Batch {
  std::vector<std::int32_t> word;
  std::vector<std::int64_t> token;  // place in the text: the key of a position's random draws
  std::vector<int> sentence_begin;  // first position of the position's sentence
  std::vector<int> sentence_end;    // one past its last position
  std::vector<int> window;          // the drawn window of a position
  int first_target = 0;
  int last_target = 0;

  // The stream that the selector reads: the positions themselves, or every token of the stretch (selection.full_text).
  std::vector<std::int32_t> context_word;
  std::vector<int> context_at;     // place of a position in that stream
  std::vector<int> context_begin;  // the part of the stream that a position's window may reach: [begin, end)
  std::vector<int> context_end;

  int size() const { return static_cast<int>(word.size()); }
  // Collocates of a position lie in [low, high], the position itself excluded.
  int collocates_low(int i) const;
  int collocates_high(int i) const;
};

// Where batches begin: at sentences, about `batch_tokens` tokens apart; longer sentences are cut, never truncated.
// Returns n + 1 token numbers for n batches.
std::vector<std::int64_t> batch_boundaries(std::span<const std::int64_t> sentence_offsets, std::int64_t batch_tokens);

// Fills batches of one epoch; one a thread.
class BatchBuilder {
 public:
  // `first_token`: the place of the corpus in the text that it is a part of; draws are keyed by places in that text.
  BatchBuilder(const Corpus& corpus, std::span<const float> keep, const Options& options, int epoch,
               std::int64_t first_token = 0);

  // Tokens [begin, end) of the corpus become the targets of `batch`.
  void build(std::int64_t begin, std::int64_t end, Batch& batch) const;

  // Tokens [first, last) among which lies all that the targets [begin, end) look at: themselves and the halo.
  struct Stretch {
    std::int64_t first;
    std::int64_t last;
  };
  Stretch stretch(std::int64_t begin, std::int64_t end) const;

 private:
  void find_sentences(Batch& batch) const;
  void read_contexts(Batch& batch) const;
  bool kept(std::int64_t token) const;

  std::span<const std::int32_t> tokens_;
  std::span<const std::int64_t> offsets_;
  std::span<const float> keep_;
  const Options& options_;
  std::int64_t first_token_;
  RandomStream subsample_;
  RandomStream window_;
};

}  // namespace muse
