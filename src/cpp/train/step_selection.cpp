// The last part of a step: P and Q move once a batch, by the gradients on the scores.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "math/panel.h"
#include "train/step.h"

namespace muse {

namespace {

constexpr std::size_t kAhead = 8;  // positions whose rows are on their way

}  // namespace

// Keeps a row of P or Q within max_norm: the product of the two can otherwise grow without bound and without a NaN.
void Step::cap(float* row, int dim) const {
  const float scale = cap_scale(kernels_.dot(row, row, dim), options_.max_norm);
  if (scale == 1.0f) return;
  for (int d = 0; d < dim; ++d) row[d] *= scale;
}

// Every row that the batch has moved, once its step is whole: so the order within the batch does not matter.
void Step::cap_moved() {
  const int dim = model_.context.padded_dim();
  reached_.assign(options_.train_context_vectors ? batch_->context_word.size() : 0, 0);
  for (const int i : moved_) {
    const std::int32_t word = batch_->word[at(i)];
    for (int k = 0; k < senses_of(i); ++k) cap(model_.selection.row(model_.sense_offset[word] + k), dim);
    if (options_.formulation == Formulation::kFactorized) {
      cap(model_.forward.row(word), dim);
      cap(model_.backward.row(word), dim);
    }
    const Window& window = windows_[at(slot_[at(i)])];
    if (!reached_.empty()) std::fill(reached_.begin() + window.low, reached_.begin() + window.high + 1, char{1});
  }
  for (std::size_t j = 0; j < reached_.size(); ++j)
    if (reached_[j]) cap(model_.context.row(batch_->context_word[j]), dim);
}

// The positions that have something for the selector to learn.
void Step::find_moved() {
  moved_.clear();
  for (int i = scored_first_; i < scored_last_; ++i) {
    if (score_at_[at(i)] < 0) continue;
    const float* g = gradient_.data() + score_at_[at(i)];
    bool any = options_.formulation == Formulation::kFactorized &&
               (forward_gradient_[at(i)] != 0.0f || backward_gradient_[at(i)] != 0.0f);
    for (int k = 0; k < senses_of(i); ++k) any = any || g[k] != 0.0f;
    if (any) moved_.push_back(i);
  }
}

// Calls use(gradient, row) for each row of Q, or of state values, whose score with a position's context has a gradient.
template <typename Use>
void Step::for_each_gradient(int i, const Use& use) const {
  const std::int32_t word = batch_->word[at(i)];
  for (int k = 0; k < senses_of(i); ++k)
    if (const float g = gradient_[at(score_at_[at(i)] + k)]; g != 0.0f)
      use(g, model_.selection.row(model_.sense_offset[word] + k));
  if (options_.formulation != Formulation::kFactorized) return;
  use(forward_gradient_[at(i)], model_.forward.row(word));
  use(backward_gradient_[at(i)], model_.backward.row(word));
}

// P's gradient reads Q, and Q's the contexts that were summed at the batch's start: so P moves first.
void Step::step_selection() {
  if (stats_.targets == 0) return;
  const float rate = selection_alpha_ / (options_.selection_mean ? static_cast<float>(stats_.targets) : 1.0f);
  find_moved();
  prefetch_.clear(model_.context.padded_dim());
  if (options_.train_context_vectors) step_contexts(rate);
  step_senses(rate);
  if (options_.max_norm > 0.0f) cap_moved();
}

void Step::step_senses(float rate) {
  const int dim = model_.context.padded_dim();
  const auto context_of = [&](std::size_t m) { return panel_row(context_, slot_[at(moved_[m])], dim); };
  for (std::size_t m = 0; m < moved_.size() && go_on(); ++m) {
    if (const auto ahead = m + kAhead; ahead < moved_.size()) {
      prefetch_.add(context_of(ahead));
      for_each_gradient(moved_[ahead], [&](float, const float* row) { prefetch_.add(row); });
    }
    prefetch_.ask(1);  // one more than the kernel asks for
    for_each_gradient(
        moved_[m], [&](float g, float* row) { kernels_.add_row(-rate * g, context_of(m), row, next_row(row), dim); });
  }
}

// P moves by each window's gradient on every row that the window counts.
void Step::step_contexts(float rate) {
  // Without distances all that a token receives is one sum, which slides along the stream.
  if (options_.selection.distance.empty()) {
    slide_contexts(rate);
    return;
  }
  const int dim = model_.context.padded_dim();
  reserve(running_, dim);
  for (const int i : moved_) {
    const Window& window = windows_[at(slot_[at(i)])];
    const float total = options_.selection.mean ? totals_[at(slot_[at(i)])] : 1.0f;
    if (total <= 0.0f) continue;
    std::fill_n(running_.begin(), dim, 0.0f);
    add_input_gradient(i, 1.0f);
    for (int j = window.low; j <= window.high; ++j) {
      const float weight = stream().weight(j) * options_.selection.distance_weight(std::abs(j - window.centre));
      float* p = model_.context.row(batch_->context_word[at(j)]);
      kernels_.axpy(-rate * weight / total, running_.data(), p, dim);
    }
  }
}

// running_ += scale * d loss / d context of a position.
void Step::add_input_gradient(int i, float scale) {
  const int dim = model_.context.padded_dim();
  for_each_gradient(
      i, [&](float g, const float* row) { kernels_.add_row(scale * g, row, running_.data(), next_row(row), dim); });
}

// A window's gradient enters the running sum where the window begins and leaves it behind its end: two additions a
// window and one a token, however wide the windows are.
void Step::slide_contexts(float rate) {
  const int dim = model_.context.padded_dim();
  const auto places = batch_->context_word.size();
  border_heads_.assign(2 * places + 2,
                       -1);  // positions whose windows begin at a place, and end before it: linked lists
  border_next_.resize(2 * at(batch_->size()));
  const auto link = [&](std::size_t list, std::size_t entry) {
    border_next_[entry] = border_heads_[list];
    border_heads_[list] = static_cast<int>(entry);
  };
  for (auto i = moved_.rbegin(); i != moved_.rend(); ++i) {
    const auto slot = at(slot_[at(*i)]);
    if (options_.selection.mean && totals_[slot] <= 0.0f) continue;
    link(2 * at(windows_[slot].low), 2 * at(*i));
    link(2 * at(windows_[slot].high + 1) + 1, 2 * at(*i) + 1);
  }
  const auto for_each_border = [&](std::size_t list, const auto& use) {
    for (int entry = border_heads_[list]; entry >= 0; entry = border_next_[at(entry)]) use(entry / 2);
  };
  const auto scale = [&](int i) { return options_.selection.mean ? 1.0f / totals_[at(slot_[at(i)])] : 1.0f; };
  reserve(running_, dim);
  int open = 0;
  for (std::size_t j = 0; j < places; ++j) {
    for_each_border(2 * j + 1, [&](int i) { --open, add_input_gradient(i, -scale(i)); });
    if (open == 0) std::fill_n(running_.begin(), dim, 0.0f);  // nothing of what was rounded stays behind
    for_each_border(2 * j, [&](int i) { ++open, add_input_gradient(i, scale(i)); });
    if (const auto ahead = j + kAhead; ahead < places) {
      prefetch_.add(model_.context.row(batch_->context_word[ahead]));
      for_each_border(2 * ahead,
                      [&](int i) { for_each_gradient(i, [&](float, const float* row) { prefetch_.add(row); }); });
    }
    if (open > 0)
      kernels_.add_row(-rate * stream().weight(static_cast<int>(j)), running_.data(),
                       model_.context.row(batch_->context_word[j]), next_row(running_.data()), dim);
  }
}

}  // namespace muse
