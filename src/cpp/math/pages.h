// Memory for the model's matrices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muse {

// Zeroed memory on a cache line; nullptr where there is none, for release_zeros. Large blocks lie on huge pages where
// the system gives them, since a step reads rows from all over them; and their pages are first touched by many threads,
// so that a machine with several memory nodes spreads them over all. A block that may never be used takes no memory
// until it is.
void* allocate_zeros(std::size_t bytes, bool used = true);
void release_zeros(void* block);

// The same for a matrix whose rows, of `dim` floats, lie padded(dim) floats apart; also nullptr where there are more of
// them than any memory holds.
float* allocate_rows(std::int64_t rows, std::int64_t dim, bool used = true);

// Gives the system what is free in the C library's heap, which keeps it otherwise: worth its few milliseconds after a
// stage that needed much.
void give_back_memory();

}  // namespace muse
