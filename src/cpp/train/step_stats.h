// What a step tells of a batch, and a batch under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "math/kernels.h"
#include "model/model.h"
#include "model/options.h"
#include "train/batch.h"
#include "train/sampler.h"

namespace muse {

struct StepStats {
  std::int64_t targets = 0;  // positions that had a collocate
  std::int64_t pairs = 0;
  double reward = 0.0;  // summed over pairs
  double loss = 0.0;    // -log of the sampled likelihood, summed over loss_pairs (a sample of the pairs)
  std::int64_t loss_pairs = 0;
  double entropy = 0.0;  // of pi, in nats, summed over entropy_targets (a sample of the targets with a choice)
  std::int64_t entropy_targets = 0;
  bool diverged = false;  // a score was beyond bounds: nothing was updated from there on
  bool cut = false;       // `abandon` was set: the rest of the batch was left out

  void add(const StepStats& other);
  bool finite() const;
  // A batch's sums rounded so far that adding batches up is exact: then a sum depends neither on the order of the
  // batches nor on how they are shared out among threads and runs, and a resumed run reports what an unbroken one does.
  StepStats rounded() const;
};

// What is the same for all batches of an epoch, and must stay where it is.
struct StepInputs {
  const Model& model;
  const Options& options;
  const NegativeSampler& negatives;
  std::span<const float> context_weights;  // (V,), what the rows of P that a selector sees are multiplied by, or empty
  int epoch;
  int threads = 1;  // of the run
  const Kernels& kernels = muse::kernels();

  bool any_choice() const { return model.num_senses() > model.num_words; }  // some word has more than one sense
};

// One batch under way.
struct BatchRun {
  const Batch& batch;
  float alpha, selection_alpha;
  const std::atomic<bool>* abandon;  // set: the rest is to be left out; may be null
  StepStats stats = {};

  bool go_on() {  // neither diverged nor abandoned
    if (abandon != nullptr && abandon->load(std::memory_order_relaxed)) stats.cut = true;
    return !stats.diverged && !stats.cut;
  }
};

}  // namespace muse
