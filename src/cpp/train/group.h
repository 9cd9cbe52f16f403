// The dense work of one group of targets, laid out for the kernels: which parts of its matrices hold pairs at all,
// which rows occur more than once, and which rows of the next group to fetch meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "math/prefetch.h"

namespace muse {

struct Target {
  int position;
  int first;  // columns [first, last) of the group are collocates of this target, itself excluded
  int last;
  int self;  // column of the target itself, or -1
  int pairs;
};

// What a group is before any parameter is read.
struct GroupPlan {
  std::int64_t token = 0;  // of the group's first position
  std::vector<Target> targets;
  std::vector<int> column_position;          // of the collocate columns
  std::vector<std::int32_t> negative_words;  // of the columns behind them
  std::vector<float*> negative_rows;

  void clear() {
    targets.clear();
    column_position.clear();
    negative_rows.clear();
  }
};

// Asks the memory for rows before they are read, a few between two calls of a kernel.
class RowPrefetch {
 public:
  void clear(int dim) {
    rows_.clear();
    next_ = 0;
    dim_ = dim;
  }
  void add(const float* row) { rows_.push_back(row); }
  void ask(std::size_t count) {
    const std::size_t end = next_ + count < rows_.size() ? next_ + count : rows_.size();
    for (; next_ < end; ++next_) prefetch_row(rows_[next_], dim_);
  }
  // What is left will be asked for in `calls` portions, but for the rows that kernels take.
  void spread(int calls, std::size_t taken = 0) {
    const std::size_t left = rows_.size() - next_;
    portion_ = taken < left ? (left - taken) / static_cast<std::size_t>(calls) + 1 : 0;
  }
  void advance() { ask(portion_); }
  // The next `count` rows, for a kernel that asks for them; where there are fewer, `near` serves.
  const float* const* take(int count, const float* near) {
    const std::size_t begin = next_;
    next_ += static_cast<std::size_t>(count);
    if (rows_.size() < next_) rows_.resize(next_, near);
    return rows_.data() + begin;
  }

 private:
  std::vector<const float*> rows_;
  std::size_t next_ = 0, portion_ = 0;
  int dim_ = 0;
};

// The different ones among the rows of a target's columns.
class UniqueRows {
 public:
  // Column `skipped` (-1: none) takes no part; its place is that of some other column.
  void find(std::span<float* const> columns, int skipped);

  int size() const { return size_; }
  bool all_different() const {
    return static_cast<std::size_t>(size_) == place_.size();
  }  // then a column's place is its own number
  float* const* rows() const { return rows_.data(); }
  int place(std::size_t column) const { return place_[column]; }  // of a column's row among rows()

 private:
  struct Slot {
    std::uint32_t round = 0;  // of the call that filled it: a slot of an earlier one is free
    int place = 0;
  };
  std::vector<float*> rows_;  // (size,), and room
  int size_ = 0;
  std::vector<int> place_;
  std::vector<Slot> slots_;
  std::uint32_t round_ = 0;
};

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
