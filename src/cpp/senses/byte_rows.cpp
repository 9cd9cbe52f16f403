#include "senses/byte_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>

#include "math/pages.h"
#include "math/panel.h"
#include "math/parallel.h"

namespace muse {

namespace {

constexpr std::int64_t kRowsAtOnce = 1024;
constexpr float kLargestByte = 127.0f;
constexpr double kRounding = 0x1p-23;     // twice what a rounding of a float may be off, as a share of it
constexpr double kLargestProduct = 1e38;  // a score beyond it may be infinite before it is scaled
// What a number of a row, and of a query, must stand for, so that products of the two are far from the least float.
constexpr float kLeastUnit = 1e-25f, kLeastQueryUnit = 1e-10f;

float scaled(const float* scale, std::int64_t row) { return scale == nullptr ? 1.0f : scale[row]; }

int rounded(float x) { return static_cast<int>(x + (x < 0.0f ? -0.5f : 0.5f)); }

}  // namespace

ByteRows::ByteRows(const Matrix& matrix, const float* scale, int workers)
    : dim_(matrix.dim),
      stride_((matrix.dim + kBytePad - 1) / kBytePad * kBytePad),
      bytes_(static_cast<std::int8_t*>(allocate_zeros(at(matrix.rows * stride_), false)), release_zeros),
      scale_(at(matrix.rows)),
      slack_(at(matrix.rows)) {
  if (bytes_ == nullptr) throw std::bad_alloc();
  std::mutex mutex;
  parallel_chunks(matrix.rows, kRowsAtOnce, workers > 0 ? workers : cores(), [&] {
    return [&](std::int64_t first, std::int64_t last) {
      Lengths most;
      for (std::int64_t row = first; row < last; ++row) most.widen(fill(matrix.row(row), scaled(scale, row), row));
      const std::lock_guard lock(mutex);
      longest_.widen(most);
    };
  });
}

// The lengths of the row; 0 for one that is always scored exactly.
ByteRows::Lengths ByteRows::fill(const float* from, float factor, std::int64_t row) {
  float largest = 0.0f;
  double squares = 0.0, plain = 0.0;
  for (int d = 0; d < dim_; ++d) {
    const float number = from[d] * factor, size = std::fabs(number);
    largest = size > largest ? size : largest;
    squares += static_cast<double>(number) * number;
    plain += static_cast<double>(from[d]) * from[d];
  }
  const float unit = largest / kLargestByte;
  if (!std::isfinite(squares) || unit < kLeastUnit) {
    scale_[at(row)] = squares == 0.0 ? 0.0f : std::numeric_limits<float>::quiet_NaN();
    return {};
  }
  std::int8_t* to = bytes_.get() + row * stride_;
  const float inverse = 1.0f / unit;
  double off = 0.0;
  for (int d = 0; d < dim_; ++d) {
    const int number = rounded(from[d] * factor * inverse);
    const double rest = from[d] * factor - unit * static_cast<float>(number);
    to[d] = static_cast<std::int8_t>(number);
    off += rest * rest;
  }
  scale_[at(row)] = unit;
  slack_[at(row)] =
      static_cast<float>(std::sqrt(off) * (1.0 + kRounding) + std::sqrt(dim_) * largest * 2.0 * kRounding);
  return {std::sqrt(squares) * (1.0 + 2.0 * kRounding), std::sqrt(plain)};
}

ByteRows::Query::Query(const ByteRows& rows, const float* vector) : rows_(rows), numbers_(at(rows.stride_), 0) {
  const int dim = rows.dim_;
  const double limit =
      std::min(static_cast<double>(kLargestByteQuery), std::floor(2147483647.0 / (kLargestByte * std::max(dim, 1))));
  float largest = 0.0f;
  double squares = 0.0;
  for (int d = 0; d < dim; ++d) {
    largest = std::max(largest, std::fabs(vector[d]));
    squares += static_cast<double>(vector[d]) * vector[d];
  }
  const double length = std::sqrt(squares);
  unit_ = static_cast<float>(largest / limit);
  if (!std::isfinite(length) || unit_ < kLeastQueryUnit ||
      length * rows.longest_.plain > kLargestProduct) {  // it finds every row
    unit_ = 0.0f;
    beside_ = std::numeric_limits<double>::infinity();
    return;
  }
  double off = 0.0;
  for (int d = 0; d < dim; ++d) {
    const double number = std::clamp(std::nearbyint(vector[d] / static_cast<double>(unit_)), -limit, limit);
    const double rest = vector[d] - number * unit_;
    numbers_[at(d)] = static_cast<std::int16_t>(number);
    off += rest * rest;
  }
  length_ = length + std::sqrt(off);
  beside_ = (std::sqrt(off) + (dim + 16) * kRounding * length_) * rows.longest_.scaled;
}

int ByteRows::Query::find(const Kernels& kernels, std::int64_t first, int count, float least, int* found) const {
  const ByteQuery query{numbers_.data(), unit_, static_cast<float>(length_ * (1.0 + kRounding))};
  const double above = least - beside_, bound = above - std::fabs(above) * kRounding;
  return kernels.likely_rows(query, rows_.bytes_.get() + first * rows_.stride_, rows_.scale_.data() + first,
                             rows_.slack_.data() + first, count, rows_.stride_, static_cast<float>(bound), found);
}

}  // namespace muse
