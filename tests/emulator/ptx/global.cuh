// Emulator of the CUDA runtime: stands in for src/ptx/global.cuh (any SM).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "vector_types.h"

namespace mygemm::ptx {

inline uint4 load_once_16(const void* address) {
  // A GPU stops with "misaligned address".
  if (reinterpret_cast<uintptr_t>(address) % 16 != 0) {
    std::fprintf(stderr, "emulator: misaligned load of 16 bytes from %p\n", address);
    std::abort();
  }
  return *static_cast<const uint4*>(address);
}

}  // namespace mygemm::ptx
