// What the kernels are given: plain structures of numbers and device pointers, passed by value.
//
// A *slice* is a stretch of the corpus on the device; a *position* is a token of it that subsampling kept; a *wave* is
// a run of batches that are trained at once: senses are selected with P and Q as they stand at its start, groups of
// targets step U and V in parallel, then P and Q take one step with the gradients of all its batches. A wave of one
// batch is the CPU's step with one worker; a wave of n is what n workers do.
#pragma once

#include <cstdint>

#include "math/random.h"
#include "model/equations.h"
#include "model/options.h"

namespace muse::cuda {

// A matrix on the device: rows lie dim numbers apart, a multiple of kRowPad, zeros beyond the model's dimension.
template <typename Number>
struct RowsOf {
  Number* data = nullptr;
  int dim = 0;

  MUSE_HOST_DEVICE Number* row(std::int64_t i) const { return data + i * dim; }
};
using Rows = RowsOf<float>;

// A matrix of floats or of bfloat16; kernels that read it are compiled for both.
struct StoredRows {
  void* data = nullptr;
  int dim = 0;

  template <typename Number>
  MUSE_HOST_DEVICE RowsOf<Number> of() const {
    return {static_cast<Number*>(data), dim};
  }
};

struct DeviceModel {
  Rows context, selection;                     // P, Q; shapes as in model.h
  StoredRows sense, collocation;               // U, V
  Rows forward, backward;                      // null unless factorised
  const std::int64_t* sense_offset = nullptr;  // (V + 1,)
  bool word_collocation = false;

  MUSE_HOST_DEVICE int senses_of(std::int32_t word) const {
    return static_cast<int>(sense_offset[word + 1] - sense_offset[word]);
  }
  MUSE_HOST_DEVICE int collocation_row(std::int32_t word, int sense) const {
    return word_collocation ? word : static_cast<int>(sense_offset[word]) + sense;
  }
};

// The options (options.h) as they are, and what follows from them.
struct Knobs : StepOptions {
  ContextOptions context;
  int group_negatives = 0;  // that a group shares
  bool any_choice = false;  // some word has more than one sense
  int halo = 0;             // positions around the batches whose senses matter
};

struct Draws {
  Draws(std::uint64_t seed, std::uint64_t epoch)
      : subsample(seed, epoch, Purpose::kSubsample),
        window(seed, epoch, Purpose::kWindow),
        sense(seed, epoch, Purpose::kSense),
        explore(seed, epoch, Purpose::kExplore),
        collocate(seed, epoch, Purpose::kCollocate),
        negative(seed, epoch, Purpose::kNegative),
        negative_sense(seed, epoch, Purpose::kNegativeSense),
        round(seed, epoch, Purpose::kRound) {}

  RandomStream subsample, window, sense, explore, collocate, negative, negative_sense, round;
};

// What depends on the corpus's counts alone.
struct Tables {
  const float* keep = nullptr;             // (V,)
  const float* context_weights = nullptr;  // (V,) or null: all one
  const float* distance = nullptr;         // (reach + 1,) or null: all one
  const AliasColumn* alias = nullptr;      // (V,)
  std::uint64_t alias_size = 0;
};

struct BatchPlan {
  int begin, end;  // tokens of the slice
  float alpha, selection_alpha;
};

// Sums of one batch, as in StepStats.
struct BatchStats {
  unsigned long long targets, pairs, loss_pairs, entropy_targets;
  double reward, loss, entropy;
  int diverged;
};

struct Slice {
  const std::int32_t* tokens = nullptr;  // (num_tokens,) word ids
  std::int64_t first_token = 0;          // place of the first in the corpus: what draws are keyed by
  int num_tokens = 0;
  const int* sentences = nullptr;  // (num_sentences + 1,) where sentences begin, and the end
  int num_sentences = 0;
  const BatchPlan* batches = nullptr;  // (num_batches,)
  int num_batches = 0;

  // What scan.cuh makes of it. Arrays marked + have one entry more, the end.
  int* kept_before = nullptr;    // (num_tokens +) positions before a token
  std::int32_t* word = nullptr;  // of a position
  int* token = nullptr;          // its place in the slice
  int* window = nullptr;         // drawn
  int* sentence = nullptr;
  int* sense = nullptr;         // local number, once selected
  int* slot_before = nullptr;   // (positions +) positions with a choice of senses before it
  int* score_before = nullptr;  // (positions +) scores of those
  int* chooser = nullptr;       // (slots,) the position with a choice

  unsigned long long* sense_use = nullptr;  // (Z,)
  BatchStats* stats = nullptr;              // (num_batches,)

  MUSE_HOST_DEVICE std::uint64_t key(int position) const {
    return static_cast<std::uint64_t>(first_token + token[position]);
  }
};

// Per slot (S floats a row) and per score, counted from the wave's first.
struct Wave {
  int first_batch = 0, num_batches = 0;  // of the slice
  float* context = nullptr;              // (slots, S) context sums or means
  float* total = nullptr;                // (slots,) sums of their weights
  float* input_gradient = nullptr;       // (slots, S) d loss / d context
  int* moves = nullptr;                  // (slots,) whether any gradient is not zero
  float* forward = nullptr;              // (slots,) state values and their gradients; null unless factorised
  float* backward = nullptr;
  float* forward_gradient = nullptr;
  float* backward_gradient = nullptr;
  float* scores = nullptr;         // s_k
  float* gradient = nullptr;       // d loss / d s_k
  float* evidence = nullptr;       // ll_k of the posterior update
  float* scratch = nullptr;        // two floats a score
  int* context_moved = nullptr;    // (V,) rows of P that must be brought within max_norm; null without a bound
  int* selection_moved = nullptr;  // (Z,) of Q
  int* state_moved = nullptr;      // (V,) of the state values
};

struct Work {
  Knobs knobs;
  Draws draws;
  DeviceModel model;
  Tables tables;
  Slice slice;
  Wave wave;
};

// What a block of represent_groups or a warp of represent_alone keeps in shared memory, in columns of its score panel:
// collocates, then negatives.
inline int most_columns(const Knobs& k) {
  const std::int64_t pairs = k.collocates == Collocates::kAll ? 2 * static_cast<std::int64_t>(k.window) : 1;
  const std::int64_t grouped =
      (k.collocates == Collocates::kAll ? k.group_size + 2 * static_cast<std::int64_t>(k.window) : k.group_size) +
      k.group_negatives;
  const std::int64_t columns = k.group_size == 1 ? pairs * (1 + k.negative) : grouped;
  return columns < (1 << 28) ? static_cast<int>(columns) : 1 << 28;
}

}  // namespace muse::cuda
