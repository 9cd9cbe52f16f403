// Rows of a matrix in a byte a number: a quarter of the memory to read, which tells which rows cannot score high enough
// to be scored exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "math/kernels.h"
#include "math/padding.h"
#include "model/model.h"

namespace muse {

/// Rows times their scales, rounded, and how far from that each of them is. A row that holds what is not a finite
/// number is one that may score anything.
class ByteRows {
 public:
  /// `scale` (rows,), or null: 1. On several threads, if `workers` says so.
  ByteRows(const Matrix& matrix, const float* scale, int workers);

  /// A vector of as many numbers that rows are compared with; safe to use from several threads at once.
  class Query {
   public:
    Query(const ByteRows& rows, const float* vector);

    /// Those of rows [first, first + count) whose exact score, in float and times their scale, may reach `least`: their
    /// places from `first` on, into found (count,). Returns how many.
    int find(const Kernels& kernels, std::int64_t first, int count, float least, int* found) const;

   private:
    const ByteRows& rows_;
    std::vector<std::int16_t> numbers_;
    float unit_ = 0.0f;
    double length_ = 0.0;  // of what the numbers stand for
    double beside_ = 0.0;  // what an exact score may be above a product of these, the row's own rounding left out
  };

 private:
  struct Lengths {
    double scaled = 0.0, plain = 0.0;  // of a row times its scale, and of the row

    void widen(const Lengths& other) {
      scaled = std::max(scaled, other.scaled);
      plain = std::max(plain, other.plain);
    }
  };

  Lengths fill(const float* from, float factor, std::int64_t row);

  int dim_, stride_;
  std::unique_ptr<std::int8_t, void (*)(void*)> bytes_;  // on large pages, which are read ahead further
  std::vector<float> scale_, slack_;  // of a row: what a byte stands for, and the length of what rounding took
  Lengths longest_;                   // no row is longer
};

}  // namespace muse
