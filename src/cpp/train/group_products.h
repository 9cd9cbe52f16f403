// The three matrix products of a group, laid out for the kernels: parts of its matrices that hold no pairs are left
// out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "math/prefetch.h"
#include "train/group.h"

namespace muse {

// The three products of a group over T targets and C columns, of which those before `collocates` belong to a few
// targets each and the negatives behind them to all. Cells (T, C) outside a target's tile of columns are skipped; their
// errors must be zero where their column's tile reaches them.
class GroupProducts {
 public:
  void lay_out(std::span<const Target> targets, int collocates, int columns, int dim);
  // How often the functions below advance the prefetch, together.
  int calls() const { return 2 * static_cast<int>(column_tiles_.size()); }

  // cells (T, C) = a (T, dim) · b (C, dim)ᵀ
  void scores(const Kernels& kernels, const float* a, const float* b, float* cells, RowPrefetch& prefetch) const;
  // out (T, dim) = e (T, C) b
  void combine_targets(const Kernels& kernels, const float* e, const float* b, float* out);
  // The same over collocates alone.
  void sum_collocates(const Kernels& kernels, const float* e, const float* b, float* out) const;
  // rows[c] += Σ_t e(t, c) a_t
  void step_columns(const Kernels& kernels, const float* e, const float* a, float* const* rows,
                    RowPrefetch& prefetch) const;

 private:
  struct Range {
    int first, last;
  };
  int targets_ = 0, collocates_ = 0, columns_ = 0, dim_ = 0;
  std::vector<Range> target_tiles_;  // for each kTile targets: the collocate columns that they pair with
  std::vector<Range> column_tiles_;  // for each kTile columns: the targets that pair with them
  std::vector<float*> out_rows_;
};

}  // namespace muse
