// Asks the processor for its vector instructions, once. Host backend; knows no kernel.
#include "host/simd.h"

namespace mygemm::host {

SimdLevel simd_level() {
#if defined(__x86_64__)
  static const SimdLevel level = [] {
    if (__builtin_cpu_supports("avx512f")) return SimdLevel::kAvx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SimdLevel::kAvx2;
    return SimdLevel::kBaseline;
  }();
  return level;
#else
  return SimdLevel::kBaseline;
#endif
}

}  // namespace mygemm::host
