#include "train/learn_pass.h"

#include "math/panel.h"
#include "model/equations.h"

namespace muse {

namespace {

// The skip-gram loss (eq. 4) of a group's pairs.
void add_loss(const Group& group, StepStats& stats) {
  for (std::size_t c = 0; c < group.labels.size(); ++c) {
    if (group.weights[c] == 0.0f) continue;
    stats.loss += skip_gram_loss(group.labels[c], group.weights[c], group.dots[c]);
  }
  for (const Target& t : group.plan.targets) stats.loss_pairs += t.pairs;
}

}  // namespace

LearnPass::LearnPass(const StepInputs& inputs, const Selected& selected)
    : inputs_(inputs),
      selected_(selected),
      posterior_(inputs.any_choice() && inputs.options.selection_update == SelectionUpdate::kPosterior),
      rewards_count_(inputs.any_choice() && inputs.options.selection_update == SelectionUpdate::kPaper),
      two_sided_(inputs.options.formulation != Formulation::kOneSided) {}

void LearnPass::begin() {
  gradient_.scores.assign(selected_.scores.size(), 0.0f);
  gradient_.forward.assign(selected_.forward.size(), 0.0f);
  gradient_.backward.assign(selected_.backward.size(), 0.0f);
}

void LearnPass::add_evidence(const Batch& batch, int position, const float* sum) {
  const Model& model = inputs_.model;
  const std::int32_t word = batch.word[at(position)];
  const int count = model.senses_of(word);
  if (count == 1) return;
  const auto scores_at = at(selected_.score_at[at(position)]);
  const float* s = selected_.scores.data() + scores_at;
  evidence_.clear();
  for (int k = 0; k < count; ++k) {
    const float* row = model.sense.row(model.sense_offset[word] + k);
    evidence_.push_back(inputs_.options.posterior_weight * inputs_.kernels.dot(row, sum, model.sense.padded_dim()));
  }
  reserve(posterior_scratch_, 2 * count);
  posterior_gradient(s, evidence_.data(), count, posterior_scratch_.data(), gradient_.scores.data() + scores_at);
}

void LearnPass::learn(const Group& group, BatchRun& run) {
  for (int t = 0; t < group.targets(); ++t) learn_from(group, t, run);
  if (group.plan.token % 16 == 0) add_loss(group, run.stats);
}

// Rewards of a target's pairs, and what they teach.
void LearnPass::learn_from(const Group& group, int t, BatchRun& run) {
  const Target& target = group.plan.targets[at(t)];
  rewards_.clear();
  for (int c = target.first; c < target.last; ++c) {
    if (c == target.self) continue;
    const float r =
        rewards_count_ ? reward_of(group, t, c) : group.probabilities[at(t) * group.column_rows.size() + at(c)];
    run.stats.reward += r;
    rewards_.push_back(r);
  }
  ++run.stats.targets;
  run.stats.pairs += target.pairs;
  if (!rewards_count_) return;
  const float weight = learning_weight(inputs_.options.formulation, target.pairs);
  std::size_t pair = 0;
  for (int c = target.first; c < target.last; ++c) {
    if (c == target.self) continue;
    const float reward = rewards_[pair++];
    learn_reward(run.batch, target.position, reward, weight, selected_.forward, gradient_.forward);
    if (two_sided_)
      learn_reward(run.batch, group.plan.column_position[at(c)], reward, weight, selected_.backward,
                   gradient_.backward);
  }
}

float LearnPass::reward_of(const Group& group, int t, int column) const {
  const std::int64_t row = std::int64_t{t} * group.columns();
  if (inputs_.options.reward == Reward::kLikelihood) return group.probabilities[at(row + column)];
  const Target& target = group.plan.targets[at(t)];
  const float* dots = group.dots.data() + row;
  const float* weights = group.weights.data() + row;
  int begin = group.collocate_columns, end = group.columns();
  float share = 1.0f / static_cast<float>(target.pairs);  // shared negatives carry the weight of all the target's pairs
  if (inputs_.options.group_size == 1) {
    const int pair = column - target.first - (target.self >= 0 && column > target.self ? 1 : 0);
    begin += pair * inputs_.options.negative;
    end = begin + inputs_.options.negative;
    share = 1.0f;
  }
  return sampled_likelihood(
      dots[column], begin, end, [&](int c) { return dots[c]; }, [&](int c) { return share * weights[c]; });
}

// One side of a pair: the gradients on its position's scores and, factorised, state value.
void LearnPass::learn_reward(const Batch& batch, int position, float reward, float weight,
                             const std::vector<float>& state, std::vector<float>& state_gradient) {
  const int count = inputs_.model.senses_of(batch.word[at(position)]);
  if (count == 1) return;
  const int where = selected_.score_at[at(position)];
  float* gradient = gradient_.scores.data() + where;
  const float value = state.empty() ? 0.0f : state[at(position)];
  const float g = learn_pair(inputs_.options, selected_.scores.data() + where, count, selected_.sense[at(position)],
                             value, reward, weight, [&](int k, float d) { gradient[k] += d; });
  if (!state_gradient.empty()) state_gradient[at(position)] += g;
}

}  // namespace muse
