#include "train/step.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "math/panel.h"

namespace muse {

namespace {

constexpr int kAhead = 16;  // positions whose rows are on their way

}  // namespace

void StepStats::add(const StepStats& other) {
  targets += other.targets;
  pairs += other.pairs;
  reward += other.reward;
  loss += other.loss;
  loss_pairs += other.loss_pairs;
  entropy += other.entropy;
  entropy_targets += other.entropy_targets;
  diverged = diverged || other.diverged;
  cut = cut || other.cut;
}

StepStats StepStats::rounded() const {
  constexpr double kUnit = 1.0 / 65536;
  StepStats result = *this;
  for (double* sum : {&result.reward, &result.loss, &result.entropy}) *sum = std::nearbyint(*sum / kUnit) * kUnit;
  return result;
}

bool StepStats::finite() const {
  return !diverged && std::isfinite(reward) && std::isfinite(loss) && std::isfinite(entropy);
}

Step::Step(const Model& model, const Options& options, const NegativeSampler& negatives,
           std::span<const float> context_weights, int epoch, std::int64_t* sense_use, const std::atomic<bool>* abandon)
    : model_(model),
      options_(options),
      negatives_(negatives),
      context_weights_(context_weights),
      kernels_(kernels()),
      sense_use_(sense_use),
      abandon_(abandon),
      sense_draw_(options.seed, at(epoch), Purpose::kSense),
      explore_draw_(options.seed, at(epoch), Purpose::kExplore),
      collocate_draw_(options.seed, at(epoch), Purpose::kCollocate),
      negative_draw_(options.seed, at(epoch), Purpose::kNegative),
      negative_sense_draw_(options.seed, at(epoch), Purpose::kNegativeSense),
      any_choice_(model.num_senses() > model.num_words),
      score_halo_(!model.word_collocation() || options.formulation != Formulation::kOneSided),
      window_sums_(kernels_, options.selection, model.context.padded_dim()) {}

StepStats Step::run(const Batch& batch, float alpha, float selection_alpha) {
  batch_ = &batch;
  alpha_ = alpha;
  selection_alpha_ = selection_alpha;
  stats_ = StepStats{};
  select();
  // A group's plan does not depend on the model, so the next one is at hand while this one is computed, and its rows
  // can be on their way.
  plan_group(batch.first_target, plan_);
  for (int first = batch.first_target; first < batch.last_target && go_on(); first += options_.group_size) {
    plan_group(first + options_.group_size, next_plan_);
    represent_group();
    std::swap(plan_, next_plan_);
  }
  if (go_on() && any_choice_ && options_.selection_update != SelectionUpdate::kNone) step_selection();
  count_used();
  return stats_;
}

// Once a batch: an atomic addition waits for everything that was written before it.
void Step::count_used() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (i + kAhead < used_.size()) __builtin_prefetch(sense_use_ + used_[i + kAhead], 1);
    std::atomic_ref(sense_use_[used_[i]]).fetch_add(1, std::memory_order_relaxed);
  }
  used_.clear();
}

bool Step::go_on() {
  if (abandon_ != nullptr && abandon_->load(std::memory_order_relaxed)) stats_.cut = true;
  return !stats_.diverged && !stats_.cut;
}

// --- selection ---

void Step::select() {
  const Batch& batch = *batch_;
  const int n = batch.size();
  const int halo = score_halo_ ? options_.window : 0;
  scored_first_ = std::max(0, batch.first_target - halo);
  scored_last_ = std::min(n, batch.last_target + halo);
  sense_.assign(at(n), 0);
  score_at_.assign(at(n), -1);
  if (!any_choice_) return;

  const bool factorized = options_.formulation == Formulation::kFactorized;
  forward_.assign(factorized ? at(n) : 0, 0.0f);
  backward_.assign(factorized ? at(n) : 0, 0.0f);
  scores_.clear();
  next_scored_ = scored_first_;
  read_contexts();
  gradient_.assign(scores_.size(), 0.0f);
  forward_gradient_.assign(forward_.size(), 0.0f);
  backward_gradient_.assign(backward_.size(), 0.0f);
}

