// One batch of training: select senses with P and Q as they stand, step U and V inside the batch, then step P and Q
// once for the whole batch (paper, section 4.1, and algorithm 1).
//
// U and V move by groups of consecutive targets. Within a group everything is computed from the values at its start:
//   scores (T, C) = A Bᵀ, A the targets' rows of U, B the rows of V of their collocates and negatives;
//   E = alpha * (label - weight * sigmoid(scores));   U += E B;   V += Eᵀ A.
// With group_size 1 a group is one target with negatives of its own, which is word2vec's step; larger groups share
// their negatives, each weighted so that the expected loss is the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "math/random.h"
#include "model/model.h"
#include "model/options.h"
#include "senses/selection.h"
#include "senses/window_sums.h"
#include "train/batch.h"
#include "train/group.h"
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

class Step {
 public:
  // `sense_use` (Z,) counts the senses of targets; threads share it.
  // `context_weights` (V,) multiply the rows of P that a selector sees; empty: all one.
  Step(const Model& model, const Options& options, const NegativeSampler& negatives,
       std::span<const float> context_weights, int epoch, std::int64_t* sense_use,
       const std::atomic<bool>* abandon = nullptr);

  StepStats run(const Batch& batch, float alpha, float selection_alpha);

 private:
  // Selection at the batch's start.
  void select();
  void read_contexts();
  void score_until(int count);
  void score_position(int i);
  std::span<const float* const> ahead(int position);
  ContextStream stream() const {
    return {context_rows_.data(), stream_weights_.empty() ? nullptr : stream_weights_.data()};
  }

  // The representation step.
  void plan_group(int first, GroupPlan& plan) const;
  void add_collocates(int first, int last, GroupPlan& plan) const;
  void add_negatives(GroupPlan& plan) const;
  void represent_group();
  void represent_together();
  void represent_alone();
  void weigh_rows();
  bool score_rows_from(int first);
  void fill_errors_from(int first);
  void step_rows_from(int first);
  void foresee();
  void fill_labels();
  bool fill_errors();
  void choose_targets();
  void sum_collocates();
  void step_targets();
  float* sense_row(int position) const {
    const std::int32_t word = batch_->word[static_cast<std::size_t>(position)];
    return model_.sense.row(model_.sense_offset[word] + sense_[static_cast<std::size_t>(position)]);
  }
  float* collocate_row(int position) const {
    return model_.collocation_row(batch_->word[static_cast<std::size_t>(position)],
                                  sense_[static_cast<std::size_t>(position)]);
  }
  void learn();
  void learn_from(int t);
  float reward_of(int t, int column) const;
  void sample_loss();

  // The selection step.
  void step_selection();
  void find_moved();
  template <typename Use>
  void for_each_gradient(int i, const Use& use) const;
  void step_senses(float rate);
  void step_contexts(float rate);
  void add_input_gradient(int i, float scale);
  // The next row to ask the memory for; where there is none, `near` serves.
  const float* next_row(const float* near) { return *prefetch_.take(1, near); }
  void slide_contexts(float rate);
  void cap_moved();
  void cap(float* row, int dim) const;

  void count_used();
  bool go_on();  // neither diverged nor abandoned
  int senses_of(int i) const { return model_.senses_of(batch_->word[static_cast<std::size_t>(i)]); }

  const Model& model_;
  const Options& options_;
  const NegativeSampler& negatives_;
  std::span<const float> context_weights_;
  const Kernels& kernels_;
  std::int64_t* sense_use_;
  const std::atomic<bool>* abandon_;
  RandomStream sense_draw_, explore_draw_, collocate_draw_, negative_draw_, negative_sense_draw_;
  bool any_choice_;  // some word has more than one sense
  bool score_halo_;  // collocates' senses matter

  const Batch* batch_ = nullptr;
  float alpha_ = 0.0f, selection_alpha_ = 0.0f;
  StepStats stats_;
  std::vector<std::int64_t> used_;  // senses of the batch's targets

  // Per position of the batch.
  int scored_first_ = 0, scored_last_ = 0;
  int next_scored_ = 0;
  int next_ahead_ = 0, next_place_ = 0;  // the first position, and place in the context stream, that was not asked for
  std::vector<int> sense_;               // local number
  std::vector<int> score_at_;            // where a position's scores begin, -1 without a choice
  std::vector<int> choices_;             // positions with a choice
  std::vector<int> slot_;                // of a position with a choice among (choices), else -1
  std::vector<float> context_;           // (choices, S padded) context sums or means
  WindowSums window_sums_;
  std::vector<Window> windows_;            // (choices,) in the context stream
  std::vector<float> totals_;              // (choices,) sums of their weights
  std::vector<float> scores_, gradient_;   // s_k and d loss / d s_k
  std::vector<float> forward_, backward_;  // factorised: state values of positions
  std::vector<float> forward_gradient_, backward_gradient_;
  std::vector<const float*> ahead_;           // rows to ask the memory for
  std::vector<const float*> context_rows_;    // of the context stream
  std::vector<const float*> selection_rows_;  // of the senses of a position
  std::vector<float> stream_weights_;
  std::vector<int> moved_;      // positions that have something for the selector to learn
  std::vector<char> reached_;   // places of the context stream in windows that move
  std::vector<float> running_;  // (S padded) the sum of d loss / d context over the windows that are open
  std::vector<int> border_heads_, border_next_;

  // Per group.
  GroupPlan plan_, next_plan_;
  GroupProducts products_;
  UniqueRows unique_;
  RowPrefetch prefetch_;
  std::vector<float*> target_rows_, column_rows_;
  int collocate_columns_ = 0;
  std::vector<float> a_, b_, delta_, labels_, weights_, dots_, probabilities_, errors_, evidence_, scratch_, rewards_;
  struct RowCells {
    const float *labels, *weights;
    float *dots, *probabilities, *errors;
  } rows_ = {};  // of unique rows: these, or those of the columns
  std::vector<float> row_dots_, row_labels_, row_weights_, row_probabilities_, row_errors_;
};

}  // namespace muse
