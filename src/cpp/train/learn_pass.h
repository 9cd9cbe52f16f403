// What the representation step teaches the selector: rewards, and the gradients on the scores that follow from them
// (paper, section 3.2); or, as an extension, those of the posterior. Also the sums that a batch reports.
#pragma once

#include <vector>

#include "train/group.h"
#include "train/select_pass.h"

namespace muse {

// Laid out as the scores and state values of Selected.
struct SelectorGradient {
  std::vector<float> scores;             // d loss / d s_k
  std::vector<float> forward, backward;  // d loss / d state value; empty but in the factorised formulation
};

class LearnPass {
 public:
  // `selected` is what the selection pass has found when this begins.
  LearnPass(const StepInputs& inputs, const Selected& selected);

  void begin();
  const SelectorGradient& gradient() const { return gradient_; }

  // Whether the selector learns from the posterior, and add_evidence is to be called for each target.
  bool wants_evidence() const { return posterior_; }
  // `sum` is that of the V rows of a target's collocates, so that each sense's summed score is one dot product.
  void add_evidence(const Batch& batch, int position, const float* sum);

  // Once the group's probabilities are known.
  void learn(const Group& group, BatchRun& run);

 private:
  void learn_from(const Group& group, int t, BatchRun& run);
  float reward_of(const Group& group, int t, int column) const;
  void learn_reward(const Batch& batch, int position, float reward, float weight, const std::vector<float>& state,
                    std::vector<float>& state_gradient);

  const StepInputs inputs_;
  const Selected& selected_;
  const bool posterior_, rewards_count_, two_sided_;
  SelectorGradient gradient_;
  std::vector<float> rewards_;   // of a target's pairs
  std::vector<float> evidence_;  // of a target's senses
  std::vector<float> posterior_scratch_;
};

}  // namespace muse
