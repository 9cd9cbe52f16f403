// The sense selection module: which sense a context means, and how its scores learn (paper, sections 3.1.1, 3.2, 3.3).
//
// For a word i with K senses and a context sum c, s_k = Q_ik · c; the strategies and losses are in equations.h.
#pragma once

#include <cstdint>
#include <memory>
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

// Questions about words in contexts: words[i] at position positions[i] of context i; -1: it is not in the context, all
// of which counts.
struct Questions {
  Contexts contexts;
  std::span<const std::int64_t> positions;
  std::span<const std::int32_t> words;

  std::int64_t length(std::size_t i) const { return contexts.offsets[i + 1] - contexts.offsets[i]; }
  // Whether nothing known stands around the word, so that the prior answers.
  bool alone(std::size_t i) const { return has_no_context(length(i), positions[i] >= 0); }
};

// These throw std::invalid_argument where what is given does not fit together: a selector, and contexts of `num_words`
// words.
void check_selector(const Model& model, std::span<const std::int64_t> sense_offset, const SelectionOptions& options,
                    std::span<const float> weights);
void check_contexts(const Contexts& contexts, std::int64_t num_words);

/// What selects senses; the memory belongs to somebody else.
struct SelectorParts {
  Model model;  // P, Q and sense_offset
  SelectionOptions options;
  std::span<const float> weights;  // of context words, (V,) or empty
  float temperature = 1.0f;
  std::span<const float> prior = {};  // (Z,) shares, for words without context; empty: these are scored like others
};

// What scores the senses of words that are asked about; one thread's work and memory.
class Scorer {
 public:
  virtual ~Scorer() = default;
  // Scores of all senses of the words of questions [first, last), one word after another.
  virtual void score(const Questions& asked, std::int64_t first, std::int64_t last, float* scores) = 0;
};

// One by the products of P and Q. `parts.weights` (V,) multiply each word's row of P: with keep probabilities the
// selector sees in full text what it saw in subsampled text. A word that is not in its context is added to it.
std::unique_ptr<Scorer> make_scorer(const SelectorParts& parts);

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
