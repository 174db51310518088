// exp() of a vector, in FP32 within 1.01 ulp over the whole range. Host backend; knows no kernel.
#pragma once

#include <cstdint>

#include "host/simd.h"

namespace mygemm::host {

constexpr float kExpRound = 0x1.8p23f;  // adding it rounds to an integer, found in the low bits

// exp(n ln 2 + r) for |r| <= ln(2) / 2, given n + kExpRound. Of a NaN n is arbitrary.
template <int kWidth>
[[gnu::always_inline]] inline void exponentiate_rest(const typename Simd<kWidth>::Float& shifted,
                                                     const typename Simd<kWidth>::Float& r,
                                                     typename Simd<kWidth>::Float& result) {
  using Float = typename Simd<kWidth>::Float;
  using Uint = typename Simd<kWidth>::Uint;
  // Minimax polynomial of (exp(r) - 1 - r) / r^2 (Cephes expf).
  Float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;

  // Times 2^n in two factors, because n reaches -150 and 128.
  Uint exponent;
  copy_bits(exponent, shifted);
  exponent += 1024u - 0x4b400000u;  // n + 1024 > 0
  const Uint half = exponent >> 1;
  const Uint low = (half - (512u - 127u)) << 23;
  const Uint high = (exponent - half - (512u - 127u)) << 23;
  Float factor;
  copy_bits(factor, low);
  result = p * factor;
  copy_bits(factor, high);
  result *= factor;
}

// Splits t of 2^t, in FP64, for exponentiate_rest(): into the integer nearest to t, and ln 2 times
// the rest. Less than -151 counts as that, which gives exactly 0; a NaN stays one.
template <int kWidth>
[[gnu::always_inline]] inline void split_exponent(typename Simd<kWidth>::Double t,
                                                  typename Simd<kWidth>::Float& integer,
                                                  typename Simd<kWidth>::Float& rest) {
  using Float = typename Simd<kWidth>::Float;
  using Double = typename Simd<kWidth>::Double;
  constexpr double kRound = 0x1.8p52;
  const Double zero{};
  t = t < -151.0 ? zero - 151.0 : t;
  const Double nearest = (t + kRound) - kRound;
  integer = __builtin_convertvector(nearest, Float);
  rest = __builtin_convertvector(t - nearest, Float) * 0.693147182f;
}

// x = exp(x). -inf gives exactly 0, NaN stays NaN, results may be subnormal or overflow to +inf.
template <int kWidth>
[[gnu::always_inline]] inline void exponentiate(typename Simd<kWidth>::Float& x) {
  using Float = typename Simd<kWidth>::Float;
  const Float zero{};
  // Beyond these the result is 0 or +inf. The comparisons are false for NaN, which stays.
  x = x < -104.0f ? zero - 104.0f : x;
  x = x > 89.0f ? zero + 89.0f : x;

  // x = n ln 2 + r with |r| <= ln(2) / 2.
  const Float shifted = x * 1.44269504f + kExpRound;
  const Float n = shifted - kExpRound;
  Float r = x - n * 0.693359375f;  // exact: the constant has 10 bits
  r = r + n * 2.12194440e-4f;      // the constant less ln 2
  exponentiate_rest<kWidth>(shifted, r, x);
}

}  // namespace mygemm::host
