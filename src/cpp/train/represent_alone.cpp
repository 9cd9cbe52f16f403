#include "train/represent_alone.h"

#include <algorithm>

#include "math/panel.h"
#include "model/equations.h"

namespace muse {

namespace {

constexpr int kRowsAtOnce = 8;

int rows_at(int first, int rows) { return std::min(kRowsAtOnce, rows - first); }

}  // namespace

void RepresentAlone::run(Group& group, RowPrefetch& prefetch, BatchRun& run) {
  const int dim = inputs_.model.sense.padded_dim();
  reserve(a_, dim);
  reserve(delta_, dim);
  fetch_target(group, run.batch);
  inputs_.kernels.gather(targets_.rows(), 1, dim, a_.data());
  unique_.find(group.column_rows, group.plan.targets.front().self);
  weigh_rows(group);
  if (!step_rows(prefetch, run.alpha)) {
    run.stats.diverged = true;
    return;
  }
  copies_.updated(unique_.rows(), unique_.size());
  if (!unique_.all_different()) spread_to_columns(group);
  learn_.learn(group, run);
  targets_.step(group, run.batch, delta_.data());
}

void RepresentAlone::fetch_target(const Group& group, const Batch& batch) {
  const bool evidence = learn_.wants_evidence();
  if (evidence) {
    const int dim = inputs_.model.sense.padded_dim();
    const Target& target = group.plan.targets.front();
    sum_.assign(at(dim), 0.0f);
    for (int c = target.first; c < target.last; ++c)
      if (c != target.self) inputs_.kernels.axpy(1.0f, group.column_rows[at(c)], sum_.data(), dim);
  }
  targets_.fetch(group, batch, evidence ? sum_.data() : nullptr);
}

// Labels and weights of different rows: the sums of their columns', or, where no row occurs twice, these themselves.
void RepresentAlone::weigh_rows(Group& group) {
  const int rows = unique_.size();
  reserve(errors_, padded(rows + kRowPad));
  if (unique_.all_different()) {
    rows_ = {group.labels.data(), group.weights.data(), group.dots.data(), group.probabilities.data()};
    return;
  }
  labels_.assign(at(rows), 0.0f);
  weights_.assign(at(rows), 0.0f);
  for (std::size_t c = 0; c < group.column_rows.size(); ++c) {
    labels_[at(unique_.place(c))] += group.labels[c];
    weights_[at(unique_.place(c))] += group.weights[c];
  }
  for (std::vector<float>* of_rows : {&dots_, &probabilities_}) reserve(*of_rows, padded(rows + kRowPad));
  rows_ = {labels_.data(), weights_.data(), dots_.data(), probabilities_.data()};
}

// Scores the rows and steps them, a few at a time; delta_ becomes what U moves by. False where training has diverged.
bool RepresentAlone::step_rows(RowPrefetch& prefetch, float alpha) {
  const Kernels& kernels = inputs_.kernels;
  const int rows = unique_.size(), dim = inputs_.model.sense.padded_dim();
  prefetch.spread((rows + kRowsAtOnce - 1) / kRowsAtOnce, at(rows));
  std::fill_n(delta_.begin(), dim, 0.0f);
  if (!score_rows(0)) return false;
  const RowCells of = rows_;  // copies: nothing that is written below can change them
  float* const errors = errors_.data();
  for (int first = 0; first < rows; first += kRowsAtOnce) {
    const int count = rows_at(first, rows);
    kernels.sigmoid(of.dots + first, count, of.probabilities + first);
    for (int r = first; r < first + count; ++r)
      errors[r] = skip_gram_error(alpha, of.labels[r], of.weights[r], of.probabilities[r]);
    // The next ones are scored before these are stepped, so that the processor need not wait for errors.
    if (first + kRowsAtOnce < rows && !score_rows(first + kRowsAtOnce)) return false;
    prefetch.advance();
    kernels.step_rows(a_.data(), errors + first, unique_.rows() + first, prefetch.take(count, a_.data()), count, dim,
                      delta_.data());
  }
  return true;
}

bool RepresentAlone::score_rows(int first) {
  const int count = rows_at(first, unique_.size());
  float* dots = rows_.dots + first;
  inputs_.kernels.score_rows(a_.data(), unique_.rows() + first, count, inputs_.model.sense.padded_dim(), dots);
  return all_within(dots, count, kLargestDot);
}

void RepresentAlone::spread_to_columns(Group& group) const {
  for (std::size_t c = 0; c < group.column_rows.size(); ++c) {
    group.dots[c] = dots_[at(unique_.place(c))];
    group.probabilities[c] = probabilities_[at(unique_.place(c))];
  }
}

}  // namespace muse
