#include "train/changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace muse {

namespace {

std::size_t bytes_of(int dim) { return static_cast<std::size_t>(dim) * sizeof(float); }

double dot(const float* a, const float* b, int dim) {
  double sum = 0.0;
  for (int d = 0; d < dim; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

// Appends rows of changes one by one.
class Appender {
 public:
  Appender(Changes& out, int dim, std::size_t most) : out_(out), dim_(dim) {
    out.rows.reserve(most);
    out.squares.reserve(most);
    out.workers.reserve(most);
    out.sums.reserve(most * static_cast<std::size_t>(dim));
  }

  float* add(const ChangesView& from, std::size_t i) {
    const float* row = sums_of(from, i);
    out_.rows.push_back(from.rows[i]);
    out_.squares.push_back(from.squares[i]);
    out_.workers.push_back(from.workers[i]);
    out_.sums.insert(out_.sums.end(), row, row + dim_);
    return out_.sums.data() + out_.sums.size() - static_cast<std::size_t>(dim_);
  }

  void add(const ChangesView& one, std::size_t i, const ChangesView& other, std::size_t j, Merging merging) {
    float* sum = add(one, i);
    const float* second = sums_of(other, j);
    out_.squares.back() += other.squares[j];
    out_.workers.back() += other.workers[j];
    float of_first = 1.0f, of_second = 1.0f;
    if (merging == Merging::kAdasum) {
      const double both = dot(sum, second, dim_), first = dot(sum, sum, dim_), length = dot(second, second, dim_);
      if (first > 0.0) of_first = static_cast<float>(1.0 - both / (2.0 * first));
      if (length > 0.0) of_second = static_cast<float>(1.0 - both / (2.0 * length));
    }
    for (int d = 0; d < dim_; ++d) sum[d] = of_first * sum[d] + of_second * second[d];
  }

 private:
  const float* sums_of(const ChangesView& from, std::size_t i) const {
    return from.sums + i * static_cast<std::size_t>(dim_);
  }

  Changes& out_;
  int dim_;
};

}  // namespace

std::vector<std::int64_t> changed_rows(const Matrix& work, const Matrix& base) {
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < work.rows; ++r)
    if (std::memcmp(work.row(r), base.row(r), bytes_of(work.dim)) != 0) rows.push_back(r);
  return rows;
}

void take_changes(const Matrix& work, const Matrix& base, std::span<const std::int64_t> rows, float* sums,
                  float* squares) {
  const int dim = work.dim;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const changed = work.row(rows[i]);
    const float* const before = base.row(rows[i]);
    float* const out = sums + i * static_cast<std::size_t>(dim);
    for (int d = 0; d < dim; ++d) out[d] = changed[d] - before[d];
    squares[i] = static_cast<float>(dot(out, out, dim));
    std::memcpy(changed, before, bytes_of(dim));
  }
}

Changes merge_changes(const ChangesView& one, const ChangesView& other, int dim, Merging merging) {
  Changes out;
  Appender appender(out, dim, std::max(one.rows.size(), other.rows.size()));
  std::size_t i = 0, j = 0;
  while (i < one.rows.size() && j < other.rows.size()) {
    if (one.rows[i] < other.rows[j]) {
      appender.add(one, i++);
    } else if (other.rows[j] < one.rows[i]) {
      appender.add(other, j++);
    } else {
      appender.add(one, i++, other, j++, merging);
    }
  }
  while (i < one.rows.size()) appender.add(one, i++);
  while (j < other.rows.size()) appender.add(other, j++);
  return out;
}

void pack_rows(const float* rows, std::int64_t count, int dim, std::int16_t* packed, float* units) {
  constexpr float kMost = 32767.0f;
  for (std::int64_t r = 0; r < count; ++r) {
    const float* const row = rows + r * dim;
    std::int16_t* const out = packed + r * dim;
    float largest = 0.0f, odd = 0.0f;
    for (int d = 0; d < dim; ++d) {
      largest = std::max(largest, std::fabs(row[d]));
      odd += row[d] * 0.0f;  // NaN where a number is not finite
    }
    if (odd != 0.0f) {  // which must not pass for a number
      units[r] = std::numeric_limits<float>::quiet_NaN();
      std::fill_n(out, dim, std::int16_t{0});
      continue;
    }
    // Units too small for their inverse, of rows that do not move, are none.
    const bool moves = largest / kMost >= std::numeric_limits<float>::min();
    units[r] = moves ? largest / kMost : 0.0f;
    const float scale = moves ? 1.0f / units[r] : 0.0f;
    for (int d = 0; d < dim; ++d) {
      const float in_units = std::clamp(row[d] * scale, -kMost, kMost);
      out[d] = static_cast<std::int16_t>(static_cast<std::int32_t>(in_units + std::copysign(0.5f, in_units)));
    }
  }
}

void unpack_rows(const std::int16_t* packed, const float* units, std::int64_t count, int dim, float* rows) {
  for (std::int64_t r = 0; r < count; ++r)
    for (int d = 0; d < dim; ++d) rows[r * dim + d] = static_cast<float>(packed[r * dim + d]) * units[r];
}

void apply_changes(const Matrix& work, const Matrix& base, std::span<const std::int64_t> rows, const float* changes) {
  const int dim = base.dim;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float* const row = base.row(rows[i]);
    const float* const change = changes + i * static_cast<std::size_t>(dim);
    for (int d = 0; d < dim; ++d) row[d] += change[d];
    std::memcpy(work.row(rows[i]), row, bytes_of(dim));
  }
}

}  // namespace muse
