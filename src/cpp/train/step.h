// One batch of training: select senses with P and Q as they stand, step U and V inside the batch, then step P and Q
// once for the whole batch (paper, section 4.1, and algorithm 1). What is computed for one token stands in
// model/equations.h; here is the order of events:
//
//   SelectPass     contexts c_t, scores s_k = Q_k · c_t and, by the strategy, a sense for each position;
//   RepresentPass  U and V, group by group, and in each group
//   LearnPass        what the selector learns, d loss / d s_k: from the rewards that the group's probabilities give
//                    (SelectionUpdate::kPaper: learn_pair), or from the posterior (kPosterior: posterior_gradient);
//   UpdatePass     P and Q by those gradients: P first, whose gradient reads the old Q; rows no longer than max_norm.
//
// In a group (together): evidence for the posterior, from the rows of U and V as they stand; scores; probabilities and
// errors E; rewards; U steps; V steps. Alone, with group_size 1, V steps column by column before the rewards are read,
// and U after them.
//
// U and V move by groups of consecutive targets. Within a group everything is computed from the values at its start:
//   scores (T, C) = A Bᵀ, A the targets' rows of U, B the rows of V of their collocates and negatives;
//   E = alpha * (label - weight * sigmoid(scores));   U += E B;   V += Eᵀ A.
// With group_size 1 a group is one target with negatives of its own, which is word2vec's step (represent_alone.cpp);
// larger groups share their negatives, each weighted so that the expected loss is the same (represent_together.cpp).
//
// Each pass owns its scratch memory; what it leaves for the next ones is a struct in its header.
#pragma once

#include <atomic>
#include <cstdint>

#include "train/learn_pass.h"
#include "train/represent_pass.h"
#include "train/select_pass.h"
#include "train/step_stats.h"
#include "train/update_pass.h"

namespace muse {

// One thread's work and memory.
class Step {
 public:
  // `sense_use` (Z,) counts the senses of targets; threads share it.
  Step(const StepInputs& inputs, std::int64_t* sense_use, const std::atomic<bool>* abandon = nullptr);
  Step(const Step&) = delete;

  StepStats run(const Batch& batch, float alpha, float selection_alpha);

 private:
  const std::atomic<bool>* abandon_;
  bool updates_;  // P and Q
  SelectPass select_;
  LearnPass learn_;
  RepresentPass represent_;
  UpdatePass update_;
};

}  // namespace muse
