// Emulator of the CUDA runtime: stands in for src/ptx/mma.cuh (SM 80).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "execution.h"

namespace mygemm::ptx {

// The value of 16 bits of a pair.
template <bool kBf16>
double value_of_16_bits(unsigned pair, int which) {
  const auto bits = static_cast<uint16_t>(pair >> 16 * which);
  if constexpr (kBf16) return static_cast<double>(std::bit_cast<float>(unsigned{bits} << 16));
  return static_cast<double>(__half2float(std::bit_cast<__half>(bits)));
}

// Sums are rounded once, towards zero.
template <bool kBf16>
void mma_16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
            emulator::Site site = emulator::Site::here()) {
  const auto from_all = [&](unsigned first, unsigned second) {
    return emulator::exchange("mma", 0xffffffffu, uint64_t{second} << 32 | first, site);
  };
  const emulator::LaneValues near = from_all(a[0], a[1]), far = from_all(a[2], a[3]);
  const emulator::LaneValues columns = from_all(b[0], b[1]);
  const unsigned g = emulator::lane() / 4, t = emulator::lane() % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = g * 4, column = (2 * t + i % 2) * 4;  // their first lanes
    auto sum = static_cast<double>(d[i]);
    for (unsigned of = 0; of < 4; ++of) {
      for (const bool is_far : {false, true}) {
        const auto x = static_cast<unsigned>((is_far ? far : near)[row + of] >> (i / 2 * 32));
        const auto y = static_cast<unsigned>(columns[column + of] >> (is_far ? 32 : 0));
        for (const int which : {0, 1}) {
          sum += value_of_16_bits<kBf16>(x, which) * value_of_16_bits<kBf16>(y, which);
        }
      }
    }
    const auto nearest = static_cast<float>(sum);
    const bool is_larger =
        std::fabs(static_cast<double>(nearest)) > std::fabs(sum) && std::fabs(sum) < 0x1p128;
    d[i] = is_larger ? std::nextafterf(nearest, 0.0f) : nearest;
  }
}

}  // namespace mygemm::ptx
