// Counter-based random numbers: a draw is a pure function of (seed, epoch, token position, purpose, index), so a
// token's random decisions are the same for any number of threads, on the GPU, and in the numpy reference
// (tests/reference.py).
#pragma once

#include <cstdint>

#include "math/host_device.h"

namespace muse {

// What a draw is for. Values are part of reproducibility: never renumber, only append.
enum class Purpose : std::uint64_t {
  kSubsample = 1,
  kWindow = 2,
  kSense = 3,    // which sense: the uniform that samples a policy, breaks ties or picks the explored sense
  kExplore = 4,  // whether to explore
  kCollocate = 5,
  kNegative = 6,  // which word
  kNegativeSense = 7,
  kInit = 8,
  kCluster = 9,
  kRound = 10,    // of numbers that are stored shorter than they are computed
  kEncoder = 11,  // the encoder of contexts: which targets, and negatives
};

// A strong 64-bit mixer (the finaliser of splitmix64).
MUSE_HOST_DEVICE inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

// A stream of draws for one purpose in one epoch; cheap to copy.
struct RandomStream {
  std::uint64_t key;

  MUSE_HOST_DEVICE RandomStream(std::uint64_t seed, std::uint64_t epoch, Purpose purpose)
      : key(mix64(mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) + epoch) + static_cast<std::uint64_t>(purpose))) {}

  // 64 random bits for a position (for example a token's place in the corpus) and an index within it.
  MUSE_HOST_DEVICE std::uint64_t bits(std::uint64_t position, std::uint64_t index = 0) const {
    return mix64(mix64(key ^ (position * 0x9e3779b97f4a7c15ULL)) + index * 0xd1342543de82ef95ULL);
  }

  // Uniform in [0, 1) with 24 bits, exact in float on every device.
  MUSE_HOST_DEVICE float uniform(std::uint64_t position, std::uint64_t index = 0) const {
    return static_cast<float>(bits(position, index) >> 40) * (1.0f / 16777216.0f);
  }

  // Uniform integer in [0, n), n < 2^32, by the high part of a product: bias below n / 2^32.
  MUSE_HOST_DEVICE std::uint32_t below(std::uint32_t n, std::uint64_t position, std::uint64_t index = 0) const {
    return static_cast<std::uint32_t>(((bits(position, index) >> 32) * n) >> 32);
  }
};

}  // namespace muse
