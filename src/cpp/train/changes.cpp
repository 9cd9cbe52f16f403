#include "train/changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "math/kernels.h"

namespace muse {

namespace {

constexpr float kShortest = 32767.0f;  // a short number is this part of its unit (Kernels::shorten)
constexpr int kLanes = 16;             // numbers beside each other, which a compiler makes registers of

std::size_t bytes_of(int dim) { return static_cast<std::size_t>(dim) * sizeof(float); }

std::size_t first_of(std::size_t row, int dim) { return row * static_cast<std::size_t>(dim); }

// The largest number of a row without its sign; NaN where one is not finite.
float largest_of(const float* row, int dim) {
  std::array<float, kLanes> most{}, odd{};  // `odd`: NaN where a number is not finite
  const auto look = [&](std::size_t lane, float x) {
    most[lane] = std::max(most[lane], std::fabs(x));
    odd[lane] += x * 0.0f;
  };
  int d = 0;
  for (; d + kLanes <= dim; d += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) look(static_cast<std::size_t>(lane), row[d + lane]);
  for (; d < dim; ++d) look(0, row[d]);
  float largest = 0.0f, sum = 0.0f;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    largest = std::max(largest, most[lane]);
    sum += odd[lane];
  }
  return sum != 0.0f ? std::numeric_limits<float>::quiet_NaN() : largest;
}

// The row is changed on the way.
void write_row(const Numbers& out, std::size_t i, float* row, int dim, const Kernels& kernels) {
  if (out.shorts == nullptr) {
    std::memcpy(out.floats + first_of(i, dim), row, bytes_of(dim));
    out.units[i] = 1.0f;
    return;
  }
  const float largest = largest_of(row, dim);
  // Rows that move less than has an inverse do not move; what is not finite must not pass for a number.
  const bool moves = largest >= std::numeric_limits<float>::min();
  const float scale = moves ? 1.0f / largest : 0.0f;
  for (int d = 0; d < dim; ++d) row[d] = moves ? row[d] * scale : 0.0f;
  kernels.shorten(row, dim, out.shorts + first_of(i, dim));
  out.units[i] = moves || std::isnan(largest) ? largest : 0.0f;
}

void read_row(const Numbers& in, std::size_t i, int dim, float* out) {
  const std::size_t first = first_of(i, dim);
  if (in.shorts == nullptr) {
    std::memcpy(out, in.floats + first, bytes_of(dim));
    return;
  }
  const std::int16_t* const row = in.shorts + first;
  const float unit = in.units[i] / kShortest;
  for (int d = 0; d < dim; ++d) out[d] = static_cast<float>(row[d]) * unit;
}

// The sum of a row of one and a row of the other, in one pass where both are short.
void read_sum(const Numbers& one, std::size_t i, const Numbers& other, std::size_t j, int dim, float* out,
              float* scratch) {
  if (one.shorts != nullptr && other.shorts != nullptr) {
    const std::int16_t* const a = one.shorts + first_of(i, dim);
    const std::int16_t* const b = other.shorts + first_of(j, dim);
    const float of_a = one.units[i] / kShortest, of_b = other.units[j] / kShortest;
    for (int d = 0; d < dim; ++d) out[d] = static_cast<float>(a[d]) * of_a + static_cast<float>(b[d]) * of_b;
    return;
  }
  read_row(one, i, dim, out);
  read_row(other, j, dim, scratch);
  for (int d = 0; d < dim; ++d) out[d] += scratch[d];
}

}  // namespace

std::vector<std::int32_t> changed_rows(const Matrix& work, const Matrix& base) {
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0; r < work.rows; ++r)
    if (std::memcmp(work.row(r), base.row(r), bytes_of(work.dim)) != 0) rows.push_back(static_cast<std::int32_t>(r));
  return rows;
}

void take_changes(const Matrix& work, const Matrix& base, std::span<const std::int32_t> rows, const Numbers& sums,
                  float* squares) {
  const int dim = work.dim;
  const Kernels& kernels = muse::kernels();
  std::vector<float> difference(static_cast<std::size_t>(dim));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const changed = work.row(rows[i]);
    const float* const before = base.row(rows[i]);
    for (int d = 0; d < dim; ++d) difference[static_cast<std::size_t>(d)] = changed[d] - before[d];
    squares[i] = kernels.dot(difference.data(), difference.data(), dim);
    write_row(sums, i, difference.data(), dim, kernels);
    std::memcpy(changed, before, bytes_of(dim));
  }
}

