// The last part of a step: P and Q move once a batch, by the gradients on the scores.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "panel.h"
#include "prefetch.h"
#include "step.h"

namespace muse {

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
  for (int i = scored_first_; i < scored_last_; ++i) {
    if (!moved(i)) continue;
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

// Whether a position has anything for the selector to learn.
bool Step::moved(int i) const {
  if (score_at_[at(i)] < 0) return false;
  const float* g = gradient_.data() + score_at_[at(i)];
  bool any = options_.formulation == Formulation::kFactorized &&
             (forward_gradient_[at(i)] != 0.0f || backward_gradient_[at(i)] != 0.0f);
  for (int k = 0; k < senses_of(i); ++k) any = any || g[k] != 0.0f;
  return any;
}

void Step::step_selection() {
  if (stats_.targets == 0) return;
  const Batch& batch = *batch_;
  const int dim = model_.context.padded_dim();
  const float rate = selection_alpha_ / (options_.selection_mean ? static_cast<float>(stats_.targets) : 1.0f);
  const bool factorized = options_.formulation == Formulation::kFactorized;
  // Every gradient is taken before anything moves.
  if (options_.train_context_vectors) {
    reserve(input_gradient_, static_cast<std::int64_t>(windows_.size()) * dim);
    for (int i = scored_first_; i < scored_last_; ++i) {
      if (!moved(i)) continue;
      float* h = input_gradient_.data() + static_cast<std::int64_t>(slot_[at(i)]) * dim;
      std::memset(h, 0, sizeof(float) * at(dim));
      const std::int32_t word = batch.word[at(i)];
      for (int k = 0; k < senses_of(i); ++k)
        if (const float g = gradient_[at(score_at_[at(i)] + k)]; g != 0.0f)
          kernels_.axpy(g, model_.selection.row(model_.sense_offset[word] + k), h, dim);
      if (factorized) {
        kernels_.axpy(forward_gradient_[at(i)], model_.forward.row(word), h, dim);
        kernels_.axpy(backward_gradient_[at(i)], model_.backward.row(word), h, dim);
      }
    }
  }
  for (int i = scored_first_; i < scored_last_ && go_on(); ++i) {
    prefetch_selection(i + 2);
    if (!moved(i)) continue;
    const std::int64_t slot = static_cast<std::int64_t>(slot_[at(i)]) * dim;
    const std::int32_t word = batch.word[at(i)];
    const float* context = context_.data() + slot;
    for (int k = 0; k < senses_of(i); ++k) {
      float* q = model_.selection.row(model_.sense_offset[word] + k);
      if (const float g = gradient_[at(score_at_[at(i)] + k)]; g != 0.0f) kernels_.axpy(-rate * g, context, q, dim);
    }
    if (factorized) {
      kernels_.axpy(-rate * forward_gradient_[at(i)], context, model_.forward.row(word), dim);
      kernels_.axpy(-rate * backward_gradient_[at(i)], context, model_.backward.row(word), dim);
    }
  }
  if (options_.train_context_vectors) step_contexts(rate);
  if (options_.max_norm > 0.0f) cap_moved();
}

// P moves by each window's gradient on every row that the window counts.
void Step::step_contexts(float rate) {
  // Without distances all that a token receives is one sum, which slides along the stream.
  if (options_.selection.distance.empty()) {
    slide_contexts(rate);
    return;
  }
  const int dim = model_.context.padded_dim();
  for (int i = scored_first_; i < scored_last_; ++i) {
    if (!moved(i)) continue;
    const Window& window = windows_[at(slot_[at(i)])];
    const float total = options_.selection.mean ? totals_[at(slot_[at(i)])] : 1.0f;
    if (total <= 0.0f) continue;
    for (int j = window.low; j <= window.high; ++j) {
      const float weight = stream().weight(j) * options_.selection.distance_weight(std::abs(j - window.centre));
      float* p = model_.context.row(batch_->context_word[at(j)]);
      kernels_.axpy(-rate * weight / total, panel_row(input_gradient_, slot_[at(i)], dim), p, dim);
    }
  }
}

// A window's gradient enters the running sum where the window begins and leaves it behind its end: two additions a
// window and one a token, however wide the windows are.
void Step::slide_contexts(float rate) {
  constexpr int kAhead = 4;
  const int dim = model_.context.padded_dim();
  const auto places = batch_->context_word.size();
  border_heads_.assign(2 * places + 2, -1);  // windows that begin at a place, and that end before it: linked lists
  border_next_.resize(2 * windows_.size());
  const auto link = [&](std::size_t list, std::size_t entry) {
    border_next_[entry] = border_heads_[list];
    border_heads_[list] = static_cast<int>(entry);
  };
  for (int i = scored_last_ - 1; i >= scored_first_; --i) {
    if (!moved(i)) continue;
    const auto slot = at(slot_[at(i)]);
    if (options_.selection.mean && totals_[slot] <= 0.0f) continue;
    link(2 * at(windows_[slot].low), 2 * slot);
    link(2 * at(windows_[slot].high + 1) + 1, 2 * slot + 1);
  }
  reserve(running_, dim);
  int open = 0;
  const auto add = [&](std::size_t list, float sign) {
    for (int entry = border_heads_[list]; entry >= 0; entry = border_next_[at(entry)]) {
      const int slot = entry / 2;
      const float scale = options_.selection.mean ? sign / totals_[at(slot)] : sign;
      kernels_.axpy(scale, panel_row(input_gradient_, slot, dim), running_.data(), dim);
      open += sign > 0.0f ? 1 : -1;
    }
  };
  for (std::size_t j = 0; j < places; ++j) {
    if (open > 0) add(2 * j + 1, -1.0f);
    if (open == 0) std::fill_n(running_.begin(), dim, 0.0f);  // nothing of what was rounded stays behind
    add(2 * j, 1.0f);
    if (j + kAhead < places) prefetch_row(model_.context.row(batch_->context_word[j + kAhead]), dim);
    if (open > 0)
      kernels_.axpy(-rate * stream().weight(static_cast<int>(j)), running_.data(),
                    model_.context.row(batch_->context_word[j]), dim);
  }
}

}  // namespace muse
