// Two or four numbers of a row at once: read as floats and added to, whether they are stored as floats or as bfloat16.
#pragma once

#include <cuda_runtime.h>

#include "bfloat16.h"

namespace muse::cuda {

__device__ inline float4 operator*(float a, float4 v) { return make_float4(a * v.x, a * v.y, a * v.z, a * v.w); }
__device__ inline void operator+=(float4& v, float4 w) {
  v.x += w.x;
  v.y += w.y;
  v.z += w.z;
  v.w += w.w;
}
__device__ inline float dot(float4 v, float4 w) { return v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w; }

// --- reading ---

__device__ inline float2 read_two(const float* p) { return *reinterpret_cast<const float2*>(p); }
__device__ inline float4 read_four(const float* p) { return *reinterpret_cast<const float4*>(p); }

__device__ inline float2 widen_two(unsigned pair) {
  return make_float2(widen({static_cast<std::uint16_t>(pair)}), widen({static_cast<std::uint16_t>(pair >> 16)}));
}
__device__ inline float4 widen_four(unsigned long long four) {
  const float2 low = widen_two(static_cast<unsigned>(four)), high = widen_two(static_cast<unsigned>(four >> 32));
  return make_float4(low.x, low.y, high.x, high.y);
}
__device__ inline float2 read_two(const Bfloat16* p) { return widen_two(*reinterpret_cast<const unsigned*>(p)); }
__device__ inline float4 read_four(const Bfloat16* p) {
  return widen_four(*reinterpret_cast<const unsigned long long*>(p));
}

// --- adding ---

// Adds to floats that other threads may be adding to.
__device__ inline void add_atomically(float* p, float2 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float2*>(p), v);
#else
  atomicAdd(p, v.x);
  atomicAdd(p + 1, v.y);
#endif
}
__device__ inline void add_atomically(float* p, float4 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(p), v);
#else
  add_atomically(p, make_float2(v.x, v.y));
  add_atomically(p + 2, make_float2(v.z, v.w));
#endif
}

// The same, whatever is stored: `column` is that of the first number in its row.
__device__ inline void add_atomically(float* p, float4 v, const Rounding&, int) { add_atomically(p, v); }
__device__ inline void add_atomically(float* p, float2 v, const Rounding&, int) { add_atomically(p, v); }

__device__ inline unsigned round_two(float2 v, std::uint64_t random) {
  return round_at_random(v.x, static_cast<unsigned>(random)).bits |
         static_cast<unsigned>(round_at_random(v.y, static_cast<unsigned>(random >> 16)).bits) << 16;
}
__device__ inline unsigned long long round_four(float4 v, std::uint64_t random) {
  return round_two(make_float2(v.x, v.y), random) |
         static_cast<unsigned long long>(round_two(make_float2(v.z, v.w), random >> 32)) << 32;
}

__device__ inline void add_atomically(Bfloat16* p, float4 v, const Rounding& rounding, int column) {
  auto* four = reinterpret_cast<unsigned long long*>(p);
  const std::uint64_t random = rounding.bits(column);
  for (unsigned long long seen = *four, old;; seen = old) {
    float4 sum = widen_four(seen);
    sum += v;
    old = atomicCAS(four, seen, round_four(sum, random));
    if (old == seen) return;
  }
}
__device__ inline void add_atomically(Bfloat16* p, float2 v, const Rounding& rounding, int column) {
  auto* two = reinterpret_cast<unsigned*>(p);
  const std::uint64_t random = rounding.bits(column);
  for (unsigned seen = *two, old;; seen = old) {
    const float2 sum = widen_two(seen);
    old = atomicCAS(two, seen, round_two(make_float2(sum.x + v.x, sum.y + v.y), random));
    if (old == seen) return;
  }
}

}  // namespace muse::cuda
