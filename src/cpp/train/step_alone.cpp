// The representation step of one target with negatives of its own, which is word2vec's: its row of U against rows of V
// where they lie. A few rows are scored and, as their errors depend on nothing else, stepped while they are in the
// first cache. A row that was drawn more than once is read and written once, with the sum of its errors.
#include <algorithm>

#include "math/panel.h"
#include "model/equations.h"
#include "train/step.h"

namespace muse {

namespace {

constexpr int kRowsAtOnce = 8;

int rows_at(int first, int rows) { return std::min(kRowsAtOnce, rows - first); }

}  // namespace

void Step::represent_alone() {
  const int dim = model_.sense.padded_dim();
  reserve(a_, dim);
  reserve(delta_, dim);
  foresee();
  choose_targets();
  kernels_.gather(target_rows_.data(), 1, dim, a_.data());
  unique_.find(column_rows_, plan_.targets.front().self);
  weigh_rows();
  const int rows = unique_.size();
  prefetch_.spread((rows + kRowsAtOnce - 1) / kRowsAtOnce, at(rows));
  std::fill_n(delta_.begin(), dim, 0.0f);
  if (!score_rows_from(0)) return;
  for (int first = 0; first < rows; first += kRowsAtOnce) {
    fill_errors_from(first);
    // The next ones are scored before these are stepped, so that the processor need not wait for errors.
    if (first + kRowsAtOnce < rows && !score_rows_from(first + kRowsAtOnce)) return;
    step_rows_from(first);
  }
  for (std::size_t c = 0; c < column_rows_.size() && !unique_.all_different(); ++c) {
    dots_[c] = row_dots_[at(unique_.place(c))];
    probabilities_[c] = row_probabilities_[at(unique_.place(c))];
  }
  learn();
  step_targets();
}

// Labels and weights of different rows: the sums of their columns', or, where no row occurs twice, these themselves.
void Step::weigh_rows() {
  if (unique_.all_different()) {
    rows_ = {labels_.data(), weights_.data(), dots_.data(), probabilities_.data(), errors_.data()};
    return;
  }
  const int rows = unique_.size();
  row_labels_.assign(at(rows), 0.0f);
  row_weights_.assign(at(rows), 0.0f);
  for (std::size_t c = 0; c < column_rows_.size(); ++c) {
    row_labels_[at(unique_.place(c))] += labels_[c];
    row_weights_[at(unique_.place(c))] += weights_[c];
  }
  for (std::vector<float>* of_rows : {&row_dots_, &row_probabilities_, &row_errors_})
    reserve(*of_rows, padded(rows + kRowPad));
  rows_ = {row_labels_.data(), row_weights_.data(), row_dots_.data(), row_probabilities_.data(), row_errors_.data()};
}

// False where training has diverged.
bool Step::score_rows_from(int first) {
  const int count = rows_at(first, unique_.size());
  float* dots = rows_.dots + first;
  kernels_.score_rows(a_.data(), unique_.rows() + first, count, model_.sense.padded_dim(), dots);
  stats_.diverged = stats_.diverged || !all_within(dots, count, kLargestDot);
  return !stats_.diverged;
}

void Step::fill_errors_from(int first) {
  const int count = rows_at(first, unique_.size());
  const RowCells rows = rows_;
  kernels_.sigmoid(rows.dots + first, count, rows.probabilities + first);
  for (int r = first; r < first + count; ++r)
    rows.errors[r] = skip_gram_error(alpha_, rows.labels[r], rows.weights[r], rows.probabilities[r]);
}

void Step::step_rows_from(int first) {
  const int count = rows_at(first, unique_.size());
  prefetch_.advance();
  kernels_.step_rows(a_.data(), rows_.errors + first, unique_.rows() + first, prefetch_.take(count, a_.data()), count,
                     model_.sense.padded_dim(), delta_.data());
}

}  // namespace muse
