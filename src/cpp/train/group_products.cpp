#include "train/group_products.h"

#include <algorithm>
#include <cstdint>

#include "math/panel.h"

namespace muse {

namespace {

constexpr int kTile = 4;  // targets, and columns: what the kernels take at once

}  // namespace

void GroupProducts::lay_out(std::span<const Target> targets, int collocates, int columns, int dim) {
  targets_ = static_cast<int>(targets.size());
  collocates_ = collocates;
  columns_ = columns;
  dim_ = dim;
  target_tiles_.clear();
  column_tiles_.assign(at((columns + kTile - 1) / kTile), {0, targets_});
  const int whole = (collocates + kTile - 1) / kTile;
  std::fill_n(column_tiles_.begin(), whole, Range{targets_, 0});
  for (int t = 0; t < targets_; t += kTile) {
    Range columns_of{collocates, 0};
    const int end = std::min(targets_, t + kTile);
    for (int i = t; i < end; ++i) {
      columns_of.first = std::min(columns_of.first, targets[at(i)].first);
      columns_of.last = std::max(columns_of.last, targets[at(i)].last);
    }
    target_tiles_.push_back(columns_of);
    for (int c = columns_of.first / kTile; c * kTile < columns_of.last; ++c) {
      Range& tile = column_tiles_[at(c)];
      tile = {std::min(tile.first, t), std::max(tile.last, end)};
    }
  }
  // The tile in which collocates end and negatives begin.
  if (collocates % kTile != 0 && columns > collocates) column_tiles_[at(whole - 1)] = {0, targets_};
}

void GroupProducts::scores(const Kernels& kernels, const float* a, const float* b, float* cells,
                           RowPrefetch& prefetch) const {
  for (std::size_t tile = 0; tile < column_tiles_.size(); ++tile) {
    const Range targets = column_tiles_[tile];
    prefetch.advance();
    if (targets.last <= targets.first) continue;
    const int c = static_cast<int>(tile) * kTile;
    kernels.scores(a + std::int64_t{targets.first} * dim_, targets.last - targets.first, b + std::int64_t{c} * dim_,
                   std::min(kTile, columns_ - c), dim_, cells + std::int64_t{targets.first} * columns_ + c, columns_);
  }
}

void GroupProducts::sum_collocates(const Kernels& kernels, const float* e, const float* b, float* out) const {
  for (std::size_t tile = 0; tile < target_tiles_.size(); ++tile) {
    const int t = static_cast<int>(tile) * kTile;
    const Range columns = target_tiles_[tile];
    kernels.combine(e + std::int64_t{t} * columns_ + columns.first, columns_, 1, std::min(kTile, targets_ - t),
                    columns.last - columns.first, b + std::int64_t{columns.first} * dim_, dim_,
                    out + std::int64_t{t} * dim_);
  }
}

void GroupProducts::combine_targets(const Kernels& kernels, const float* e, const float* b, float* out) {
  sum_collocates(kernels, e, b, out);
  if (columns_ == collocates_) return;
  out_rows_.clear();
  for (int t = 0; t < targets_; ++t) out_rows_.push_back(out + std::int64_t{t} * dim_);
  kernels.combine_add(e + collocates_, columns_, 1, targets_, columns_ - collocates_,
                      b + std::int64_t{collocates_} * dim_, dim_, out_rows_.data());
}

void GroupProducts::step_columns(const Kernels& kernels, const float* e, const float* a, float* const* rows,
                                 RowPrefetch& prefetch) const {
  for (std::size_t tile = 0; tile < column_tiles_.size(); ++tile) {
    const Range targets = column_tiles_[tile];
    prefetch.advance();
    if (targets.last <= targets.first) continue;
    const int c = static_cast<int>(tile) * kTile;
    kernels.combine_add(e + std::int64_t{targets.first} * columns_ + c, 1, columns_, std::min(kTile, columns_ - c),
                        targets.last - targets.first, a + std::int64_t{targets.first} * dim_, dim_, rows + c);
  }
}

}  // namespace muse
