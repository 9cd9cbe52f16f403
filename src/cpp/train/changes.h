// What workers changed of a matrix that they all began with, and how that is put together (extension;
// docs/distributed.md, "the agreement rule").
//
// A round of a cluster waits for these, and they are bound by memory: each goes once over what it reads, and nothing
// is made that does not travel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace muse {

// Numbers of changed rows, as they travel: in 16 bits each (Kernels::shorten), in units of the largest of their row,
// half of the bytes and as exact as that number can be in 16 bits; or `floats`, whose units are 1.
struct Numbers {
  std::int16_t* shorts = nullptr;  // (rows, dim), or
  float* floats = nullptr;         // (rows, dim)
  float* units = nullptr;          // (rows,)
};

// Changes of rows in ascending order, each a sum over `workers` of them.
struct ChangesView {
  std::span<const std::int32_t> rows;
  Numbers sums;                    // which are not written to
  std::span<const float> squares;  // of the lengths of what was summed, summed
  std::span<const std::int32_t> workers;
};

// Rows of `work` that are not those of `base`, ascending. Both have the same shape.
std::vector<std::int32_t> changed_rows(const Matrix& work, const Matrix& base);

// The differences work - base of these rows, and their squared lengths; the rows of `work` are those of `base` again.
void take_changes(const Matrix& work, const Matrix& base, std::span<const std::int32_t> rows, const Numbers& sums,
                  float* squares);

// How changes of the same row by several workers move it. kAgreement is what trains: their sum, times `agreement`.
// kAdasum puts them together two by two (Maleki et al., 2021): orthogonal ones are added, parallel ones averaged. The
// mean is that of the workers that changed the row, or of all.
enum class Rule { kAgreement, kAdasum, kSum, kChanged, kAverage };

// The factor of a sum of `workers` changes that Adasum's tree would give if all pairs of them had the same cosine,
// which counts as one from 0 to 1 (docs/distributed.md).
float agreement(double cosine, int workers);

// Changes of two groups of workers, or of one (`other` has no rows then), as those of one group.
class Merged {
 public:
  Merged(const ChangesView& one, const ChangesView& other, int dim, Rule rule);

  int dim() const { return dim_; }
  const std::vector<std::int32_t>& rows() const { return rows_; }
  const std::vector<float>& squares() const { return squares_; }
  const std::vector<std::int32_t>& workers() const { return workers_; }

  void sums(const Numbers& out) const;
  // Moves the rows of `base`, which those of `followers` are then; `parts` is how many workers there are, also those
  // that changed nothing.
  void add_to(const Matrix& base, std::span<const Matrix> followers, int parts) const;

 private:
  void sum_of(std::size_t i, float* out, float* scratch) const;
  float factor_of(std::size_t i, float length, int parts) const;

  ChangesView one_, other_;
  int dim_;
  Rule rule_;
  std::vector<std::int32_t> rows_, workers_;
  std::vector<float> squares_;
  std::vector<std::int64_t> of_one_, of_other_;  // where a row is in them; -1: nowhere
};

}  // namespace muse
