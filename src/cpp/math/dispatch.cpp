// Which kernel table runs here.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "math/kernels.h"

namespace muse {

extern const Kernels kKernels_baseline;
#if defined(__x86_64__) || defined(_M_X64)
extern const Kernels kKernels_avx2;
extern const Kernels kKernels_avx512;
#endif

const Kernels* find_kernels(const char* name) {
#if defined(__x86_64__) || defined(_M_X64)
  if (std::strcmp(name, "avx512") == 0) {
    const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return runs ? &kKernels_avx512 : nullptr;
  }
  if (std::strcmp(name, "avx2") == 0)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kKernels_avx2 : nullptr;
#endif
  return std::strcmp(name, "baseline") == 0 ? &kKernels_baseline : nullptr;
}

const Kernels& kernels() {
  if (const char* forced = std::getenv("MUSE_ISA"); forced != nullptr && *forced != '\0') {
    if (const Kernels* table = find_kernels(forced)) return *table;
    throw std::runtime_error(std::string("MUSE_ISA=") + forced +
                             " names no kernel set that this build and processor can run; "
                             "unset it or use one of: baseline, avx2, avx512");
  }
  for (const char* name : {"avx512", "avx2"})
    if (const Kernels* table = find_kernels(name)) return *table;
  return kKernels_baseline;
}

}  // namespace muse
