// Division by a number that is known before the launch.
#pragma once

#include <cstdint>

namespace mygemm {

// a / b for 0 <= a < 2^16 by a multiplication; exact for 1 <= b < 2^16.
struct Divisor {
  unsigned value, reciprocal;

  explicit Divisor(int64_t b)
      : value(static_cast<unsigned>(b)),
        reciprocal(static_cast<unsigned>((uint64_t{1} << 32) / static_cast<uint64_t>(b)) +
                   (b > 1 ? 1u : 0u)) {}
  __device__ __forceinline__ unsigned quotient(unsigned a) const {
    return value == 1 ? a : __umulhi(a, reciprocal);
  }
};

}  // namespace mygemm
