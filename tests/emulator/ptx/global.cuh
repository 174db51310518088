// Emulator of the CUDA runtime: stands in for src/ptx/global.cuh (any SM).
#pragma once

#include <cstdint>

#include "execution.h"
#include "vector_types.h"

namespace mygemm::ptx {

template <class T>
T* advanced(T* address, int64_t elements) {
  return address + elements;
}

inline float load_4(const float* address, bool valid) { return valid ? *address : 0.0f; }

inline float4 load_16(const float* address, bool valid) {
  if (valid && !emulator::is_multiple(address, 16)) {
    emulator::stop("misaligned load of 16 bytes from %p", static_cast<const void*>(address));
  }
  return valid ? *reinterpret_cast<const float4*>(address) : float4{0.0f, 0.0f, 0.0f, 0.0f};
}

inline uint4 load_once_16(const void* address) {
  if (!emulator::is_multiple(address, 16)) {
    emulator::stop("misaligned load of 16 bytes from %p", address);
  }
  return *static_cast<const uint4*>(address);
}

inline void store_release(unsigned* address, unsigned value) { *address = value; }

// Blocks run one after another, in the order of their numbers: what a block waits for is there, or
// never will be.
inline unsigned load_acquire(const unsigned* address) {
  if (*address == 0) emulator::stop("a flag that no block before this one has set");
  return *address;
}

}  // namespace mygemm::ptx