void Step::read_contexts() {
  const Batch& batch = *batch_;
  context_rows_.clear();
  stream_weights_.clear();
  for (const std::int32_t word : batch.context_word) {
    context_rows_.push_back(model_.context.row(word));
    if (!context_weights_.empty()) stream_weights_.push_back(context_weights_[at(word)]);
  }
  windows_.clear();
  choices_.clear();
  slot_.assign(at(batch.size()), -1);
  for (int i = scored_first_; i < scored_last_; ++i) {
    if (senses_of(i) == 1) continue;
    slot_[at(i)] = static_cast<int>(windows_.size());
    choices_.push_back(i);
    const int reach = options_.shrink_selection ? batch.window[at(i)] : options_.selection.window;
    const int centre = batch.context_at[at(i)];
    windows_.push_back({std::max(batch.context_begin[at(i)], centre - reach),
                        std::min(batch.context_end[at(i)] - 1, centre + reach), centre});
  }
  reserve(context_, static_cast<std::int64_t>(windows_.size()) * model_.context.padded_dim());
  reserve(totals_, static_cast<std::int64_t>(windows_.size()));
  // Each context is scored while it is near.
  next_ahead_ = scored_first_;
  next_place_ = 0;
  window_sums_.run(
      stream(), windows_, context_.data(), totals_.data(),
      [this](std::size_t count) { score_until(static_cast<int>(count)); },
      [&](std::size_t count) { return ahead(choices_[count - 1]); });
}

// Scores the positions whose contexts are among the first `count`.
void Step::score_until(int count) {
  for (; next_scored_ < scored_last_ && slot_[at(next_scored_)] < count && go_on(); ++next_scored_) {
    score_position(next_scored_);
  }
}

// Rows of P and Q that positions some way behind this one need.
std::span<const float* const> Step::ahead(int position) {
  ahead_.clear();
  for (const int last = std::min(position + kAhead, scored_last_); next_ahead_ < last; ++next_ahead_) {
    if (slot_[at(next_ahead_)] < 0) continue;
    const Window& window = windows_[at(slot_[at(next_ahead_)])];
    for (next_place_ = std::max(next_place_, window.low); next_place_ <= window.high; ++next_place_)
      ahead_.push_back(context_rows_[at(next_place_)]);
    const std::int64_t first = model_.sense_offset[batch_->word[at(next_ahead_)]];
    for (int k = 0; k < senses_of(next_ahead_); ++k) ahead_.push_back(model_.selection.row(first + k));
  }
  return ahead_;
}

void Step::score_position(int i) {
  if (slot_[at(i)] < 0) return;
  const int count = senses_of(i);
  const std::int32_t word = batch_->word[at(i)];
  const int dim = model_.context.padded_dim();
  const float* context = context_.data() + static_cast<std::int64_t>(slot_[at(i)]) * dim;
  score_at_[at(i)] = static_cast<int>(scores_.size());
  selection_rows_.clear();
  for (int k = 0; k < count; ++k) selection_rows_.push_back(model_.selection.row(model_.sense_offset[word] + k));
  scores_.resize(scores_.size() + at(count));
  float* s = scores_.data() + score_at_[at(i)];
  kernels_.score_rows(context, selection_rows_.data(), count, dim, s);
  if (!all_within(s, count, kLargestScore)) {
    stats_.diverged = true;
    return;
  }
  const auto token = static_cast<std::uint64_t>(batch_->token[at(i)]);
  sense_[at(i)] = choose_sense(options_, s, count, explore_draw_.uniform(token), sense_draw_.uniform(token));
  if (options_.formulation == Formulation::kFactorized) {
    forward_[at(i)] = kernels_.dot(model_.forward.row(word), context, dim);
    backward_[at(i)] = kernels_.dot(model_.backward.row(word), context, dim);
  }
  if (token % 8 == 0 && i >= batch_->first_target && i < batch_->last_target) {
    reserve(scratch_, 2 * count);
    softmax(s, count, 1.0f, scratch_.data());
    for (int k = 0; k < count; ++k)
      if (scratch_[at(k)] > 0.0f) stats_.entropy -= scratch_[at(k)] * std::log(scratch_[at(k)]);
    ++stats_.entropy_targets;
  }
}

// --- the representation step ---

// The group that begins at position `first`: empty where the batch ends or no target has a collocate.
void Step::plan_group(int first, GroupPlan& plan) const {
  plan.clear();
  const int last = std::min(batch_->last_target, first + options_.group_size);
  if (first >= last) return;
  plan.token = batch_->token[at(first)];
  add_collocates(first, last, plan);
  if (!plan.targets.empty()) add_negatives(plan);
}

