#include "train/represent_together.h"

#include <cmath>

#include "math/panel.h"
#include "model/equations.h"

namespace muse {

void RepresentTogether::run(Group& group, RowPrefetch& prefetch, BatchRun& run) {
  const Kernels& kernels = inputs_.kernels;
  const int targets = group.targets(), columns = group.columns();
  const int dim = inputs_.model.sense.padded_dim();
  reserve(a_, std::int64_t{targets} * dim);
  reserve(b_, std::int64_t{columns} * dim);
  reserve(delta_, std::int64_t{targets} * dim);
  reserve(errors_, padded(group.cells() + kRowPad));
  products_.lay_out(group.plan.targets, group.collocate_columns, columns, dim);
  prefetch.spread(products_.calls());

  kernels.gather(group.column_rows.data(), columns, dim, b_.data());
  fetch_targets(group, run.batch);
  kernels.gather(targets_.rows(), targets, dim, a_.data());
  products_.scores(kernels, a_.data(), b_.data(), group.dots.data(), prefetch);
  if (!fill_errors(group, run)) return;
  products_.combine_targets(kernels, errors_.data(), b_.data(), delta_.data());
  targets_.step(group, run.batch, delta_.data());
  products_.step_columns(kernels, errors_.data(), a_.data(), group.column_rows.data(), prefetch);
}

void RepresentTogether::fetch_targets(const Group& group, const Batch& batch) {
  const bool evidence = learn_.wants_evidence();
  if (evidence) {
    reserve(sums_, std::int64_t{group.targets()} * inputs_.model.sense.padded_dim());
    products_.sum_collocates(inputs_.kernels, group.labels.data(), b_.data(), sums_.data());
  }
  targets_.fetch(group, batch, evidence ? sums_.data() : nullptr);
}

// Probabilities and errors of all cells, and what the selector learns from them; false where training has diverged.
bool RepresentTogether::fill_errors(Group& group, BatchRun& run) {
  const int cells = group.cells();
  if (!all_within(group.dots.data(), cells, kLargestDot)) {
    run.stats.diverged = true;
    return false;
  }
  inputs_.kernels.sigmoid(group.dots.data(), cells, group.probabilities.data());
  int overshot = 0;  // only pairs count: other cells hold what an earlier group left there
  for (int c = 0; c < cells; ++c) overshot += group.weights[at(c)] != 0.0f && std::fabs(group.dots[at(c)]) > kSteadyDot;
  const float alpha = group_alpha(run.alpha, overshot == 0, group.targets());
  for (int c = 0; c < cells; ++c)
    errors_[at(c)] = skip_gram_error(alpha, group.labels[at(c)], group.weights[at(c)], group.probabilities[at(c)]);
  learn_.learn(group, run);
  return true;
}

}  // namespace muse
