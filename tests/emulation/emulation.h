// What tests can ask of the emulation.
#pragma once

#include <cstddef>

namespace emulation {

// In which order the warps of a block and the lanes of a warp take turns, which nothing that kernels compute may depend
// on, and in which the blocks of a grid do. Shuffled, a warp also goes no further at once than chance will have it.
enum class Order { kForward, kReversed, kShuffled };
void set_order(Order threads, Order blocks, unsigned seed);

// The free memory of the device, in bytes.
void set_memory(std::size_t bytes);

}  // namespace emulation