// Targets of the group and the columns that hold their collocates.
void Step::add_collocates(int first, int last, GroupPlan& plan) const {
  const Batch& batch = *batch_;
  const bool all = options_.collocates == Collocates::kAll;
  int base = batch.size(), top = -1;
  for (int i = first; i < last; ++i) {
    const int low = batch.collocates_low(i), high = batch.collocates_high(i);
    if (high == low) continue;
    if (all) {
      base = std::min(base, low);
      top = std::max(top, high);
      plan.targets.push_back({i, low, high + 1, i, high - low});
    } else {
      const auto token = static_cast<std::uint64_t>(batch.token[at(i)]);
      const int column = static_cast<int>(plan.column_position.size());
      plan.column_position.push_back(draw_collocate(collocate_draw_, token, low, high, i));
      plan.targets.push_back({i, column, column + 1, -1, 1});
    }
  }
  if (!all) return;
  for (Target& t : plan.targets) {
    t.first -= base;
    t.last -= base;
    t.self -= base;
  }
  for (int p = base; p <= top; ++p) plan.column_position.push_back(p);
}

void Step::add_negatives(GroupPlan& plan) const {
  const bool shared = options_.group_size > 1;
  const int count = shared ? options_.shared_negatives() : plan.targets.front().pairs * options_.negative;
  const auto key = static_cast<std::uint64_t>(batch_->token[at(plan.targets.front().position)]);
  const bool words = model_.word_collocation();
  const RandomStream draw = negative_draw_, sense_draw = negative_sense_draw_;  // copies: nothing else can change them
  plan.negative_words.resize(at(count));
  plan.negative_rows.resize(at(count));
  for (int n = 0; n < count; ++n) {
    const std::int32_t word = negatives_.draw(draw.bits(key, at(n)));
    plan.negative_words[at(n)] = word;
    __builtin_prefetch(model_.sense_offset + word);
  }
  for (int n = 0; n < count; ++n) {
    const std::int32_t word = plan.negative_words[at(n)];
    const int senses = words ? 1 : model_.senses_of(word);
    plan.negative_rows[at(n)] = model_.collocation_row(word, draw_negative_sense(sense_draw, senses, key, at(n)));
  }
}

// Rows that the next group will read, as far as can be known now.
void Step::foresee() {
  prefetch_.clear(model_.sense.padded_dim());
  for (const int position : next_plan_.column_position) prefetch_.add(collocate_row(position));
  for (const Target& target : next_plan_.targets) prefetch_.add(sense_row(target.position));
  for (const float* row : next_plan_.negative_rows) prefetch_.add(row);
}

void Step::represent_group() {
  if (plan_.targets.empty()) return;
  column_rows_.clear();
  for (const int position : plan_.column_position) column_rows_.push_back(collocate_row(position));
  collocate_columns_ = static_cast<int>(column_rows_.size());
  column_rows_.insert(column_rows_.end(), plan_.negative_rows.begin(), plan_.negative_rows.end());
  fill_labels();
  const auto cells = static_cast<std::int64_t>(plan_.targets.size() * column_rows_.size());
  for (std::vector<float>* of_cells : {&dots_, &probabilities_, &errors_}) reserve(*of_cells, padded(cells + kRowPad));
  options_.group_size > 1 ? represent_together() : represent_alone();
}

// A group's targets share their negatives: the step is three matrix products.
void Step::represent_together() {
  const int targets = static_cast<int>(plan_.targets.size());
  const int columns = static_cast<int>(column_rows_.size());
  const int dim = model_.sense.padded_dim();
  reserve(a_, static_cast<std::int64_t>(targets) * dim);
  reserve(b_, static_cast<std::int64_t>(columns) * dim);
  reserve(delta_, static_cast<std::int64_t>(targets) * dim);
  products_.lay_out(plan_.targets, collocate_columns_, columns, dim);
  foresee();
  prefetch_.spread(products_.calls());

  kernels_.gather(column_rows_.data(), columns, dim, b_.data());
  choose_targets();
  kernels_.gather(target_rows_.data(), targets, dim, a_.data());
  products_.scores(kernels_, a_.data(), b_.data(), dots_.data(), prefetch_);
  if (!fill_errors()) return;
  products_.combine_targets(kernels_, errors_.data(), b_.data(), delta_.data());
  step_targets();
  products_.step_columns(kernels_, errors_.data(), a_.data(), column_rows_.data(), prefetch_);
}

