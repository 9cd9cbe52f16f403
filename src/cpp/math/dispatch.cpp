// Which kernel table runs here.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "math/kernels.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace muse {

extern const Kernels kKernels_baseline;
#if defined(__x86_64__) || defined(_M_X64)
extern const Kernels kKernels_avx2;
extern const Kernels kKernels_avx512;
#elif defined(__aarch64__)
extern const Kernels kKernels_neon;
extern const Kernels kKernels_dotprod;
#if defined(MUSE_SVE)
extern const Kernels kKernels_sve256;
extern const Kernels kKernels_sve512;
#endif
#endif

namespace {

#if defined(__aarch64__)
// Every Apple processor since the A11 has these, and Macs began with the A14.
bool has_dot_products() {
#if defined(__linux__)
  constexpr unsigned long kDotProducts = 1ul << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProducts) != 0;
#else
  return true;
#endif
}
#endif

#if defined(MUSE_SVE)
// Bits of a vector of the Scalable Vector Extension; 0 where there is none. Vectors of 128 bits bring nothing over
// NEON.
int scalable_bits() {
  constexpr unsigned long kSve = 1ul << 22;  // HWCAP_SVE
  if ((getauxval(AT_HWCAP) & kSve) == 0) return 0;
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : (length & PR_SVE_VL_LEN_MASK) * 8;
}

// With 256 bits the processor multiplies and adds as many numbers a cycle by four units of NEON as by two of SVE, and
// products have what they need in registers; kernels that load a row for each multiply-add, or nearly so, gain by loads
// that are twice as wide (docs/performance.md, "Processors of arm64").
const Kernels& sve256_kernels() {
  static const Kernels mixed = [] {
    Kernels k = kKernels_sve256;
    k.scores = kKernels_dotprod.scores;
    k.combine = kKernels_dotprod.combine;
    k.combine_add = kKernels_dotprod.combine_add;
    k.blend = kKernels_dotprod.blend;
    return k;
  }();
  return mixed;
}
#endif

}  // namespace

const Kernels* find_kernels(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
#if defined(__x86_64__) || defined(_M_X64)
  if (is("avx512")) {
    const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return runs ? &kKernels_avx512 : nullptr;
  }
  if (is("avx2")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kKernels_avx2 : nullptr;
#elif defined(__aarch64__)
  if (is("neon")) return &kKernels_neon;
  if (is("dotprod")) return has_dot_products() ? &kKernels_dotprod : nullptr;
#if defined(MUSE_SVE)
  if (is("sve256")) return scalable_bits() == 256 && has_dot_products() ? &sve256_kernels() : nullptr;
  if (is("sve512")) return scalable_bits() == 512 ? &kKernels_sve512 : nullptr;
#endif
#endif
  return is("baseline") ? &kKernels_baseline : nullptr;
}

const Kernels& kernels() {
  if (const char* forced = std::getenv("MUSE_ISA"); forced != nullptr && *forced != '\0') {
    if (const Kernels* table = find_kernels(forced)) return *table;
    std::string known;
    for (const char* name : kKernelNames)
      if (find_kernels(name) != nullptr) known += (known.empty() ? "" : ", ") + std::string(name);
    throw std::runtime_error(
        std::string("MUSE_ISA=") + forced +
        " names no kernel set that this build and processor can run; unset it or use one of: " + known);
  }
  const Kernels* best = nullptr;
  for (const char* name : kKernelNames)
    if (const Kernels* table = find_kernels(name)) best = table;
  return *best;
}

}  // namespace muse
