// Arithmetic that CUDA has no function for. Any SM. Device only.
#pragma once

namespace mygemm::ptx {

// ex2.approx.ftz: 2^x within 2 ulp; results below 2^-126 become 0.
__device__ __forceinline__ float exp2_approx(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

}  // namespace mygemm::ptx
