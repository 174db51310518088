// Emulator of the CUDA runtime: IEEE binary16, as storage and conversions. Results equal a GPU's
// bit for bit: round to nearest even, subnormals kept, every NaN becomes 0x7FFF.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

struct alignas(2) __half {
  uint16_t bits;
};

struct alignas(4) __half2 {
  __half x, y;
};

inline float __half2float(__half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000) << 16;
  const uint32_t exponent = half.bits >> 10 & 0x1F;
  const uint32_t fraction = half.bits & 0x3FF;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24 is exact
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t wide_exponent = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

inline __half __float2half_rn(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const auto signed_half = [sign](uint32_t half) {
    return __half{static_cast<uint16_t>(sign | half)};
  };
  if (magnitude > 0x7F800000) return {0x7FFF};
  if (magnitude >= 0x477FF000) return signed_half(0x7C00);  // 65520 and more rounds to infinity
  if (magnitude < 0x38800000) {  // below 2^-14: adding 1/2 leaves the rounded multiple of 2^-24
    const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
    return signed_half(std::bit_cast<uint32_t>(aligned) - std::bit_cast<uint32_t>(0.5f));
  }
  const uint32_t rebased = magnitude - ((127 - 15) << 23);
  return signed_half((rebased + 0xFFF + (rebased >> 13 & 1)) >> 13);
}

inline unsigned short __half_as_ushort(__half half) { return half.bits; }
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }

inline __half __float2half(float value) { return __float2half_rn(value); }

inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}

inline float __low2float(__half2 pair) { return __half2float(pair.x); }
inline float __high2float(__half2 pair) { return __half2float(pair.y); }

// The larger and the smaller of each pair; a number beside a NaN.
inline __half2 __hmax2(__half2 a, __half2 b) {
  return __floats2half2_rn(std::fmax(__low2float(a), __low2float(b)),
                           std::fmax(__high2float(a), __high2float(b)));
}
inline __half2 __hmin2(__half2 a, __half2 b) {
  return __floats2half2_rn(std::fmin(__low2float(a), __low2float(b)),
                           std::fmin(__high2float(a), __high2float(b)));
}
