// Senses by the contexts of uses (use_context.h): what selects the senses that a cut of sense trees gives.
//
// For a word with the rows Q_k of its senses, s_k = Q_k · context + bias_k; the probabilities are the softmax of these
// over the temperature.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/model.h"
#include "senses/selection.h"
#include "senses/use_context.h"

namespace muse {

// Q (Z, S) with the senses of each word, over the space that their contexts are in.
struct UseSelector {
  const UseSpace& space;
  Matrix selection;                            // Q
  const std::int64_t* sense_offset = nullptr;  // (V + 1,)
  std::span<const float> bias;                 // (Z,) added to scores, or empty
  float temperature = 1.0f;
  std::span<const float> prior = {};  // (Z,) shares, for words that stand alone; empty: these are scored like others

  int senses_of(std::int32_t word) const { return static_cast<int>(sense_offset[word + 1] - sense_offset[word]); }
};

// Contexts of the words at positions[i] of contexts i, rows of `stride` floats (see UseContexts); -1: all of it counts.
void use_vectors(const UseSpace& space, const Contexts& contexts, std::span<const std::int64_t> positions, int workers,
                 float* out);

// A scorer by the contexts of uses (see use_vectors).
std::unique_ptr<Scorer> make_scorer(const UseSelector& selector);

// The best sense of every token, on `workers` threads. Contexts are made for words with several senses only.
void select_uses(const UseSelector& selector, const Contexts& contexts, int workers, const Choices& choices);

// What the encoder and other windows give for uses in a corpus, before whitening: rows of De floats, and of padded
// `matrix.dim` floats. Either may be null.
void raw_contexts(const UseSpace& space, const Corpus& corpus, std::span<const std::int64_t> places, int workers,
                  float* encoded, float* topics);

}  // namespace muse
