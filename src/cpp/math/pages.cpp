#include "math/pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "math/padding.h"
#include "math/parallel.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace muse {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 4 * kHugePage;
[[maybe_unused]] constexpr std::size_t kMapped = kHugePage / 2;  // smaller blocks are left to the C library

// Stands on the line before a block.
struct Header {
  std::size_t mapped;  // bytes to unmap from the header on; 0: the C library's
};

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* begin_block(void* memory, std::size_t mapped) {
  *static_cast<Header*>(memory) = {mapped};
  return static_cast<char*>(memory) + kLine;
}

#if defined(__linux__)
// Pages of their own, which leave no holes in the heap and go back to the system at once.
void* map_zeros(std::size_t bytes) {
  const std::size_t unit = bytes >= kLarge ? kHugePage : std::size_t{4096};
  const std::size_t size = rounded(bytes + kLine, unit), slack = unit == kHugePage ? kHugePage : 0;
  void* found = mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* memory = static_cast<char*>(found);
  if (slack > 0) {
    const std::size_t skipped = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
    if (skipped > 0) munmap(memory, skipped);
    memory += skipped;
    if (slack > skipped) munmap(memory + size, slack - skipped);
    madvise(memory, size, MADV_HUGEPAGE);  // a wish: without huge pages all is as before
  }
  return begin_block(memory, size);
}
#endif

void touch(char* block, std::size_t bytes) {
  const int threads = std::min(cores(), 64);
  parallel_chunks(static_cast<std::int64_t>(rounded(bytes, kHugePage) / kHugePage), 1, threads, [block, bytes] {
    return [block, bytes](std::int64_t first, std::int64_t last) {
      const std::size_t begin = static_cast<std::size_t>(first) * kHugePage;
      std::memset(block + begin, 0, std::min(bytes, static_cast<std::size_t>(last) * kHugePage) - begin);
    };
  });
}

}  // namespace

void* allocate_zeros(std::size_t bytes, bool used) {
  if (bytes > SIZE_MAX / 2) return nullptr;
#if defined(__linux__)
  if (bytes >= kMapped) {
    void* block = map_zeros(bytes);
    if (block != nullptr && used && bytes >= kLarge) touch(static_cast<char*>(block), bytes);
    return block;
  }
#endif
  const std::size_t size = rounded(bytes + kLine, kLine);
  void* memory = std::aligned_alloc(kLine, size);
  if (memory == nullptr) return nullptr;
  if (bytes < kLarge || !used)
    std::memset(memory, 0, size);
  else
    touch(static_cast<char*>(memory), size);
  return begin_block(memory, 0);
}

float* allocate_rows(std::int64_t rows, std::int64_t dim, bool used) {
  constexpr std::int64_t kMostFloats = std::int64_t{1} << 56;
  if (rows > kMostFloats / padded(dim)) return nullptr;
  return static_cast<float*>(allocate_zeros(static_cast<std::size_t>(rows * padded(dim)) * sizeof(float), used));
}

void release_zeros(void* block) {
  void* memory = static_cast<char*>(block) - kLine;
  const std::size_t mapped = static_cast<Header*>(memory)->mapped;
#if defined(__linux__)
  if (mapped > 0) {
    munmap(memory, mapped);
    return;
  }
#endif
  std::free(memory);
}

void give_back_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace muse
