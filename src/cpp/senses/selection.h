// The sense selection module: which sense a context means, and how its scores learn (paper, sections 3.1.1, 3.2, 3.3).
//
// For a word i with K senses and a context sum c, s_k = Q_ik · c; the strategies and losses are in equations.h.
#pragma once

#include <cstdint>
#include <span>

#include "math/kernels.h"
#include "model/equations.h"
#include "model/model.h"
#include "model/options.h"

namespace muse {

// --- use of a trained selector ---

// Words in context: tokens of all contexts in one stream, context i being tokens[offsets[i], offsets[i + 1]).
struct Contexts {
  std::span<const std::int32_t> tokens;
  std::span<const std::int64_t> offsets;
};

// These throw std::invalid_argument where what is given does not fit together: a selector, contexts of `num_words`
// words, and questions about words in contexts. The last one returns how many scores answer them.
void check_selector(const Model& model, std::span<const std::int64_t> sense_offset, const SelectionOptions& options,
                    std::span<const float> weights);
void check_contexts(const Contexts& contexts, std::int64_t num_words);
std::int64_t count_scores(const Model& model, const Contexts& contexts, std::span<const std::int64_t> positions,
                          std::span<const std::int32_t> words);

/// What selects senses; the memory belongs to somebody else.
struct SelectorParts {
  Model model;  // P, Q and sense_offset
  SelectionOptions options;
  std::span<const float> weights;  // of context words, (V,) or empty
  float temperature = 1.0f;
  std::span<const float> prior = {};  // (Z,) shares, for words without context; empty: these are scored like others
};

// Scores of each senses of words[i] at position positions[i] of context i, written one word after another to `scores`;
// position -1: the word is not in the context, all of which counts, and so does the word itself. Where there is no
// context, alone[i] is 1, and the prior counts in place of the scores.
// `weights` (V,) multiply each word's row of P: with keep probabilities the selector sees in full text what it saw in
// subsampled text.
void sense_scores(const Model& model, const SelectionOptions& options, std::span<const float> weights,
                  const Contexts& contexts, std::span<const std::int64_t> positions,
                  std::span<const std::int32_t> words, int workers, float* scores, std::uint8_t* alone);

// What is selected for every token, in arrays of as many; `probability` and `margin` may be null.
struct Choices {
  std::int32_t* sense;           // local number; ties go to the lowest: use must not be random
  float* probability = nullptr;  // under pi
  float* margin = nullptr;       // by which it is more probable than the next best sense; 1 where there is no other
};

// The best sense of every token, on `workers` threads.
void select_senses(const SelectorParts& parts, const Contexts& contexts, int workers, const Choices& choices);

// A device that does the same, with a model that it holds.
class DeviceSelector {
 public:
  virtual ~DeviceSelector() = default;
  virtual void select(const Contexts& contexts, const Choices& choices) const = 0;
};

}  // namespace muse
