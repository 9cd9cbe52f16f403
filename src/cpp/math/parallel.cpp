#include "math/parallel.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace muse {

int cores() {
#if defined(__linux__)
  // The kernel refuses a set that is smaller than its own, whose size it does not tell.
  for (int known = 1024; known <= 1 << 20; known *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(known));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(known));
    const int found = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (found > 0) return found;
  }
#endif
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace muse
