// The first pass of a step: contexts, scores and senses of a batch's positions, with P and Q as they stand at its
// start.
#pragma once

#include <span>
#include <vector>

#include "math/panel.h"
#include "math/random.h"
#include "senses/window_sums.h"
#include "train/step_stats.h"

namespace muse {

// What was selected, and what it was selected from. A slot is the place of a position among those that have a choice.
struct Selected {
  int first = 0, last = 0;  // the positions looked at: targets and, where collocates' senses matter, those around them

  // By position of the batch.
  std::vector<int> sense;                // local number
  std::vector<int> score_at;             // where its scores begin, -1 without a choice
  std::vector<int> slot;                 // -1 without a choice
  std::vector<float> forward, backward;  // state values; empty but in the factorised formulation

  std::vector<float> scores;  // s_k

  // By slot.
  std::vector<Window> windows;  // in the context stream
  std::vector<float> contexts;  // (slots, S padded) sums or means over them
  std::vector<float> totals;    // the sums of their weights

  // By place of the context stream; empty: all one.
  std::vector<float> weights;

  const Window& window_of(int position) const { return windows[at(slot[at(position)])]; }
  float total_of(int position) const { return totals[at(slot[at(position)])]; }
  float weight(int place) const { return weights.empty() ? 1.0f : weights[at(place)]; }
};

class SelectPass {
 public:
  explicit SelectPass(const StepInputs& inputs);

  void run(BatchRun& run);
  const Selected& selected() const { return selected_; }

  // The rows of U and V of a position's word in its sense.
  float* sense_row(int position) const {
    const std::int32_t word = run_->batch.word[at(position)];
    return inputs_.model.sense.row(inputs_.model.sense_offset[word] + selected_.sense[at(position)]);
  }
  float* collocate_row(int position) const {
    return inputs_.model.collocation_row(run_->batch.word[at(position)], selected_.sense[at(position)]);
  }

 private:
  void clear();
  void choose(int position, const float* scores, int count);
  void find_windows();
  void score_until(int count);
  void score(int position);
  void add_entropy(const float* scores, int count);
  std::span<const float* const> ahead(int position);
  int senses_of(int position) const { return inputs_.model.senses_of(run_->batch.word[at(position)]); }

  const StepInputs inputs_;
  const RandomStream sense_draw_, explore_draw_;
  const bool any_choice_, factorized_;
  const int halo_;  // positions around the targets whose senses matter
  BatchRun* run_ = nullptr;
  Selected selected_;

  WindowSums window_sums_;
  std::vector<const float*> context_rows_;  // of the context stream
  std::vector<int> choices_;                // the position of each slot
  std::vector<const float*> sense_rows_;    // of Q, of one position
  std::vector<float> probabilities_;
  int next_scored_ = 0;
  int next_ahead_ = 0, next_place_ = 0;  // the first position, and place in the context stream, that was not asked for
  std::vector<const float*> ahead_;      // rows to ask the memory for
};

}  // namespace muse
