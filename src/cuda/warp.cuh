// What the threads of a warp do together: sums, and rows of a matrix spread over their registers.
#pragma once

#include "floats.cuh"
#include "work.h"

namespace muse::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

extern __shared__ float4 shared_memory[];  // what a launch asked for

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_in_block() { return static_cast<int>(threadIdx.x) / kWarp; }
__device__ inline int warps_in_block() { return static_cast<int>(blockDim.x) / kWarp; }
__device__ inline int warp_in_grid() { return static_cast<int>(blockIdx.x) * warps_in_block() + warp_in_block(); }

// The sum over the warp's lanes, in all of them.
template <typename T>
__device__ inline T warp_sum(T x) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kAllLanes, x, offset);
  return x;
}

// A row of up to Quads * 128 floats in a warp's registers: lane l holds floats 4 (l + 32 n) to 4 (l + 32 n) + 3.
template <int Quads>
struct Row {
  float4 q[Quads];

  __device__ static Row zero() {
    Row r;
#pragma unroll
    for (int n = 0; n < Quads; ++n) r.q[n] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return r;
  }

  template <typename Number>
  __device__ static Row load(const Number* row, int dim) {
    Row r = zero();
#pragma unroll
    for (int n = 0; n < Quads; ++n) {
      const int at = 4 * (lane() + kWarp * n);
      if (at < dim) r.q[n] = read_four(row + at);
    }
    return r;
  }

  __device__ void store(float* row, int dim) const {
#pragma unroll
    for (int n = 0; n < Quads; ++n) {
      const int at = 4 * (lane() + kWarp * n);
      if (at < dim) *reinterpret_cast<float4*>(row + at) = q[n];
    }
  }

  // row += scale * this, beside other warps that add to it.
  template <typename Number>
  __device__ void add_to(Number* row, int dim, float scale, const Rounding& rounding) const {
#pragma unroll
    for (int n = 0; n < Quads; ++n) {
      const int at = 4 * (lane() + kWarp * n);
      if (at < dim) add_atomically(row + at, scale * q[n], rounding, at);
    }
  }

  __device__ void add(float scale, const Row& other) {
#pragma unroll
    for (int n = 0; n < Quads; ++n) q[n] += scale * other.q[n];
  }

  // This lane's part of the product with another row; warp_sum makes it whole.
  __device__ float part_of_dot(const Row& other) const {
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < Quads; ++n) sum += muse::cuda::dot(q[n], other.q[n]);
    return sum;
  }
};

template <int Quads>
__device__ inline float dot(const Row<Quads>& a, const Row<Quads>& b) {
  return warp_sum(a.part_of_dot(b));
}

// Sums `Count` numbers (a power of two) over the warp at once. Lane l ends with the sum of number *which; all lanes
// with the same l / (32 / Count) hold the same.
template <int Count>
__device__ inline float fold_sums(float (&x)[Count], int* which) {
  int width = kWarp / 2;
  *which = 0;
#pragma unroll
  for (int n = Count / 2; n >= 1; n /= 2, width /= 2) {
    const bool high = (lane() & width) != 0;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const float kept = high ? x[i + n] : x[i], given = high ? x[i] : x[i + n];
      x[i] = kept + __shfl_xor_sync(kAllLanes, given, width);
    }
    *which += high ? n : 0;
  }
  for (; width > 0; width /= 2) x[0] += __shfl_xor_sync(kAllLanes, x[0], width);
  return x[0];
}

}  // namespace muse::cuda
