// Division by a number that the host knows, as a multiplication: the dozens of dependent
// instructions of a division are a noticeable latency in a kernel of a few microseconds. Pure.
#pragma once

#include <cstdint>

namespace mygemm {

// n / divisor = n * ceil(2^p / divisor) / 2^p for all n < 2^31, where p = 31 + ceil(log2 divisor):
// what rounding adds to the factor is less than divisor / 2^p, so to the quotient less than
// n / 2^p <= 1 / divisor (Granlund and Montgomery, Division by Invariant Integers, 1994).
class Divisor {
 public:
  // 1 <= divisor < 2^31
  constexpr explicit Divisor(unsigned divisor) : divisor_(divisor) {
    while (uint64_t{1} << log2_ < divisor) ++log2_;
    factor_ = static_cast<unsigned>(((uint64_t{1} << (31 + log2_)) + divisor - 1) / divisor);
  }

  // n < 2^31
  constexpr unsigned quotient(unsigned n) const {
    return static_cast<unsigned>(uint64_t{2 * n} * factor_ >> 32) >> log2_;
  }
  constexpr unsigned value() const { return divisor_; }

 private:
  unsigned divisor_;
  unsigned factor_ = 0;  // at most 2^31, where the divisor is a power of two, or less than 2^32
  unsigned log2_ = 0;    // rounded up
};

}  // namespace mygemm
