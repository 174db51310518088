// Emulator of the CUDA runtime: stands in for src/ptx/math.cuh (any SM).
#pragma once

#include <cfloat>
#include <cmath>

#include "cuda_bf16.h"

namespace mygemm::ptx {

// An input below 2^-126 counts as zero on a GPU, which gives the same: 1.
inline float exp2_approx(float x) {
  const float value = std::exp2(x);
  return value < FLT_MIN ? 0.0f : value;
}

inline float reciprocal_approx(float x) {
  const float value = 1.0f / (std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x);
  return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value;
}

inline float max_or_nan(float x, float y) { return x < y ? y : x; }

inline float max_with_nan(float x, float y) { return x > y || x != x ? x : y; }

inline void fma_in_order(float& d, float a, float b) { d = std::fma(a, b, d); }

inline void add_in_order(float& d, float a) { d += a; }

inline float multiply_or_flush(float a, float b) {
  const float product = a * b;
  return std::fabs(product) < 0x1p-126f ? std::copysign(0.0f, product) : product;
}

inline unsigned pack_bf16(float x, float y) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(x)) |
         static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(y))) << 16;
}

}  // namespace mygemm::ptx
