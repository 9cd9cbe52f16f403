#include "emulation.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cuda_runtime.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace muse::cuda {
constexpr std::size_t kSharedBytes = 227 * 1024;  // of a block on compute capability 9.0
extern float4 shared_memory[kSharedBytes / sizeof(float4)];
float4 shared_memory[kSharedBytes / sizeof(float4)];
}  // namespace muse::cuda

namespace emulation {

namespace {

constexpr unsigned kWarp = 32;
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr std::size_t kStackBytes = (kSanitized ? 512 : 128) * 1024;
constexpr std::size_t kGuardBytes = 4096;  // of shared memory beyond what a launch asked for, which must stay as it is

// Tells the address sanitizer to which stack the program goes next, and that it has come there. A stack's token, null
// at first, is kept for when it is left and taken up again.
struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* token = nullptr;
};
#ifdef __SANITIZE_ADDRESS__
void leave(Stack& from, const Stack& to) { __sanitizer_start_switch_fiber(&from.token, to.bottom, to.size); }
void arrive(const Stack& at, Stack* from) {
  __sanitizer_finish_switch_fiber(at.token, from == nullptr ? nullptr : &from->bottom,
                                  from == nullptr ? nullptr : &from->size);
}
// Memory of the device that a kernel may not touch now.
void forbid(const void* memory, std::size_t bytes) { __asan_poison_memory_region(memory, bytes); }
void allow(const void* memory, std::size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
#else
void leave(Stack&, const Stack&) {}
void arrive(const Stack&, Stack*) {}
void forbid(const void*, std::size_t) {}
void allow(const void*, std::size_t) {}
#endif

enum class State { kRuns, kAtBarrier, kDone };

struct Fiber {
  std::unique_ptr<char[]> memory{new char[kStackBytes]};
  Stack stack{memory.get(), kStackBytes};
  ucontext_t context;
  jmp_buf jump;
  bool started = false;
  State state = State::kDone;
  unsigned thread = 0;
  unsigned collectives = 0;  // this thread's, so that its lanes can be matched
};

// What the lanes of a warp leave for each other; collectives take the two places in turn.
struct Meeting {
  std::uint64_t values[kWarp];
  unsigned arrived = 0, left = 0;
};
struct Warp {
  Meeting meetings[2];
};

struct Scheduler {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  Fiber* current = nullptr;
  Stack stack;  // the program's own
  jmp_buf jump;
  const std::function<void()>* kernel = nullptr;
  bool progress = false;
  std::string error;
};

Scheduler scheduler;
Order order = Order::kForward, block_order = Order::kForward;
std::mt19937 generator;
std::size_t memory_limit = std::size_t{1} << 40;

// Back to the scheduler, until it takes this fiber up again.
void yield() {
  Fiber& fiber = *scheduler.current;
  leave(fiber.stack, scheduler.stack);
  if (_setjmp(fiber.jump) == 0) _longjmp(scheduler.jump, 1);
  arrive(fiber.stack, &scheduler.stack);
}

void live() {
  arrive(scheduler.current->stack, &scheduler.stack);
  for (;;) {
    (*scheduler.kernel)();
    scheduler.current->state = State::kDone;
    yield();
  }
}

void resume(Fiber& fiber) {
  scheduler.current = &fiber;
  threadIdx = dim3(fiber.thread);
  leave(scheduler.stack, fiber.stack);
  if (_setjmp(scheduler.jump) != 0) return arrive(scheduler.stack, nullptr);
  if (fiber.started) _longjmp(fiber.jump, 1);
  fiber.started = true;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.memory.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, live, 0);
  setcontext(&fiber.context);
}

std::vector<unsigned> in_order(unsigned count, Order wanted) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  if (wanted == Order::kReversed) std::reverse(numbers.begin(), numbers.end());
  if (wanted == Order::kShuffled) std::shuffle(numbers.begin(), numbers.end(), generator);
  return numbers;
}

// Runs a warp until none of its lanes can go on alone, or, shuffled, until some time before; whether any did.
bool run_warp(unsigned warp, unsigned threads) {
  bool any = false;
  do {
    scheduler.progress = false;
    for (const unsigned lane : in_order(std::min(kWarp, threads - warp * kWarp), order)) {
      Fiber& fiber = *scheduler.fibers[warp * kWarp + lane];
      if (fiber.state == State::kRuns) resume(fiber);
    }
    any = any || scheduler.progress;
  } while (scheduler.progress && (order != Order::kShuffled || generator() % 4 != 0));
  return any;
}

