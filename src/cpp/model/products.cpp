#include "model/products.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "math/panel.h"
#include "math/parallel.h"

namespace muse {

namespace {

constexpr int kColumns = 64;          // of a product at a time
constexpr int kRowsOnce = 128;        // with so many rows, those of a block of columns stay in the first cache
constexpr std::int64_t kChunk = 512;  // of rows, that a thread takes
constexpr std::int64_t kParts = 8;    // of sums over all rows, which are added up in their order
constexpr float kSafe = 1e-12f;       // a square from here to its inverse lost nothing to the range of floats

// Calls part(i, first, last) for a fixed number of parts of [0, count), on several threads.
template <typename Part>
void for_parts(std::int64_t count, int workers, const Part& part) {
  parallel_chunks(kParts, 1, workers, [&] {
    return [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) part(i, i * count / kParts, (i + 1) * count / kParts);
    };
  });
}

// 1 / the row's length; 0 where that is 0 or no number.
double inverse_length(const Kernels& kernels, const float* row, int dim) {
  const float square = kernels.dot(row, row, dim);
  if (square > kSafe && square < 1.0f / kSafe) return 1.0 / std::sqrt(static_cast<double>(square));
  double sum = 0.0;
  for (int d = 0; d < dim; ++d) sum += static_cast<double>(row[d]) * row[d];
  return sum > 0.0 && std::isfinite(sum) ? 1.0 / std::sqrt(sum) : 0.0;
}

}  // namespace

Scatter::Scatter(int dim)
    : dim_(dim),
      stride_(padded(dim)),
      kernels_(kernels()),
      sums_(at(std::int64_t{stride_} * stride_), 0.0),
      columns_(at(std::int64_t{kRowsOnce} * kColumns)),
      products_(at(std::int64_t{stride_} * kColumns)) {}

void Scatter::add(const float* rows, int count) {
  for (int done = 0; done < count; done += kRowsOnce, rows += std::int64_t{kRowsOnce} * stride_) {
    const int n = std::min(kRowsOnce, count - done);
    for (int first = 0; first < stride_; first += kColumns) {
      const int width = std::min(kColumns, stride_ - first), below = stride_ - first;
      for (int i = 0; i < n; ++i)
        std::copy_n(rows + std::int64_t{i} * stride_ + first, width, columns_.data() + std::int64_t{i} * width);
      kernels_.combine(rows + first, 1, stride_, below, n, columns_.data(), width, products_.data());
      for (int i = 0; i < below; ++i) {
        const float* from = products_.data() + std::int64_t{i} * width;
        double* to = sums_.data() + std::int64_t{first + i} * stride_ + first;
        for (int j = 0; j < width; ++j) to[j] += from[j];
      }
    }
  }
}

void Scatter::add(const Scatter& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
}

void Scatter::write(double divisor, double* out) const {
  for (int i = 0; i < dim_; ++i)
    for (int j = 0; j <= i; ++j)
      out[std::int64_t{i} * dim_ + j] = out[std::int64_t{j} * dim_ + i] =
          sums_[at(std::int64_t{i} * stride_ + j)] / divisor;
}

