// Test support: inputs. One fixed seed each, named by the caller and printed where a test fails;
// the same values with every compiler and library.
#pragma once

#include <cstdint>

namespace mygemm_tests {

// Steele, Lea and Flood's SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [low, high], evenly.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % (static_cast<uint64_t>(high - low) + 1));
  }
  // In [low, high), with 53 random bits.
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  template <class T>
  const T& pick(const T* values, int64_t count) {
    return values[integer(0, count - 1)];
  }

 private:
  uint64_t state_;
};

}  // namespace mygemm_tests
