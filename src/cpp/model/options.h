// Every knob of the trainer: default, range, meaning. Python's defaults live in python/muse/data/ (recipes.py and
// settings.py); these are the paper's (Lee & Chen, 2017) where the paper names a value. Everything marked "extension"
// is beyond the paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "math/host_device.h"

namespace muse {

enum class Strategy { kGreedy, kEpsGreedy, kBoltzmann, kPolicy, kSmoothPolicy };
enum class Formulation { kOneSided, kTwoSided, kFactorized };
enum class Reward { kLikelihood, kSampledLikelihood };
enum class Collocates { kOne, kAll };
enum class SelectionUpdate { kPaper, kPosterior, kNone };

MUSE_HOST_DEVICE inline bool is_policy(Strategy s) { return s == Strategy::kPolicy || s == Strategy::kSmoothPolicy; }

// What of a context counts; the same in training and in use. All but `window` are extensions. Plain numbers, which the
// kernels of src/cuda/ read as they are.
struct ContextOptions {
  int window = 5;          // positions on each side of the word that the selector sees, >= 1
  bool mean = false;       // weighted average of the window instead of its sum
  bool full_text = false;  // in training the window counts every token, not only those that subsampling kept:
                           // the selector then sees in training exactly what it sees in use
};

// How a context becomes sense scores.
struct SelectionOptions : ContextOptions {
  std::vector<float> distance;  // weight of a context word by its distance 0..window (0: the word itself); empty: all 1

  float distance_weight(int d) const { return distance.empty() ? 1.0f : distance[static_cast<std::size_t>(d)]; }

  // Whether windows of up to `reach` positions can be read.
  bool fits(int reach) const {
    return reach >= 1 && reach <= kLongestWindow &&
           (distance.empty() || distance.size() > static_cast<std::size_t>(reach));
  }
  static constexpr int kLongestWindow = 1 << 20;
};

// The trainer's options but for the context; plain numbers, too.
struct StepOptions {
  Strategy strategy = Strategy::kEpsGreedy;
  Formulation formulation = Formulation::kOneSided;
  Reward reward = Reward::kLikelihood;
  Collocates collocates = Collocates::kOne;
  SelectionUpdate selection_update = SelectionUpdate::kPaper;  // kPosterior, kNone: extensions

  int window = 5;                // m: collocates lie within m kept positions
  bool shrink_windows = true;    // window of a target drawn uniformly from 1..m, as word2vec does
  bool shrink_selection = true;  // the drawn window limits the selection context too (authors' code)

  int negative = 25;   // negatives a pair, >= 0
  int group_size = 1;  // extension: consecutive targets that share negatives; 1 = every pair draws its own

  // Negatives drawn for a group of targets. One stands for negative / shared_negatives() of each pair: kept small, or
  // small vocabularies diverge. As many as targets, times negative / 5 beyond five; a target with one pair meets no
  // more than it would draw alone, where those are more than the targets.
  MUSE_HOST_DEVICE int shared_negatives() const {
    if (negative == 0) return 0;
    if (collocates == Collocates::kOne) return negative > group_size ? negative : group_size;
    return negative <= 5 ? group_size : (group_size * negative + 4) / 5;
  }

  float alpha = 0.025f;            // learning rate of U and V at the start
  float min_alpha = 0.025f;        // and at the end; linear in between
  float selection_alpha = 0.025f;  // learning rate of P and Q at the start; decays with alpha
  bool selection_mean = true;      // P, Q step on the mean loss of the batch (authors' code) or on its sum
  float epsilon = 0.05f;
  float temperature = 1.0f;          // of the softmax that boltzmann and policy sample from
  std::int64_t batch_tokens = 2048;  // tokens of the corpus (before subsampling) a batch

  float posterior_weight = 1.0f;      // extension: weight of the window's log-likelihood ratio in the posterior
  bool train_context_vectors = true;  // extension when false: P stays as it is
  float sibling_share = 0.0f;         // extension: this part of a sense's U update also goes to the word's other senses
  float max_norm = 0.0f;              // extension: cap on the length of a row of P and Q; 0 = none

  std::uint64_t seed = 1;
  int epochs = 5;  // of the whole schedule, for the learning rate
};

struct Options : StepOptions {
  SelectionOptions selection;
};

}  // namespace muse
