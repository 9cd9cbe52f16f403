#include "train/select_pass.h"

#include <algorithm>
#include <cmath>

#include "model/equations.h"

namespace muse {

namespace {

constexpr int kAhead = 16;  // positions whose rows are on their way

}  // namespace

SelectPass::SelectPass(const StepInputs& inputs)
    : inputs_(inputs),
      sense_draw_(inputs.options.seed, at(inputs.epoch), Purpose::kSense),
      explore_draw_(inputs.options.seed, at(inputs.epoch), Purpose::kExplore),
      any_choice_(inputs.any_choice()),
      factorized_(inputs.options.formulation == Formulation::kFactorized),
      halo_(!inputs.model.word_collocation() || inputs.options.formulation != Formulation::kOneSided
                ? inputs.options.window
                : 0),
      window_sums_(inputs.kernels, inputs.options.selection, inputs.model.context.padded_dim()) {}

void SelectPass::run(BatchRun& run) {
  run_ = &run;
  clear();
  if (!any_choice_) return;
  find_windows();
  // Each context is scored while it is near.
  next_scored_ = next_ahead_ = selected_.first;
  next_place_ = 0;
  const std::vector<float>& weights = selected_.weights;
  window_sums_.run(
      {context_rows_.data(), weights.empty() ? nullptr : weights.data()}, selected_.windows, selected_.contexts.data(),
      selected_.totals.data(), [this](std::size_t count) { score_until(static_cast<int>(count)); },
      [this](std::size_t count) { return ahead(choices_[count - 1]); });
}

void SelectPass::clear() {
  const Batch& batch = run_->batch;
  const int n = batch.size();
  selected_.first = std::max(0, batch.first_target - halo_);
  selected_.last = std::min(n, batch.last_target + halo_);
  selected_.sense.assign(at(n), 0);
  selected_.score_at.assign(at(n), -1);
  selected_.slot.assign(at(n), -1);
  selected_.forward.assign(factorized_ ? at(n) : 0, 0.0f);
  selected_.backward.assign(factorized_ ? at(n) : 0, 0.0f);
  selected_.scores.clear();
  selected_.windows.clear();
  selected_.weights.clear();
  context_rows_.clear();
  choices_.clear();
}

// The context stream and, for each position with a choice, what its selector sees of it.
void SelectPass::find_windows() {
  const Batch& batch = run_->batch;
  const Options& options = inputs_.options;
  for (const std::int32_t word : batch.context_word) {
    context_rows_.push_back(inputs_.model.context.row(word));
    if (!inputs_.context_weights.empty()) selected_.weights.push_back(inputs_.context_weights[at(word)]);
  }
  for (int i = selected_.first; i < selected_.last; ++i) {
    if (senses_of(i) == 1) continue;
    selected_.slot[at(i)] = static_cast<int>(selected_.windows.size());
    choices_.push_back(i);
    const int reach = options.shrink_selection ? batch.window[at(i)] : options.selection.window;
    const int centre = batch.context_at[at(i)];
    selected_.windows.push_back({std::max(batch.context_begin[at(i)], centre - reach),
                                 std::min(batch.context_end[at(i)] - 1, centre + reach), centre});
  }
  const auto slots = static_cast<std::int64_t>(selected_.windows.size());
  reserve(selected_.contexts, slots * inputs_.model.context.padded_dim());
  reserve(selected_.totals, slots);
}

// Scores the positions whose contexts are among the first `count`.
void SelectPass::score_until(int count) {
  for (; next_scored_ < selected_.last && selected_.slot[at(next_scored_)] < count && run_->go_on(); ++next_scored_) {
    if (selected_.slot[at(next_scored_)] >= 0) score(next_scored_);
  }
}

// Rows of P and Q that positions some way behind this one need.
std::span<const float* const> SelectPass::ahead(int position) {
  const Model& model = inputs_.model;
  ahead_.clear();
  for (const int last = std::min(position + kAhead, selected_.last); next_ahead_ < last; ++next_ahead_) {
    if (selected_.slot[at(next_ahead_)] < 0) continue;
    const Window& window = selected_.window_of(next_ahead_);
    for (next_place_ = std::max(next_place_, window.low); next_place_ <= window.high; ++next_place_)
      ahead_.push_back(context_rows_[at(next_place_)]);
    const std::int64_t first = model.sense_offset[run_->batch.word[at(next_ahead_)]];
    for (int k = 0; k < senses_of(next_ahead_); ++k) ahead_.push_back(model.selection.row(first + k));
  }
  return ahead_;
}

void SelectPass::score(int i) {
  const Model& model = inputs_.model;
  const int count = senses_of(i);
  const std::int32_t word = run_->batch.word[at(i)];
  const int dim = model.context.padded_dim();
  const float* context = panel_row(selected_.contexts, selected_.slot[at(i)], dim);
  sense_rows_.clear();
  for (int k = 0; k < count; ++k) sense_rows_.push_back(model.selection.row(model.sense_offset[word] + k));
  selected_.score_at[at(i)] = static_cast<int>(selected_.scores.size());
  selected_.scores.resize(selected_.scores.size() + at(count));
  float* s = selected_.scores.data() + selected_.score_at[at(i)];
  inputs_.kernels.score_rows(context, sense_rows_.data(), count, dim, s);
  if (!all_within(s, count, kLargestScore)) {
    run_->stats.diverged = true;
    return;
  }
  choose(i, s, count);
  if (factorized_) {
    selected_.forward[at(i)] = inputs_.kernels.dot(model.forward.row(word), context, dim);
    selected_.backward[at(i)] = inputs_.kernels.dot(model.backward.row(word), context, dim);
  }
  const bool target = i >= run_->batch.first_target && i < run_->batch.last_target;
  if (target && run_->batch.token[at(i)] % 8 == 0) add_entropy(s, count);
}

void SelectPass::choose(int position, const float* scores, int count) {
  const auto token = static_cast<std::uint64_t>(run_->batch.token[at(position)]);
  selected_.sense[at(position)] =
      choose_sense(inputs_.options, scores, count, explore_draw_.uniform(token), sense_draw_.uniform(token));
}

void SelectPass::add_entropy(const float* scores, int count) {
  reserve(probabilities_, count);
  softmax(scores, count, 1.0f, probabilities_.data());
  for (int k = 0; k < count; ++k)
    if (const float p = probabilities_[at(k)]; p > 0.0f) run_->stats.entropy -= p * std::log(p);
  ++run_->stats.entropy_targets;
}

}  // namespace muse
