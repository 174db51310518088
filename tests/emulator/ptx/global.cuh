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

inline unsigned load_2_bytes(const void* address, bool valid) {
  if (valid && !emulator::is_multiple(address, 2)) {
    emulator::stop("misaligned load of 2 bytes from %p", address);
  }
  return valid ? *static_cast<const uint16_t*>(address) : 0;
}

inline uint2 load_8_bytes(const void* address, bool valid) {
  if (valid && !emulator::is_multiple(address, 8)) {
    emulator::stop("misaligned load of 8 bytes from %p", address);
  }
  return valid ? *static_cast<const uint2*>(address) : uint2{0, 0};
}

inline uint4 load_16_bytes(const void* address, bool valid) {
  if (valid && !emulator::is_multiple(address, 16)) {
    emulator::stop("misaligned load of 16 bytes from %p", address);
  }
  return valid ? *static_cast<const uint4*>(address) : uint4{0, 0, 0, 0};
}

inline uint4 load_once_16(const void* address) {
  if (!emulator::is_multiple(address, 16)) {
    emulator::stop("misaligned load of 16 bytes from %p", address);
  }
  return *static_cast<const uint4*>(address);
}

inline void store_release(unsigned* address, unsigned value) {
  *address = value;
  emulator::wake_waiters(address);
}

// Flags are 0 until they are set. Only one that is set is returned: the thread waits until then,
// so that a wait without end is a deadlock, which is reported.
inline unsigned load_acquire(const unsigned* address,
                             emulator::Site site = emulator::Site::here()) {
  while (*address == 0) emulator::wait_for_flag(address, site);
  return *address;
}

}  // namespace mygemm::ptx
