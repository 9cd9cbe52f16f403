#include "train/unique_rows.h"

#include <algorithm>

#include "math/kernels.h"

namespace muse {

void UniqueRows::find(std::span<float* const> columns, int skipped) {
  std::size_t needed = 64;
  while (needed < 8 * columns.size()) needed *= 2;  // few meet: each meeting is a branch that is guessed wrong
  if (slots_.size() < needed) slots_.assign(needed, {});
  if (++round_ == 0) {
    slots_.assign(slots_.size(), {});
    round_ = 1;
  }
  const std::size_t mask = slots_.size() - 1;
  rows_.resize(std::max(rows_.size(), columns.size()));
  place_.resize(columns.size());
  // Copies: nothing that is written below can change them.
  Slot* const slots = slots_.data();
  float** const rows = rows_.data();
  int* const places = place_.data();
  const std::uint32_t round = round_;
  int size = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (static_cast<int>(c) == skipped) {
      places[c] = 0;
      continue;
    }
    float* const row = columns[c];
    const auto line = reinterpret_cast<std::uintptr_t>(row) / (kRowPad * sizeof(float));
    std::size_t s = (line * 0x9e3779b97f4a7c15ULL >> 32) & mask;
    while (slots[s].round == round && rows[slots[s].place] != row) s = (s + 1) & mask;
    if (slots[s].round != round) {
      slots[s] = {round, size};
      rows[size++] = row;
    }
    places[c] = slots[s].place;
  }
  size_ = size;
}

}  // namespace muse