// Probabilities and errors of all cells, and what the selector learns from them; false where training has diverged.
bool Step::fill_errors() {
  const int targets = static_cast<int>(plan_.targets.size());
  const int cells = targets * static_cast<int>(column_rows_.size());
  if (!all_within(dots_.data(), cells, kLargestDot)) {
    stats_.diverged = true;
    return false;
  }
  kernels_.sigmoid(dots_.data(), cells, probabilities_.data());
  int overshot = 0;  // only pairs count: other cells hold what an earlier group left there
  for (int c = 0; c < cells; ++c) overshot += weights_[at(c)] != 0.0f && std::fabs(dots_[at(c)]) > kSteadyDot;
  const float alpha = group_alpha(alpha_, overshot == 0, targets);
  for (int c = 0; c < cells; ++c)
    errors_[at(c)] = skip_gram_error(alpha, labels_[at(c)], weights_[at(c)], probabilities_[at(c)]);
  learn();
  return true;
}

// The rows of U move by delta_, and those of the word's other senses by a share of it.
void Step::step_targets() {
  const int targets = static_cast<int>(plan_.targets.size());
  const int dim = model_.sense.padded_dim();
  kernels_.scatter_add(target_rows_.data(), targets, dim, delta_.data(), 1.0f);
  if (options_.sibling_share <= 0.0f) return;
  for (int t = 0; t < targets; ++t) {
    const int i = plan_.targets[at(t)].position;
    const std::int64_t begin = model_.sense_offset[batch_->word[at(i)]];
    for (int k = 0; k < senses_of(i); ++k)
      if (k != sense_[at(i)])
        kernels_.axpy(options_.sibling_share, panel_row(delta_, t, dim), model_.sense.row(begin + k), dim);
  }
}

// label is 1 at a target's collocates; weight is what multiplies sigmoid: 1 at collocates, and at a negative the number
// of pairs that it stands for. A pair's own negative that is the collocate itself does not count, as in word2vec.
void Step::fill_labels() {
  const int columns = static_cast<int>(column_rows_.size());
  const int negatives = columns - collocate_columns_;
  const auto cells = at(static_cast<std::int64_t>(plan_.targets.size()) * columns);
  labels_.assign(cells, 0.0f);
  weights_.assign(cells, 0.0f);
  for (std::size_t t = 0; t < plan_.targets.size(); ++t) {
    const Target& target = plan_.targets[t];
    float* labels = labels_.data() + t * at(columns);
    float* weights = weights_.data() + t * at(columns);
    int pair = 0;
    for (int c = target.first; c < target.last; ++c) {
      if (c == target.self) continue;
      labels[c] = weights[c] = 1.0f;
      if (options_.group_size > 1) continue;
      for (int n = 0; n < options_.negative; ++n) {
        const int column = collocate_columns_ + pair * options_.negative + n;
        weights[column] = column_rows_[at(column)] == column_rows_[at(c)] ? 0.0f : 1.0f;
      }
      ++pair;
    }
    if (options_.group_size > 1 && negatives > 0) {
      const float weight = static_cast<float>(target.pairs * options_.negative) / static_cast<float>(negatives);
      std::fill(weights + collocate_columns_, weights + columns, weight);
    }
  }
}

// The rows of U that the targets train: those of the senses selected at the batch's start.
void Step::choose_targets() {
  const bool posterior = any_choice_ && options_.selection_update == SelectionUpdate::kPosterior;
  const int dim = model_.sense.padded_dim();
  const auto targets = plan_.targets.size();
  if (posterior) {
    sum_collocates();
    evidence_.clear();
  }
  target_rows_.resize(targets);
  for (std::size_t t = 0; t < targets; ++t) {
    const int i = plan_.targets[t].position;
    const std::int32_t word = batch_->word[at(i)];
    const std::int64_t begin = model_.sense_offset[word];
    const int count = senses_of(i);
    if (posterior && count > 1) {
      const float* sum = delta_.data() + t * at(dim);
      const auto first = evidence_.size();
      for (int k = 0; k < count; ++k)
        evidence_.push_back(options_.posterior_weight * kernels_.dot(model_.sense.row(begin + k), sum, dim));
      const float* s = scores_.data() + score_at_[at(i)];
      reserve(scratch_, 2 * count);
      posterior_gradient(s, evidence_.data() + first, count, scratch_.data(), gradient_.data() + score_at_[at(i)]);
    }
    const std::int64_t sense = begin + sense_[at(i)];
    target_rows_[t] = model_.sense.row(sense);
    used_.push_back(sense);
  }
}

