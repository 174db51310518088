// Arithmetic that CUDA has no function for. Any SM. Device only.
#pragma once

namespace mygemm::ptx {

// ex2.approx.ftz: 2^x within 2 ulp; results below 2^-126 become 0.
__device__ __forceinline__ float exp2_approx(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

// rcp.approx.ftz: 1 / x within 1 ulp; infinite for x below 2^-126, and 0 where the result would be.
__device__ __forceinline__ float reciprocal_approx(float x) {
  float value;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

// max.NaN: the larger one, or a NaN where x is one; y is none. SM 80 has the instruction.
__device__ __forceinline__ float max_or_nan(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(x), "f"(y));
  return value;
#else
  return x < y ? y : x;
#endif
}

// The same where y may be a NaN too.
__device__ __forceinline__ float max_with_nan(float x, float y) {
#if __CUDA_ARCH__ >= 800
  return max_or_nan(x, y);
#else
  return x > y || x != x ? x : y;
#endif
}

// fma.rn: d += a * b. The compiler keeps the order of these, unlike that of fmaf: the order
// determines how many operands an instruction reads from the same bank of registers.
__device__ __forceinline__ void fma_in_order(float& d, float a, float b) {
  asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(d) : "f"(a), "f"(b));
}

// add.rn: d += a. The compiler does not move it behind later instructions.
__device__ __forceinline__ void add_in_order(float& d, float a) {
  asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(d) : "f"(a));
}

// mul.rn.ftz: a * b, or 0 where that is below 2^-126.
__device__ __forceinline__ float multiply_or_flush(float a, float b) {
  float value;
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}

// cvt.rn.bf16x2: two values rounded to BF16, x in the lower half.
__device__ __forceinline__ unsigned pack_bf16(float x, float y) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}

}  // namespace mygemm::ptx
