// What tests can ask of the emulation.
#pragma once

#include <cstddef>

namespace emulation {

// In which order the warps of a block, and the lanes of a warp, take turns: what kernels compute must not depend on it.
enum class Order { kForward, kReversed, kShuffled };
void set_order(Order wanted);

// The free memory of the device, in bytes.
void set_memory(std::size_t bytes);

}  // namespace emulation
