// Asynchronous copies from global to shared memory whose neighbours will be read too (cp.async with
// hints to both caches). Lowest SM: 80; below it a plain load and store. Device only.
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// cp.async.ca.L2::128B 16 bytes, both addresses multiples of 16: L1 keeps the line, L2 fetches all
// of it. `shared` is a shared_address().
__device__ __forceinline__ void cp_async_line_16(unsigned shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  const uint4 bits = *static_cast<const uint4*>(global);
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(bits.x), "r"(bits.y),
               "r"(bits.z), "r"(bits.w)
               : "memory");
#else
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(global)
               : "memory");
#endif
}

}  // namespace mygemm::ptx