// Rows of delta_: the sum of each target's collocates' V, so that each sense's summed score is one dot product.
void Step::sum_collocates() {
  const int dim = model_.sense.padded_dim();
  if (options_.group_size > 1) {
    products_.sum_collocates(kernels_, labels_.data(), b_.data(), delta_.data());
    return;
  }
  const Target& target = plan_.targets.front();
  std::fill_n(delta_.begin(), dim, 0.0f);
  for (int c = target.first; c < target.last; ++c)
    if (c != target.self) kernels_.axpy(1.0f, column_rows_[at(c)], delta_.data(), dim);
}

float Step::reward_of(int t, int column) const {
  const int columns = static_cast<int>(column_rows_.size());
  const float* p = probabilities_.data() + static_cast<std::int64_t>(t) * columns;
  if (options_.reward == Reward::kLikelihood) return p[column];
  const Target& target = plan_.targets[at(t)];
  const float* dots = dots_.data() + static_cast<std::int64_t>(t) * columns;
  const float* weights = weights_.data() + static_cast<std::int64_t>(t) * columns;
  int begin = collocate_columns_, end = columns;
  float share = 1.0f / static_cast<float>(target.pairs);  // shared negatives carry the weight of all the target's pairs
  if (options_.group_size == 1) {
    const int pair = column - target.first - (target.self >= 0 && column > target.self ? 1 : 0);
    begin += pair * options_.negative;
    end = begin + options_.negative;
    share = 1.0f;
  }
  return sampled_likelihood(
      dots[column], begin, end, [&](int c) { return dots[c]; }, [&](int c) { return share * weights[c]; });
}

// What a group's probabilities teach the selector, and a sample of the loss.
void Step::learn() {
  for (std::size_t t = 0; t < plan_.targets.size(); ++t) learn_from(static_cast<int>(t));
  if (plan_.token % 16 == 0) sample_loss();
}

// Rewards of a target's pairs, and the gradients on the scores that follow from them.
void Step::learn_from(int t) {
  const Target& target = plan_.targets[at(t)];
  rewards_.clear();
  const bool learns = any_choice_ && options_.selection_update == SelectionUpdate::kPaper;
  for (int c = target.first; c < target.last; ++c) {
    if (c == target.self) continue;
    const float r = learns ? reward_of(t, c) : probabilities_[at(t) * column_rows_.size() + at(c)];
    stats_.reward += r;
    rewards_.push_back(r);
  }
  ++stats_.targets;
  stats_.pairs += target.pairs;
  if (!learns) return;

  const bool two_sided = options_.formulation != Formulation::kOneSided;
  const float weight = learning_weight(options_.formulation, target.pairs);
  const auto learn = [&](int position, float reward, const std::vector<float>& state,
                         std::vector<float>& state_gradient) {
    const int count = senses_of(position);
    if (count == 1) return;
    const int where = score_at_[at(position)];
    float* gradient = gradient_.data() + where;
    const float value = state.empty() ? 0.0f : state[at(position)];
    const float g = learn_pair(options_, scores_.data() + where, count, sense_[at(position)], value, reward, weight,
                               [&](int k, float d) { gradient[k] += d; });
    if (!state_gradient.empty()) state_gradient[at(position)] += g;
  };
  std::size_t pair = 0;
  for (int c = target.first; c < target.last; ++c) {
    if (c == target.self) continue;
    const float reward = rewards_[pair++];
    learn(target.position, reward, forward_, forward_gradient_);
    if (two_sided) learn(plan_.column_position[at(c)], reward, backward_, backward_gradient_);
  }
}

// The skip-gram loss (eq. 4) of this group's pairs.
void Step::sample_loss() {
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    if (weights_[c] == 0.0f) continue;
    stats_.loss += skip_gram_loss(labels_[c], weights_[c], dots_[c]);
  }
  for (const Target& t : plan_.targets) stats_.loss_pairs += t.pairs;
}

}  // namespace muse