Scatter scatter_of(const Matrix& rows, int workers) {
  std::vector<std::unique_ptr<Scatter>> parts(at(kParts));
  const int stride = rows.padded_dim();
  for_parts(rows.rows, workers, [&](std::int64_t part, std::int64_t first, std::int64_t last) {
    parts[at(part)] = std::make_unique<Scatter>(rows.dim);
    std::vector<float> panel(at(std::int64_t{kRowsOnce} * stride), 0.0f);
    for (std::int64_t done = first; done < last; done += kRowsOnce) {
      const auto n = static_cast<int>(std::min<std::int64_t>(kRowsOnce, last - done));
      for (int i = 0; i < n; ++i) std::copy_n(rows.row(done + i), rows.dim, panel.data() + std::int64_t{i} * stride);
      parts[at(part)]->add(panel.data(), n);
    }
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[0]->add(*parts[i]);
    parts[i].reset();
  }
  return std::move(*parts[0]);
}

void transform_rows(const Matrix& rows, std::span<const float> mean, const Matrix& transform, const Matrix& out,
                    int workers) {
  const int inner = rows.dim, width = padded(out.dim);
  std::vector<float> matrix(at(std::int64_t{inner} * width), 0.0f);
  for (int d = 0; d < inner; ++d) std::copy_n(transform.row(d), out.dim, matrix.data() + std::int64_t{d} * width);
  const Kernels& k = kernels();
  parallel_chunks(rows.rows, kChunk, workers, [&] {
    return [&, panel = std::vector<float>(at(std::int64_t{kRowsOnce} * inner)),
            made = std::vector<float>(at(std::int64_t{kRowsOnce} * width))](std::int64_t first,
                                                                            std::int64_t last) mutable {
      for (std::int64_t done = first; done < last; done += kRowsOnce) {
        const auto n = static_cast<int>(std::min<std::int64_t>(kRowsOnce, last - done));
        for (int i = 0; i < n; ++i) {
          float* to = panel.data() + std::int64_t{i} * inner;
          std::copy_n(rows.row(done + i), inner, to);
          if (!mean.empty()) k.axpy(-1.0f, mean.data(), to, inner);
        }
        k.combine(panel.data(), inner, 1, n, inner, matrix.data(), width, made.data());
        for (int i = 0; i < n; ++i) std::copy_n(made.data() + std::int64_t{i} * width, out.dim, out.row(done + i));
      }
    };
  });
}

void centre_rows(const Matrix& rows, std::span<const std::int64_t> counts, const Matrix& out, int workers) {
  const Kernels& k = kernels();
  const int dim = rows.dim;
  std::vector<double> scales(at(rows.rows));
  std::vector<std::vector<double>> sums(at(kParts));
  for_parts(rows.rows, workers, [&](std::int64_t part, std::int64_t first, std::int64_t last) {
    auto& sum = sums[at(part)];
    sum.assign(at(dim), 0.0);
    for (std::int64_t i = first; i < last; ++i) {
      const float* row = rows.row(i);
      scales[at(i)] = inverse_length(k, row, dim);
      const double weight = scales[at(i)] * static_cast<double>(counts[at(i)]);
      if (weight == 0.0) continue;
      for (int d = 0; d < dim; ++d) sum[at(d)] += weight * static_cast<double>(row[d]);
    }
  });
  double total = 0.0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  for (std::size_t i = 1; i < sums.size(); ++i)
    for (int d = 0; d < dim; ++d) sums[0][at(d)] += sums[i][at(d)];
  std::vector<float> mean;
  for (const double sum : sums[0]) mean.push_back(static_cast<float>(sum / std::max(total, 1.0)));
  parallel_chunks(rows.rows, kChunk, workers, [&] {
    return [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const float* row = rows.row(i);
        float* to = out.row(i);
        const double scale = scales[at(i)];
        if (scale == 0.0)
          for (int d = 0; d < dim; ++d) to[d] = -mean[at(d)];
        else
          for (int d = 0; d < dim; ++d) to[d] = static_cast<float>(row[d] * scale) - mean[at(d)];
      }
    };
  });
}

void average_rows(const Matrix& rows, std::span<const std::int64_t> groups, std::span<const std::int64_t> weights,
                  const Matrix& out, bool unit) {
  const auto [least, most] = std::minmax_element(groups.begin(), groups.end());
  if (groups.empty() || *most < 0) return;
  const std::int64_t first = std::max<std::int64_t>(*least, 0);
  std::vector<double> totals(at(*most - first + 1), 0.0);
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i] >= 0) totals[at(groups[i] - first)] += static_cast<double>(weights[i]);
  const Kernels& k = kernels();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] < 0) continue;
    const double share = static_cast<double>(weights[i]) / totals[at(groups[i] - first)];
    k.axpy(static_cast<float>(share), rows.row(static_cast<std::int64_t>(i)), out.row(groups[i]), rows.dim);
  }
  if (!unit) return;
  for (std::size_t g = 0; g < totals.size(); ++g) {
    if (totals[g] == 0.0) continue;
    float* row = out.row(first + static_cast<std::int64_t>(g));
    const auto scale = static_cast<float>(inverse_length(k, row, rows.dim));
    for (int d = 0; d < rows.dim; ++d) row[d] *= scale;
  }
}

}  // namespace muse
