// Emulator of the CUDA runtime: stands in for src/ptx/global.cuh (any SM).
#pragma once

#include "execution.h"
#include "vector_types.h"

namespace mygemm::ptx {

inline uint4 load_once_16(const void* address) {
  if (!emulator::is_multiple(address, 16)) {
    emulator::stop("misaligned load of 16 bytes from %p", address);
  }
  return *static_cast<const uint4*>(address);
}

}  // namespace mygemm::ptx
