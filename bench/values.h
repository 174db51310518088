// Input values and their 16-bit encodings, the same on the host and on the device. Lowest layer of
// mygemm-bench: constexpr functions only, includes nothing of the project but the ABI.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "mygemm/mygemm.h"

namespace bench {

constexpr size_t type_bytes(mygemmDataType_t type) { return type == MYGEMM_R_32F ? 4 : 2; }

// A bijection on 32 bits that looks random (lowbias32): data needs no state, so any element can be
// made by any thread.
constexpr uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

// Element `index` of stream `seed`, uniform in (-1, 1). Random data, since a GPU's power and with
// it its clock depend on how many bits toggle.
constexpr float random_value(uint32_t seed, int64_t index) {
  const uint32_t low = static_cast<uint32_t>(index);
  const uint32_t high = static_cast<uint32_t>(static_cast<uint64_t>(index) >> 32);
  const uint32_t bits = mix(low ^ mix(high ^ mix(seed)));
  return (static_cast<float>(bits >> 9) + 0.5f) * 0x1p-22f - 1.0f;
}

// binary32 to bfloat16 and binary16, rounded towards zero. to_half() takes |value| < 2 and flushes
// subnormal results to zero, which is all that random_value() needs.
constexpr uint16_t to_bfloat16(float value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
}

constexpr uint16_t to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 23) & 0xffu) - 127 + 15;
  if (exponent <= 0) {
    return static_cast<uint16_t>(sign);
  }
  return static_cast<uint16_t>(sign | (static_cast<uint32_t>(exponent) << 10) |
                               ((bits >> 13) & 0x3ffu));
}

constexpr float from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

constexpr float from_half(uint16_t bits) {
  const float sign = (bits & 0x8000u) ? -1.0f : 1.0f;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    return sign * static_cast<float>(fraction) * 0x1p-24f;
  }
  const uint32_t exponent32 = exponent == 31 ? 255u : exponent - 15 + 127;
  return sign * std::bit_cast<float>((exponent32 << 23) | (fraction << 13));
}

// Writes element `index` of an array of `type`.
constexpr void store_random(void* data, mygemmDataType_t type, int64_t index, uint32_t seed) {
  const float value = random_value(seed, index);
  if (type == MYGEMM_R_32F) {
    static_cast<float*>(data)[index] = value;
  } else {
    static_cast<uint16_t*>(data)[index] =
        type == MYGEMM_R_16F ? to_half(value) : to_bfloat16(value);
  }
}

}  // namespace bench
