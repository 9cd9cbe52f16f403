// How rows of floats and of bytes lie in memory: padded to whole registers and cache lines. The one place that says so.
#pragma once

namespace muse {

inline constexpr int kRowPad = 16;  // floats; one AVX-512 register, one cache line

inline constexpr int kBytePad = 16;  // of rows of bytes

// The least multiple of kRowPad that holds `n`.
template <typename Int>
constexpr Int padded(Int n) {
  return (n + kRowPad - 1) / kRowPad * kRowPad;
}

}  // namespace muse
