// How rows of floats lie in memory: padded to whole registers and cache lines. The one place that says so.
#pragma once

namespace muse {

inline constexpr int kRowPad = 16;  // floats; one AVX-512 register, one cache line

// The least multiple of kRowPad that holds `n`.
template <typename Int>
constexpr Int padded(Int n) {
  return (n + kRowPad - 1) / kRowPad * kRowPad;
}

}  // namespace muse
