// Memory for the model's matrices.
#pragma once

#include <cstddef>

namespace muse {

// Zeroed memory on a cache line; nullptr where there is none, for release_zeros. Large blocks lie on huge pages where
// the system gives them, since a step reads rows from all over them; and their pages are first touched by many threads,
// so that a machine with several memory nodes spreads them over all.
void* allocate_zeros(std::size_t bytes);
void release_zeros(void* block);

}  // namespace muse
