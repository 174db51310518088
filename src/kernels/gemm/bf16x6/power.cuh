// Six BF16 products: where products are small, a warp's elements of A are multiplied by a power of
// two, and its results by the inverse, so that the tensor cores' sums are not denormal. Neither
// changes a bit of a value. Device only.
#pragma once

#include <cstdint>

#include "kernels/gemm/tensor/notes.cuh"

namespace mygemm::bf16x6 {

constexpr int kBias = 127, kMostExponentOfA = 60;

__device__ __forceinline__ int exponent_of(float x) {  // x is not negative
  return static_cast<int>(__float_as_uint(x) >> 23) - kBias;
}
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + kBias) << 23);
}
__device__ __forceinline__ float inverse_of(float power) {
  return power_of_two(-exponent_of(power));
}
// The largest power with which A, of which `largest` is the largest element, is not too large.
__device__ __forceinline__ float most_for(float largest) {
  return power_of_two(min(kBias - 1, kMostExponentOfA - exponent_of(largest)));
}

// The power for a warp's elements of A, by the first k step: x of A, and of B a sum of magnitudes.
// It brings their products to about 1. 1 where they are large enough, all zero, or not finite.
template <int kCount>
__device__ __forceinline__ float power_for(const unsigned (&x)[kCount][4], float sum_of_b) {
  constexpr int kSmall = -40;
  float sum_of_a = 0.0f;
#pragma unroll
  for (int e = 0; e < 4 * kCount; ++e) sum_of_a += fabsf(__uint_as_float(x[e / 4][e % 4]));
  sum_of_a = tensor::largest_in_warp(sum_of_a);
  const int exponent = exponent_of(sum_of_a) + exponent_of(sum_of_b);
  if (exponent >= kSmall || sum_of_a == 0.0f || sum_of_b == 0.0f) return 1.0f;
  return fmaxf(1.0f, fminf(power_of_two(min(kBias - 1, -exponent)), most_for(sum_of_a)));
}

template <int kCount>
__device__ __forceinline__ float largest_of(const unsigned (&x)[kCount][4]) {
  float largest = 0.0f;
#pragma unroll
  for (int e = 0; e < 4 * kCount; ++e) {
    largest = fmaxf(largest, fabsf(__uint_as_float(x[e / 4][e % 4])));
  }
  return largest;
}

template <int kCount>
__device__ __forceinline__ void scale(unsigned (&x)[kCount][4], float power) {
#pragma unroll
  for (int e = 0; e < 4 * kCount; ++e) {
    unsigned& bits = x[e / 4][e % 4];
    bits = __float_as_uint(power * __uint_as_float(bits));
  }
}

}  // namespace mygemm::bf16x6
