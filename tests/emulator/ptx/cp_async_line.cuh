// Emulator of the CUDA runtime: stands in for src/ptx/cp_async_line.cuh (sm_80).
#pragma once

#include <cstddef>

#include "execution.h"
#include "mbarrier.h"

namespace mygemm::ptx {

inline void cp_async_line_16(unsigned shared, const void* global) {
  std::byte* const to = static_cast<std::byte*>(emulator::shared_memory()) + shared;
  if (shared % 16 != 0 || !emulator::is_multiple(global, 16)) {
    emulator::stop("misaligned cp.async of 16 bytes, %p to %p", global, static_cast<void*>(to));
  }
  emulator::start_copy(to, global, 16);
}

}  // namespace mygemm::ptx
