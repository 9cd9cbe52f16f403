// Which of a target's columns have the same row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muse {

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

}  // namespace muse
