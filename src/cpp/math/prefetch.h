// Asking the memory for a row before it is read.
#pragma once

#include "math/kernels.h"

namespace muse {

inline void prefetch_row(const float* row, int dim) {
  for (int d = 0; d < dim; d += kRowPad) __builtin_prefetch(row + d, 0, kSecondCache);
}

}  // namespace muse
