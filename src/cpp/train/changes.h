// What workers changed of a matrix that they all began with, and how that is put together (extension;
// docs/distributed.md, "the agreement rule").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace muse {

// Rows of `work` that are not those of `base`, ascending. Both have the same shape.
std::vector<std::int64_t> changed_rows(const Matrix& work, const Matrix& base);

// The differences work - base of these rows into `sums` (rows.size(), dim), their squared lengths into `squares`; the
// rows of `work` are those of `base` again.
void take_changes(const Matrix& work, const Matrix& base, std::span<const std::int64_t> rows, float* sums,
                  float* squares);

// Changes of rows in ascending order, each a sum over `workers` of them.
struct Changes {
  std::vector<std::int64_t> rows;
  std::vector<float> sums;     // (rows, dim)
  std::vector<float> squares;  // of the lengths of what was summed, summed
  std::vector<std::int32_t> workers;
};

struct ChangesView {
  std::span<const std::int64_t> rows;
  const float* sums;
  std::span<const float> squares;
  std::span<const std::int32_t> workers;
};

// How two changes of the same row become one: added, or as Adasum has it (Maleki et al., 2021): orthogonal ones are
// added, parallel ones averaged.
enum class Merging { kSum, kAdasum };

Changes merge_changes(const ChangesView& one, const ChangesView& other, int dim, Merging merging);

// Rows of numbers as 16-bit integers in units of a 32767th of the largest of their row: half of the bytes, and as exact
// as the largest number of the row can be in 16 bits. `units` (rows,).
void pack_rows(const float* rows, std::int64_t count, int dim, std::int16_t* packed, float* units);
void unpack_rows(const std::int16_t* packed, const float* units, std::int64_t count, int dim, float* rows);

// base += changes, and the same rows of `work` are those of `base` again; `changes` (rows.size(), dim).
void apply_changes(const Matrix& work, const Matrix& base, std::span<const std::int64_t> rows, const float* changes);

}  // namespace muse
