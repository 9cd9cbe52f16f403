#include "pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "parallel.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace muse {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 4 * kHugePage;

}  // namespace

void* allocate_zeros(std::size_t bytes) {
  const std::size_t unit = bytes >= kLarge ? kHugePage : kLine;
  if (bytes > SIZE_MAX - unit) return nullptr;
  const std::size_t size = std::max(unit, (bytes + unit - 1) / unit * unit);
  void* block = std::aligned_alloc(unit, size);
  if (block == nullptr) return nullptr;
  if (unit == kLine) {
    std::memset(block, 0, size);
    return block;
  }
#if defined(__linux__)
  madvise(block, size, MADV_HUGEPAGE);  // a wish: without huge pages all is as before
#endif
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
  parallel_chunks(static_cast<std::int64_t>(size / kHugePage), 1, threads, [block] {
    return [block](std::int64_t first, std::int64_t last) {
      std::memset(static_cast<char*>(block) + static_cast<std::size_t>(first) * kHugePage, 0,
                  static_cast<std::size_t>(last - first) * kHugePage);
    };
  });
  return block;
}

void release_zeros(void* block) { std::free(block); }

}  // namespace muse
