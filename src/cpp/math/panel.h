// Scratch matrices of a step: rows of floats one after another in a vector that only grows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "math/padding.h"

namespace muse {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

inline void reserve(std::vector<float>& panel, std::int64_t size) {
  if (panel.size() < at(size)) panel.resize(at(size) + kRowPad);
}

inline float* panel_row(std::vector<float>& panel, int row, int dim) {
  return panel.data() + static_cast<std::int64_t>(row) * dim;
}

// Whether all are within ±bound; a NaN is not.
inline bool all_within(const float* values, int count, float bound) {
  int beyond = 0;
  for (int i = 0; i < count; ++i) beyond += !(std::fabs(values[i]) <= bound);
  return beyond == 0;
}

}  // namespace muse
