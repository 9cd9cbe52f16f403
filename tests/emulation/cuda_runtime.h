// A CUDA runtime that is the host itself: what src/cuda/ needs of <cuda_runtime.h>, for tests on machines without a
// device. The kernels compile as C++ from the same source; emulation.cpp runs the threads of a block as fibers.
//
// Blocks run one after another, a warp as far as it can get before the next one, unless tests ask for another order
// (emulation.h). So warps without a barrier between them run in order, as if they were groups of the CPU's step. What
// the emulation checks: that lanes of a warp meet in its collectives, that barriers are reached, that a block keeps
// within its shared memory, and that no launch is malformed. What it cannot show: races between blocks, and speed.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(threads)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }

extern dim3 threadIdx, blockIdx, blockDim, gridDim;

// --- what threads do together ---

namespace emulation {
// Leaves a value for the other lanes of the warp, waits for theirs, and returns all 32.
const std::uint64_t* exchange(unsigned mask, std::uint64_t value);
int lane();

template <typename T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <typename T>
T from_lane(unsigned mask, T value, int lane) {
  const std::uint64_t* all = exchange(mask, bits_of(value));
  T result;
  std::memcpy(&result, all + lane, sizeof(T));
  return result;
}
}  // namespace emulation

void __syncthreads();
int __syncthreads_or(int predicate);
inline void __syncwarp(unsigned mask = 0xffffffffu) { emulation::exchange(mask, 0); }
template <typename T>
T __shfl_sync(unsigned mask, T value, int from) {
  return emulation::from_lane(mask, value, from & 31);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return emulation::from_lane(mask, value, emulation::lane() ^ lanes);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes) {
  const int from = emulation::lane() - static_cast<int>(lanes);
  return emulation::from_lane(mask, value, from < 0 ? emulation::lane() : from);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const std::uint64_t* all = emulation::exchange(mask, predicate != 0);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= static_cast<unsigned>(all[lane]) << lane;
  return ballot;
}
inline int __ffs(int x) { return __builtin_ffs(x); }

template <typename T>
T atomicAdd(T* address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}
template <typename T>
T atomicCAS(T* address, T expected, T value) {
  const T before = *address;
  if (before == expected) *address = value;
  return before;
}
inline int atomicExch(int* address, int value) {
  const int before = *address;
  *address = value;
  return before;
}

// --- the host's side ---

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorInvalidValue,
  cudaErrorLaunchFailure,
  cudaErrorNotReady,
  cudaErrorNoDevice,
  cudaErrorInsufficientDriver,
  cudaErrorStubLibrary
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;
using cudaStream_t = int*;
using cudaEvent_t = int*;
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  int multiProcessorCount, major, minor;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind);
inline cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); }
inline cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }
inline cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(pointer, value, bytes);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
struct cudaFuncAttributes {};
template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, void (*)(Parameters...)) {
  return cudaSuccess;
}
template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*)(Parameters...), cudaFuncAttribute, int) {
  return cudaSuccess;
}

namespace emulation {
cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& kernel);
}
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  return emulation::run(*config, [&] { kernel(arguments...); });
}
