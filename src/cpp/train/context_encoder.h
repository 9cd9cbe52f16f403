// The encoder (extension; docs/algorithm.md): the context of a token from the words around it and where they stand.
//
//   h_t = Σ_{p in -W..W, p != 0} A_p ∘ x_{t + p},   x_j = weight(w_j) I[w_j]
//
// with a vector of weights A_p for each position. It learns to tell the token w_t from negatives by h_t · O[w_t]. Of
// the words around, the frequent ones learn from some of their tokens, each of which stands for others.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "model/model.h"
#include "text/corpus.h"

namespace muse {

struct EncoderOptions {
  int window = 10;               // W, >= 1
  float alpha = 0.025f;          // learning rate of word vectors at the start; falls to a thousandth
  float position_alpha = 0.05f;  // of A, by AdaGrad
  int negative = 5;              // negatives a target
  int group = 16;                // targets that share negatives
  int shared = 8;                // negatives that a group draws; each stands for negative / shared of them
  int block_tokens = 256;        // tokens whose targets read the parameters as they stand, and then move them at once
  std::int64_t max_tokens = 0;   // of the text that is read, spread over all of it; 0: all
  bool learn_words = true;       // whether I learns, or A and O alone
  std::uint64_t seed = 1;
};

// What is trained, in place. Rows are padded.
struct EncoderModel {
  Matrix words;      // (V, De) weight(w) I[w]
  Matrix outputs;    // (V, De) O
  Matrix positions;  // (2 W + 1, De) A, that of position 0 zeros
};

struct EncoderStats {
  std::int64_t targets = 0;
  double loss = 0.0;  // summed over the targets of the last tenth of the text that was read
  std::int64_t loss_targets = 0;
};

// One epoch. `weights` (V,) are those that words have in contexts, `keep` (V,) the probability that a token is a
// target, and that its word learns where it is around one, `counts` (V,) those that negatives are drawn by. The calling
// thread calls poll(tokens read) between blocks; an exception from there ends the work and is thrown on. With one
// worker the result depends on nothing but the arguments.
EncoderStats train_encoder(const EncoderModel& model, const Corpus& corpus, std::span<const float> weights,
                           std::span<const float> keep, std::span<const std::int64_t> counts,
                           const EncoderOptions& options, int workers, const std::function<void(std::int64_t)>& poll);

}  // namespace muse
