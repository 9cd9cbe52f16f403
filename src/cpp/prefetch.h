// Asking the memory for a row before it is read.
#pragma once

namespace muse {

inline void prefetch_row(const float* row, int dim) {
  constexpr int kLine = 16;        // floats
  constexpr int kSecondCache = 2;  // a row that is read soon, but not at once
  for (int d = 0; d < dim; d += kLine) __builtin_prefetch(row + d, 0, kSecondCache);
}

}  // namespace muse
