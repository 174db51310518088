// exp() of a vector of FP32, within 1.01 ulp over the whole range. Host backend; knows no kernel.
#pragma once

#include <cstdint>

#include "host/simd.h"

namespace mygemm::host {

// x = exp(x). -inf gives exactly 0, NaN stays NaN, results may be subnormal or overflow to +inf.
template <int kWidth>
[[gnu::always_inline]] inline void exponentiate(typename Simd<kWidth>::Float& x) {
  using Float = typename Simd<kWidth>::Float;
  using Uint = typename Simd<kWidth>::Uint;
  const Float zero{};
  // Beyond these the result is 0 or +inf. The comparisons are false for NaN, which stays.
  x = x < -104.0f ? zero - 104.0f : x;
  x = x > 89.0f ? zero + 89.0f : x;

  // x = n ln 2 + r with |r| <= ln(2) / 2. Adding 1.5 * 2^23 rounds to an integer, which is then
  // found in the low bits.
  constexpr float kRound = 0x1.8p23f;
  const Float shifted = x * 1.44269504f + kRound;
  const Float n = shifted - kRound;
  Float r = x - n * 0.693359375f;  // exact: the constant has 10 bits
  r = r + n * 2.12194440e-4f;      // the constant less ln 2

  // Minimax polynomial of (exp(r) - 1 - r) / r^2 (Cephes expf).
  Float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;

  // Times 2^n in two factors, because n reaches -150 and 128. Of a NaN n is arbitrary, and p NaN.
  Uint exponent;
  copy_bits(exponent, shifted);
  exponent += 1024u - 0x4b400000u;  // n + 1024 > 0
  const Uint half = exponent >> 1;
  const Uint low = (half - (512u - 127u)) << 23;
  const Uint high = (exponent - half - (512u - 127u)) << 23;
  Float factor;
  copy_bits(factor, low);
  x = p * factor;
  copy_bits(factor, high);
  x *= factor;
}

}  // namespace mygemm::host
