// Matrices of 16-bit floats (bfloat16: the upper half of a float, 8 bits of precision) that are added to as if they
// were longer: a sum is rounded up or down at random, up with the probability that makes it right on average. Rounded
// to the nearest, the small steps of training would leave most numbers where they are.
#pragma once

#include <cstdint>
#include <cstring>

#include "math/random.h"

namespace muse::cuda {

struct Bfloat16 {
  std::uint16_t bits;
};

MUSE_HOST_DEVICE inline float widen(Bfloat16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

// x plus `add` (of 16 bits) in the place below the last that is kept, cut off.
MUSE_HOST_DEVICE inline Bfloat16 narrow(float x, std::uint32_t add) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if ((bits & 0x7f800000u) == 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | ((bits & 0xffffu) != 0))};
  return {static_cast<std::uint16_t>((bits + add) >> 16)};
}

MUSE_HOST_DEVICE inline Bfloat16 round_at_random(float x, std::uint32_t random) { return narrow(x, random & 0xffffu); }

// To the nearest, ties to even.
MUSE_HOST_DEVICE inline Bfloat16 round_to_nearest(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return narrow(x, 0x7fffu + (bits >> 16 & 1u));
}

// The random bits of what is written for one token: 64 for up to four numbers of row `item` of its own.
struct Rounding {
  RandomStream draw;
  std::uint64_t key;
  std::uint64_t item;  // rows that are written for the same token have numbers of their own

  MUSE_HOST_DEVICE std::uint64_t bits(int column) const {
    return draw.bits(key, item << 16 | static_cast<std::uint64_t>(column));
  }
};

}  // namespace muse::cuda
