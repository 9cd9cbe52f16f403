// The CUDA runtime with exceptions and destructors.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend.h"

namespace muse::cuda {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(error));
}

struct Free {
  void operator()(void* p) const { cudaFree(p); }
};
struct FreePinned {
  void operator()(void* p) const { cudaFreeHost(p); }
};

inline std::string size_in_words(std::size_t bytes) {
  char text[32];
  const auto size = static_cast<double>(bytes);
  if (size < 1e9)
    std::snprintf(text, sizeof(text), "%.1f MB", size / 1e6);
  else
    std::snprintf(text, sizeof(text), "%.1f GB", size / 1e9);
  return text;
}

[[noreturn]] inline void refuse(const std::string& purpose, std::size_t needed, std::size_t free,
                                const std::string& advice) {
  throw OutOfMemory(purpose + " needs " + size_in_words(needed) + " of the device's memory, of which " +
                    size_in_words(free) + " are free; " + advice + "use device='cpu'");
}

inline std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

// Shared memory that a block can ask for.
inline std::int64_t shared_limit() {
  int limit = 0;
  check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "reading the device's limits");
  return limit;
}

// Device memory for all of a purpose: first every array is asked for, then they are allocated together, or refused
// together. The purpose and what to do without so much memory are for the message.
class DeviceMemory {
 public:
  DeviceMemory(std::string purpose, std::string advice) : purpose_(std::move(purpose)), advice_(std::move(advice)) {}

  // `pointer` points at `count` elements after allocate(); none asked for, it is null.
  template <typename T>
  void ask(T*& pointer, std::size_t count) {
    pointer = nullptr;
    if (count == 0) return;
    wanted_.push_back({reinterpret_cast<void**>(const_cast<std::remove_const_t<T>**>(&pointer)), count * sizeof(T)});
    bytes_ += count * sizeof(T);
  }
  void ask(void*& pointer, std::size_t bytes) {
    char* memory = nullptr;
    ask(memory, bytes);
    pointer = nullptr;
    if (bytes > 0) wanted_.back().pointer = &pointer;
  }

  // Zeroed memory. Throws OutOfMemory, with the figures, before anything is allocated.
  void allocate() {
    if (const std::size_t free = free_memory(); bytes_ > free) refuse(purpose_, bytes_, free, advice_);
    for (const auto& [pointer, bytes] : wanted_) {
      void* memory = nullptr;
      const cudaError_t error = cudaMalloc(&memory, bytes);
      if (error == cudaErrorMemoryAllocation) {  // in pieces too small, or taken by another process just now
        cudaGetLastError();                      // or the next launch would be blamed for it
        refuse(purpose_, bytes_, free_memory(), advice_);
      }
      check(error, "allocating device memory");
      owned_.emplace_back(memory);
      check(cudaMemset(memory, 0, bytes), "clearing device memory");
      *pointer = memory;
    }
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Wanted {
    void** pointer;
    std::size_t bytes;
  };
  std::string purpose_, advice_;
  std::vector<Wanted> wanted_;
  std::vector<std::unique_ptr<void, Free>> owned_;
  std::size_t bytes_ = 0;
};

// Device memory that grows with what is asked of it.
template <typename T>
class Buffer {
 public:
  explicit Buffer(const char* purpose) : purpose_(purpose) {}

  // Room for `count` elements; what was there is lost.
  T* of(std::size_t count) {
    if (count > count_) {
      memory_.emplace(purpose_, "give it fewer queries at once, or ");
      count_ = 0;
      memory_->ask(data_, count);
      memory_->allocate();
      count_ = count;
    }
    return data_;
  }

 private:
  const char* purpose_;
  std::optional<DeviceMemory> memory_;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Host memory that the device copies from and to while the host goes on.
template <typename T>
class Pinned {
 public:
  explicit Pinned(std::size_t count) {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, count * sizeof(T) + 1), "allocating pinned memory");
    data_.reset(static_cast<T*>(memory));
  }
  T* data() const { return data_.get(); }
  T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  std::unique_ptr<T, FreePinned> data_;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "running kernels"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  void record(const Stream& stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  void hold(const Stream& stream) const { check(cudaStreamWaitEvent(stream, event_, 0), "waiting for an event"); }
  void wait() const { check(cudaEventSynchronize(event_), "running kernels"); }
  bool has_come() const {
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady) return false;
    check(error, "running kernels");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

template <typename T>
void copy_async(T* to, const T* from, std::size_t count, cudaMemcpyKind kind, const Stream& stream) {
  if (count > 0) check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream), "copying");
}

// Waits for uploads: they are done when they return only as far as the host's memory is concerned, and streams of ours
// do not wait for the default one.
inline void finish_uploads() { check(cudaDeviceSynchronize(), "copying to the device"); }

template <typename T>
void upload(const T* to, const T* from, std::size_t count) {
  if (count == 0) return;
  check(cudaMemcpy(const_cast<T*>(to), from, count * sizeof(T), cudaMemcpyHostToDevice), "copying to the device");
}

// Starts a kernel; `shared` bytes of dynamic shared memory a block.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared, const Stream& stream,
            Arguments... arguments) {
  if (grid.x == 0 || grid.y == 0) return;
  constexpr std::size_t kAlwaysThere = 48 * 1024;
  if (shared > kAlwaysThere)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "reserving shared memory");
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "starting a kernel");
}

// Calls f(std::integral_constant<int, Quads>) with enough quads of 128 floats for rows of `dim` floats.
inline constexpr int kLongestRow = 1024;
template <typename F>
void with_quads(int dim, const F& f) {
  switch ((dim + 127) / 128) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
    case 6:
      return f(std::integral_constant<int, 6>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

}  // namespace muse::cuda
