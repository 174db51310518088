// 16-bit floats to FP32 and back by integer arithmetic, for one element or a vector of them, on
// any processor. Host backend; knows no kernel.
//
// Float and Uint are float and uint32_t, or vectors of them (simd.h). To 16 bits: round to nearest
// even, overflow to infinity, NaN stays NaN with its sign. Exact for subnormal numbers.
#pragma once

#include <cstdint>

#include "host/simd.h"

namespace mygemm::host {

template <class Uint, class Float>
[[gnu::always_inline]] inline void bf16_to_float(const Uint& bits, Float& value) {
  const Uint wide = bits << 16;
  copy_bits(value, wide);
}

template <class Uint, class Float>
[[gnu::always_inline]] inline void float_to_bf16(const Float& value, Uint& bits) {
  Uint wide;
  copy_bits(wide, value);
  const Uint magnitude = wide & 0x7fffffffu;
  const Uint rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
  const Uint quiet = (wide >> 16) | 0x40u;  // rounding could carry a NaN into infinity
  bits = magnitude > 0x7f800000u ? quiet : rounded;
}

template <class Uint, class Float>
[[gnu::always_inline]] inline void fp16_to_float(const Uint& bits, Float& value) {
  const Uint magnitude = (bits & 0x7fffu) << 13;
  // Multiplying by 2^112 moves the exponent bias from 15 to 127 and normalises subnormals.
  Float scaled;
  copy_bits(scaled, magnitude);
  scaled *= 0x1p112f;
  Uint wide;
  copy_bits(wide, scaled);
  const Uint special = magnitude | 0x7f800000u;  // infinities and NaN keep their mantissa
  wide = magnitude >= (0x7c00u << 13) ? special : wide;
  wide |= (bits & 0x8000u) << 16;
  copy_bits(value, wide);
}

template <class Uint, class Float>
[[gnu::always_inline]] inline void float_to_fp16(const Float& value, Uint& bits) {
  Uint wide;
  copy_bits(wide, value);
  const Uint magnitude = wide & 0x7fffffffu;
  // Normal: rebias by -112 and round away 13 bits of mantissa; a carry raises the exponent, at the
  // end into infinity.
  const Uint normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal: in the sum with 0.5 the last bit of the mantissa is worth 2^-24, as in the result.
  Float shifted;
  copy_bits(shifted, magnitude);
  shifted += 0.5f;
  Uint subnormal;
  copy_bits(subnormal, shifted);
  subnormal -= 0x3f000000u;
  const Uint infinity = Uint{} + 0x7c00u;
  const Uint quiet = infinity | 0x200u | ((magnitude >> 13) & 0x3ffu);
  Uint result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= (143u << 23) ? infinity : result;
  result = magnitude > 0x7f800000u ? quiet : result;
  bits = result | ((wide >> 16) & 0x8000u);
}

}  // namespace mygemm::host