bool run_block(unsigned threads) {
  scheduler.warps.assign((threads + kWarp - 1) / kWarp, Warp{});
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = *scheduler.fibers[t];
    fiber.thread = t;
    fiber.state = State::kRuns;
    fiber.collectives = 0;
  }
  const auto in_state = [&](State state) {
    return std::all_of(scheduler.fibers.begin(), scheduler.fibers.begin() + threads,
                       [&](const auto& fiber) { return fiber->state == state || fiber->state == State::kDone; });
  };
  while (!in_state(State::kDone)) {
    bool any = false;
    for (const unsigned warp : in_order(static_cast<unsigned>(scheduler.warps.size()), order))
      any = run_warp(warp, threads) || any;
    if (in_state(State::kDone)) break;
    if (in_state(State::kAtBarrier)) {
      for (unsigned t = 0; t < threads; ++t)
        if (scheduler.fibers[t]->state == State::kAtBarrier) scheduler.fibers[t]->state = State::kRuns;
    } else if (!any) {
      return false;
    }
  }
  return true;
}

}  // namespace

void set_order(Order threads, Order blocks, unsigned seed) {
  order = threads;
  block_order = blocks;
  generator.seed(seed);
}
void set_memory(std::size_t bytes) { memory_limit = bytes; }

int lane() { return static_cast<int>(threadIdx.x % kWarp); }

const std::uint64_t* exchange(unsigned mask, std::uint64_t value) {
  Fiber& fiber = *scheduler.current;
  Meeting& meeting = scheduler.warps[fiber.thread / kWarp].meetings[fiber.collectives++ % 2];
  meeting.values[fiber.thread % kWarp] = value;
  meeting.arrived |= 1u << (fiber.thread % kWarp);
  scheduler.progress = true;
  while ((meeting.arrived & mask) != mask) yield();
  scheduler.progress = true;
  meeting.left |= 1u << (fiber.thread % kWarp);
  if (meeting.left == mask) meeting.arrived = meeting.left = 0;
  return meeting.values;
}

cudaError_t run(const cudaLaunchConfig_t& config, const std::function<void()>& kernel) {
  const unsigned threads = config.blockDim.x;
  const std::size_t shared = config.dynamicSmemBytes;
  if (threads == 0 || threads > 1024 || threads % kWarp != 0 || shared > muse::cuda::kSharedBytes ||
      config.gridDim.x == 0 || config.gridDim.y == 0 || config.gridDim.y > 65535)
    return cudaErrorInvalidValue;
  while (scheduler.fibers.size() < threads) scheduler.fibers.push_back(std::make_unique<Fiber>());
  scheduler.kernel = &kernel;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  auto* memory = reinterpret_cast<unsigned char*>(muse::cuda::shared_memory);
  const std::size_t guarded = std::min(muse::cuda::kSharedBytes, shared + kGuardBytes);
  for (const unsigned y : in_order(config.gridDim.y, block_order))
    for (const unsigned x : in_order(config.gridDim.x, block_order)) {
      blockIdx = dim3(x, y);
      std::memset(memory, 0xcd, guarded);  // shared memory starts with anything
      forbid(memory + shared, muse::cuda::kSharedBytes - shared);
      const bool ended = run_block(threads);
      allow(memory, muse::cuda::kSharedBytes);
      if (!ended) {
        scheduler.fibers.clear();  // they wait for lanes that never come
        return cudaErrorLaunchFailure;
      }
      for (std::size_t i = shared; i < guarded; ++i)
        if (memory[i] != 0xcd) return cudaErrorLaunchFailure;
    }
  return cudaSuccess;
}

}  // namespace emulation

void __syncthreads() {
  emulation::Fiber& fiber = *emulation::scheduler.current;
  fiber.state = emulation::State::kAtBarrier;
  emulation::scheduler.progress = true;
  while (fiber.state == emulation::State::kAtBarrier) emulation::yield();
}

int __syncthreads_or(int predicate) {
  static int any = 0;  // of the one block that runs
  any |= predicate != 0;
  __syncthreads();
  const int result = any;
  __syncthreads();
  any = 0;
  __syncthreads();
  return result;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidValue:
      return "invalid launch";
    case cudaErrorLaunchFailure:
      return "lanes or threads wait for others that never come, or a block writes beyond its shared memory";
    default:
      return "error of the emulation";
  }
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulation", emulation::memory_limit, 1, 9, 0};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = static_cast<int>(muse::cuda::kSharedBytes);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = emulation::memory_limit;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  // No longer than asked for, so that the address sanitizer sees what goes beyond it.
  return posix_memalign(pointer, 256, bytes) == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* pointer) {
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  return cudaSuccess;
}
