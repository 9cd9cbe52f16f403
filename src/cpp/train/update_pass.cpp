#include "train/update_pass.h"

#include <algorithm>
#include <cstdlib>

#include "math/panel.h"
#include "model/equations.h"

namespace muse {

namespace {

constexpr std::size_t kAhead = 8;  // positions whose rows are on their way

}  // namespace

// P's gradient reads Q, and Q's the contexts that were summed at the batch's start: so P moves first.
void UpdatePass::run(BatchRun& run) {
  run_ = &run;
  if (run.stats.targets == 0) return;
  const float rate =
      run.selection_alpha / (inputs_.options.selection_mean ? static_cast<float>(run.stats.targets) : 1.0f);
  find_moved();
  prefetch_.clear(dim());
  if (inputs_.options.train_context_vectors) step_p(rate);
  step_q(rate);
  if (inputs_.options.max_norm > 0.0f) cap_moved();
}

// The positions that have something for the selector to learn.
void UpdatePass::find_moved() {
  moved_.clear();
  for (int i = selected_.first; i < selected_.last; ++i) {
    if (selected_.score_at[at(i)] < 0) continue;
    const float* g = gradient_.scores.data() + selected_.score_at[at(i)];
    bool any = factorized_ && (gradient_.forward[at(i)] != 0.0f || gradient_.backward[at(i)] != 0.0f);
    for (int k = 0; k < inputs_.model.senses_of(word(i)); ++k) any = any || g[k] != 0.0f;
    if (any) moved_.push_back(i);
  }
}

// Calls use(gradient, row) for each row of Q, or of state values, whose score with a position's context has a gradient.
template <typename Use>
void UpdatePass::for_each_gradient(int i, const Use& use) const {
  const Model& model = inputs_.model;
  const std::int32_t w = word(i);
  for (int k = 0; k < model.senses_of(w); ++k)
    if (const float g = gradient_.scores[at(selected_.score_at[at(i)] + k)]; g != 0.0f)
      use(g, model.selection.row(model.sense_offset[w] + k));
  if (!factorized_) return;
  use(gradient_.forward[at(i)], model.forward.row(w));
  use(gradient_.backward[at(i)], model.backward.row(w));
}

// Q, and the state values.
void UpdatePass::step_q(float rate) {
  const auto context_of = [&](std::size_t m) {
    return selected_.contexts.data() + std::int64_t{selected_.slot[at(moved_[m])]} * dim();
  };
  for (std::size_t m = 0; m < moved_.size() && run_->go_on(); ++m) {
    if (const auto ahead = m + kAhead; ahead < moved_.size()) {
      prefetch_.add(context_of(ahead));
      for_each_gradient(moved_[ahead], [&](float, const float* row) { prefetch_.add(row); });
    }
    prefetch_.ask(1);  // one more than the kernel asks for
    for_each_gradient(moved_[m], [&](float g, float* row) {
      inputs_.kernels.add_row(-rate * g, context_of(m), row, next_row(row), dim());
    });
  }
}

// P moves by each window's gradient on every row that the window counts.
void UpdatePass::step_p(float rate) {
  reserve(input_gradient_, dim());
  // Without distances all that a token receives is one sum, which slides along the stream.
  if (inputs_.options.selection.distance.empty()) {
    link_borders();
    slide_windows(rate);
  } else {
    step_windows(rate);
  }
}

void UpdatePass::step_windows(float rate) {
  for (const int i : moved_) {
    const Window& window = selected_.window_of(i);
    const float total = inputs_.options.selection.mean ? selected_.total_of(i) : 1.0f;
    if (total <= 0.0f) continue;
    std::fill_n(input_gradient_.begin(), dim(), 0.0f);
    add_input_gradient(i, 1.0f);
    for (int j = window.low; j <= window.high; ++j) {
      const float weight = selected_.weight(j) * inputs_.options.selection.distance_weight(std::abs(j - window.centre));
      inputs_.kernels.axpy(-rate * weight / total, input_gradient_.data(), context_row(at(j)), dim());
    }
  }
}

// input_gradient_ += scale * d loss / d context of a position.
void UpdatePass::add_input_gradient(int i, float scale) {
  for_each_gradient(i, [&](float g, const float* row) {
    inputs_.kernels.add_row(scale * g, row, input_gradient_.data(), next_row(row), dim());
  });
}

void UpdatePass::Borders::clear(std::size_t places, std::size_t positions) {
  heads.assign(places, -1);
  next.resize(positions);
}

void UpdatePass::Borders::add(int place, int position) {
  next[at(position)] = heads[at(place)];
  heads[at(place)] = position;
}

template <typename Use>
void UpdatePass::Borders::for_each(std::size_t place, const Use& use) const {
  for (int position = heads[place]; position >= 0; position = next[at(position)]) use(position);
}

void UpdatePass::link_borders() {
  const std::size_t places = run_->batch.context_word.size() + 1;
  for (Borders* borders : {&begins_, &ends_}) borders->clear(places, at(run_->batch.size()));
  for (auto i = moved_.rbegin(); i != moved_.rend(); ++i) {
    if (inputs_.options.selection.mean && selected_.total_of(*i) <= 0.0f) continue;
    begins_.add(selected_.window_of(*i).low, *i);
    ends_.add(selected_.window_of(*i).high + 1, *i);
  }
}

float UpdatePass::context_scale(int position) const {
  return inputs_.options.selection.mean ? 1.0f / selected_.total_of(position) : 1.0f;
}

// A window's gradient enters the sum where the window begins and leaves it behind its end: two additions a window and
// one a token, however wide the windows are.
void UpdatePass::slide_windows(float rate) {
  const auto places = run_->batch.context_word.size();
  int open = 0;
  for (std::size_t j = 0; j < places; ++j) {
    ends_.for_each(j, [&](int i) { --open, add_input_gradient(i, -context_scale(i)); });
    if (open == 0) std::fill_n(input_gradient_.begin(), dim(), 0.0f);  // nothing of what was rounded stays behind
    begins_.for_each(j, [&](int i) { ++open, add_input_gradient(i, context_scale(i)); });
    if (const auto ahead = j + kAhead; ahead < places) {
      prefetch_.add(context_row(ahead));
      begins_.for_each(ahead,
                       [&](int i) { for_each_gradient(i, [&](float, const float* row) { prefetch_.add(row); }); });
    }
    if (open > 0)
      inputs_.kernels.add_row(-rate * selected_.weight(static_cast<int>(j)), input_gradient_.data(), context_row(j),
                              next_row(input_gradient_.data()), dim());
  }
}

// Every row that the batch has moved, once its step is whole: so the order within the batch does not matter.
void UpdatePass::cap_moved() {
  const Model& model = inputs_.model;
  reached_.assign(inputs_.options.train_context_vectors ? run_->batch.context_word.size() : 0, 0);
  for (const int i : moved_) {
    const std::int32_t w = word(i);
    for (int k = 0; k < model.senses_of(w); ++k) cap(model.selection.row(model.sense_offset[w] + k));
    if (factorized_) {
      cap(model.forward.row(w));
      cap(model.backward.row(w));
    }
    const Window& window = selected_.window_of(i);
    if (!reached_.empty()) std::fill(reached_.begin() + window.low, reached_.begin() + window.high + 1, char{1});
  }
  for (std::size_t j = 0; j < reached_.size(); ++j)
    if (reached_[j]) cap(context_row(j));
}

// Keeps a row of P or Q within max_norm: the product of the two can otherwise grow without bound and without a NaN.
void UpdatePass::cap(float* row) const {
  const float scale = cap_scale(inputs_.kernels.dot(row, row, dim()), inputs_.options.max_norm);
  if (scale == 1.0f) return;
  for (int d = 0; d < dim(); ++d) row[d] *= scale;
}

}  // namespace muse
