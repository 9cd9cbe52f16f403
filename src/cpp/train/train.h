// Training: epochs over a corpus in batches, on several threads.
//
// Hogwild. Threads share the model's matrices without locks and add to rows that another thread may be reading or
// writing at the same moment; an update may be lost or seen in part. That is deliberate (Recht et al., 2011): updates
// are sparse and small, and the noise is below that of the sampling. These races are confined to rows of P, Q, U, V
// (and the factorised formulation's state values), touched only through Kernels::gather, scatter_add, score_rows,
// blend, combine_add, step_rows, dot, axpy and add_row in the passes of a step (*_pass.cpp, represent_*.cpp,
// target_rows.cpp, group_products.cpp) and senses/window_sums.cpp, and UpdatePass::cap and RowCopies::merge.
//
// Without sharing of negatives (group_size 1) the rows of V that all threads update most have copies, a set a thread
// (row_copies.h). What a thread adds to a copy is handed in after 32 updates on average with two threads, after 4 with
// sixteen and more, and at the end of the run: until then the others read the row without it, as they do without copies
// for as long as a line takes from core to core. An addition to a model's row may be lost when two threads hand in at
// the same moment, as above.
//
// Nothing else is shared without an atomic. With one worker there are no races and a run gives the same bytes each
// time; with more, each token's random decisions are still the same, and only the order of float additions differs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "model/model.h"
#include "model/options.h"
#include "text/corpus.h"
#include "train/sampler.h"
#include "train/step.h"
#include "train/stretch.h"

namespace muse {

struct RunStats {
  StepStats step;
  std::int64_t tokens = 0;              // of the corpus, before subsampling
  std::int64_t next_batch = 0;          // first batch that was not run
  bool stopped = false;                 // `tick` asked to stop
  bool diverged = false;                // scores were beyond bounds: training stopped before they did harm
  std::vector<std::int64_t> sense_use;  // (Z,) how often each sense was selected for a target
};

// What the caller of a run wants next.
enum class Tick {
  kGoOn,
  kFinishBatches,  // stop when the batches under way are done: the run can be resumed exactly
  kStopNow,        // the same, but cut short what is not done in kPatience (RunStats::step.cut says whether any was)
};
inline constexpr std::chrono::milliseconds kPatience{500};

class Trainer {
 public:
  // The model's rows must be padded to kRowPad. `word_counts` (V,) drive subsampling (threshold `sample`) and
  // negatives (exponent `ns_exponent`); `context_weights` (V,) or empty, what the selector multiplies rows of P by.
  // Throws std::invalid_argument when shapes or options do not fit.
  Trainer(const Model& model, Corpus corpus, std::vector<std::int64_t> word_counts, const Options& options,
          double sample, double ns_exponent, std::vector<float> context_weights);

  // From now on the corpus is this part of a longer text, of which a stretch is trained. Throws std::invalid_argument
  // for a stretch that is none of it, or unknown words; the trainer is as before then. Throws std::logic_error while it
  // runs.
  void place(const Corpus& corpus, const Stretch& stretch);

  std::int64_t num_batches() const { return static_cast<std::int64_t>(boundaries_.size()) - 1; }

  // Runs batches [first, last) of an epoch on `workers` threads while the calling thread calls tick(tokens done so far)
  // about ten times a second, which says whether to go on.
  RunStats run(int epoch, std::int64_t first, std::int64_t last, int workers,
               const std::function<Tick(std::int64_t)>& tick);

  // Learning rate of U and V at a batch: linear in the tokens done of all epochs (or in the progress that a stretch
  // says), so that it does not depend on threads.
  float alpha_at(int epoch, std::int64_t batch) const;
  // That of P and Q decays with it.
  float selection_alpha_at(int epoch, std::int64_t batch) const;

  // What training consists of, checked; for the other backend (src/cuda/), which runs it elsewhere.
  const Model& model() const { return model_; }
  const Corpus& corpus() const { return corpus_; }
  const Options& options() const { return options_; }
  std::span<const float> keep() const { return keep_; }                        // (V,)
  std::span<const float> context_weights() const { return context_weights_; }  // (V,) or empty
  const NegativeSampler& negatives() const { return negatives_; }
  std::span<const std::int64_t> boundaries() const { return boundaries_; }  // of the batches, in tokens

 private:
  struct Crew;
  void work(int epoch, Crew& crew) const;
  bool watch(Crew& crew, int epoch, int workers, const std::function<Tick(std::int64_t)>& tick,
             std::vector<std::thread>& pool) const;

  Model model_;
  Corpus corpus_;
  Options options_;
  std::vector<std::int64_t> word_counts_;
  std::vector<float> keep_, context_weights_;
  NegativeSampler negatives_;
  std::vector<std::int64_t> boundaries_;
  Stretch stretch_;
  std::atomic<int> runs_{0};  // under way
};

}  // namespace muse
