#include "senses/byte_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "math/panel.h"
#include "math/parallel.h"

namespace muse {

namespace {

constexpr std::int64_t kRowsAtOnce = 1024;
constexpr float kLargestByte = 127.0f;
constexpr double kRounding = 0x1p-23;  // twice what a rounding of a float may be off, as a share of it

float scaled(const float* scale, std::int64_t row) { return scale == nullptr ? 1.0f : scale[row]; }

int rounded(float x) { return static_cast<int>(x + (x < 0.0f ? -0.5f : 0.5f)); }

}  // namespace

ByteRows::ByteRows(const Matrix& matrix, const float* scale, int workers)
    : dim_(matrix.dim),
      stride_((matrix.dim + kBytePad - 1) / kBytePad * kBytePad),
      bytes_(at(matrix.rows * stride_)),
      scale_(at(matrix.rows)),
      slack_(at(matrix.rows)) {
  std::mutex mutex;
  parallel_chunks(matrix.rows, kRowsAtOnce, workers > 0 ? workers : cores(), [&] {
    return [&](std::int64_t first, std::int64_t last) {
      double longest = 0.0;
      for (std::int64_t row = first; row < last; ++row) {
        fill(matrix, scale, row);
        float squares = 0.0f;
        for (int d = 0; d < dim_; ++d) squares += matrix.row(row)[d] * matrix.row(row)[d];
        const double length = std::sqrt(static_cast<double>(squares)) * std::fabs(scaled(scale, row));
        if (std::isfinite(length)) longest = std::max(longest, length);
      }
      const std::lock_guard lock(mutex);
      longest_ = std::max(longest_, longest * (1.0 + dim_ * kRounding));
    };
  });
}

void ByteRows::fill(const Matrix& matrix, const float* scale, std::int64_t row) {
  const float* from = matrix.row(row);
  const float factor = scaled(scale, row);
  float largest = 0.0f, infinite = 0.0f;
  for (int d = 0; d < dim_; ++d) {
    const float size = std::fabs(from[d] * factor);
    largest = size > largest ? size : largest;
    infinite += size * 0.0f;  // not a number, if one is not finite
  }
  const float unit = largest / kLargestByte, inverse = 1.0f / unit;
  if (infinite != 0.0f || !std::isfinite(inverse)) {
    // Zeros, what is not a number, or what lies at the end of a float's range: it is always scored exactly.
    scale_[at(row)] = largest == 0.0f && infinite == 0.0f ? 0.0f : std::numeric_limits<float>::quiet_NaN();
    return;
  }
  std::int8_t* to = bytes_.data() + row * stride_;
  float off = 0.0f;
  for (int d = 0; d < dim_; ++d) {
    const int number = rounded(from[d] * factor * inverse);
    const float rest = from[d] * factor - unit * static_cast<float>(number);
    to[d] = static_cast<std::int8_t>(number);
    off += rest * rest;
  }
  scale_[at(row)] = unit;
  const double rounding = (dim_ + 4) * kRounding;
  slack_[at(row)] = static_cast<float>(std::sqrt(static_cast<double>(off)) * (1.0 + rounding) +
                                       std::sqrt(static_cast<double>(dim_)) * largest * 2.0 * kRounding);
}

ByteRows::Query::Query(const ByteRows& rows, const float* vector) : rows_(rows), numbers_(at(rows.stride_), 0) {
  const int dim = rows.dim_;
  const double limit = std::min(32767.0, std::floor(2147483647.0 / (kLargestByte * std::max(dim, 1))));
  float largest = 0.0f;
  double squares = 0.0;
  for (int d = 0; d < dim; ++d) {
    largest = std::max(largest, std::fabs(vector[d]));
    squares += static_cast<double>(vector[d]) * vector[d];
  }
  unit_ = static_cast<float>(largest / limit);
  double off = 0.0;
  for (int d = 0; unit_ > 0.0f && d < dim; ++d) {
    const double number = std::clamp(std::nearbyint(vector[d] / static_cast<double>(unit_)), -limit, limit);
    const double rest = vector[d] - number * unit_;
    numbers_[at(d)] = static_cast<std::int16_t>(number);
    off += rest * rest;
  }
  const double length = std::sqrt(squares), missed = unit_ > 0.0f ? std::sqrt(off) : length;
  length_ = length + missed;
  beside_ = (missed + (dim + 16) * kRounding * length_) * rows.longest_;
  // A vector that is not finite finds every row.
  if (!std::isfinite(length_)) beside_ = std::numeric_limits<double>::infinity();
}

int ByteRows::Query::find(const Kernels& kernels, std::int64_t first, int count, float least, int* found) const {
  const ByteQuery query{numbers_.data(), unit_, static_cast<float>(length_ * (1.0 + kRounding))};
  const double bound = least - beside_ - std::fabs(static_cast<double>(least)) * kRounding;
  return kernels.likely_rows(query, rows_.bytes_.data() + first * rows_.stride_, rows_.scale_.data() + first,
                             rows_.slack_.data() + first, count, rows_.stride_, static_cast<float>(bound), found);
}

}  // namespace muse