float agreement(double cosine, int workers) {
  double factor = 1.0, m = 1.0;
  const double doublings = std::log2(static_cast<double>(std::max(workers, 1)));
  cosine = cosine < 0.0 ? 0.0 : cosine > 1.0 ? 1.0 : cosine;  // what is no number stays none
  for (int level = 0; level < doublings; ++level, m *= 2.0) {
    const double next = 1.0 - 0.5 * m * cosine / (1.0 + (m - 1.0) * cosine);
    factor *= doublings - level >= 1.0 ? next : std::pow(next, doublings - level);
  }
  return static_cast<float>(factor);
}

Merged::Merged(const ChangesView& one, const ChangesView& other, int dim, Rule rule)
    : one_(one), other_(other), dim_(dim), rule_(rule) {
  const std::size_t most = std::max(one.rows.size(), other.rows.size());
  rows_.reserve(most);
  workers_.reserve(most);
  squares_.reserve(most);
  of_one_.reserve(most);
  of_other_.reserve(most);
  for (std::size_t i = 0, j = 0; i < one.rows.size() || j < other.rows.size();) {
    const bool first = j == other.rows.size() || (i < one.rows.size() && one.rows[i] <= other.rows[j]);
    const bool second = i == one.rows.size() || (j < other.rows.size() && other.rows[j] <= one.rows[i]);
    rows_.push_back(first ? one.rows[i] : other.rows[j]);
    workers_.push_back((first ? one.workers[i] : 0) + (second ? other.workers[j] : 0));
    squares_.push_back((first ? one.squares[i] : 0.0f) + (second ? other.squares[j] : 0.0f));
    of_one_.push_back(first ? static_cast<std::int64_t>(i++) : -1);
    of_other_.push_back(second ? static_cast<std::int64_t>(j++) : -1);
  }
}

void Merged::sum_of(std::size_t i, float* out, float* scratch) const {
  const bool first = of_one_[i] >= 0, second = of_other_[i] >= 0;
  const auto in_one = static_cast<std::size_t>(of_one_[i]), in_other = static_cast<std::size_t>(of_other_[i]);
  if (!first || !second) {
    read_row(first ? one_.sums : other_.sums, first ? in_one : in_other, dim_, out);
  } else if (rule_ != Rule::kAdasum) {
    read_sum(one_.sums, in_one, other_.sums, in_other, dim_, out, scratch);
  } else {
    read_row(one_.sums, in_one, dim_, out);
    read_row(other_.sums, in_other, dim_, scratch);
    const auto dot = kernels().dot;
    const float both = dot(out, scratch, dim_), length = dot(out, out, dim_), other = dot(scratch, scratch, dim_);
    const float of_first = length > 0.0f ? 1.0f - both / (2.0f * length) : 1.0f;
    const float of_second = other > 0.0f ? 1.0f - both / (2.0f * other) : 1.0f;
    for (int d = 0; d < dim_; ++d) out[d] = of_first * out[d] + of_second * scratch[d];
  }
}

float Merged::factor_of(std::size_t i, float length, int parts) const {
  const int workers = workers_[i];
  switch (rule_) {
    case Rule::kAgreement: {
      // |sum|² of n changes with |change|² = l and mean cosine c is n l (1 + (n - 1) c).
      const double ratio = static_cast<double>(length) / std::max(static_cast<double>(squares_[i]), 1e-38);
      return workers < 2 ? 1.0f : agreement((ratio - 1.0) / (workers - 1), workers);
    }
    case Rule::kChanged:
      return 1.0f / static_cast<float>(workers);
    case Rule::kAverage:
      return 1.0f / static_cast<float>(parts);
    case Rule::kAdasum:
    case Rule::kSum:
      break;
  }
  return 1.0f;
}

void Merged::sums(const Numbers& out) const {
  std::vector<float> sum(static_cast<std::size_t>(dim_)), scratch(sum);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sum_of(i, sum.data(), scratch.data());
    write_row(out, i, sum.data(), dim_, kernels());
  }
}

void Merged::add_to(const Matrix& base, std::span<const Matrix> followers, int parts) const {
  const Kernels& kernels = muse::kernels();
  std::vector<float> sum(static_cast<std::size_t>(dim_)), scratch(sum);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sum_of(i, sum.data(), scratch.data());
    const float length = rule_ == Rule::kAgreement ? kernels.dot(sum.data(), sum.data(), dim_) : 0.0f;
    float* const row = base.row(rows_[i]);
    kernels.axpy(factor_of(i, length, parts), sum.data(), row, dim_);
    for (const Matrix& follower : followers) std::memcpy(follower.row(rows_[i]), row, bytes_of(dim_));
  }
}

}  // namespace muse
