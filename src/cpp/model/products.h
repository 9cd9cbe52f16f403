// Products of many rows, on several threads: with a matrix, and with themselves. What numpy's BLAS would do, whose
// threads wait for more at the expense of those that work. Results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "model/model.h"

namespace muse {

// Σ_i row_i row_iᵀ over rows that are added some at a time; in float among those, in double from then on.
class Scatter {
 public:
  explicit Scatter(int dim);

  // `count` rows of padded(dim) floats, zeros behind the dimension.
  void add(const float* rows, int count);
  void add(const Scatter& other);
  // (dim, dim), divided by `divisor`.
  void write(double divisor, double* out) const;

 private:
  int dim_, stride_;
  const Kernels& kernels_;
  std::vector<double> sums_;  // (stride, stride), from the diagonal's block on
  std::vector<float> columns_, products_;
};

// That of all rows of a matrix.
Scatter scatter_of(const Matrix& rows, int workers);

// out_i = (row_i - mean) · transform, where `mean` is empty or (rows.dim,), transform (rows.dim, out.dim). `out` may be
// `rows`.
void transform_rows(const Matrix& rows, std::span<const float> mean, const Matrix& transform, const Matrix& out,
                    int workers);

// out_i = row_i / |row_i| - mean, which is that of the rows of unit length, weighted by `counts` (rows,).
void centre_rows(const Matrix& rows, std::span<const std::int64_t> counts, const Matrix& out, int workers);

// out_g += the mean of the rows whose group is g, each counted `weights` times, which are above 0; at unit length where
// `unit`, but for zeros. Rows of group -1 belong to none; `groups` and `weights` are (rows.rows,).
void average_rows(const Matrix& rows, std::span<const std::int64_t> groups, std::span<const std::int64_t> weights,
                  const Matrix& out, bool unit);

}  // namespace muse
