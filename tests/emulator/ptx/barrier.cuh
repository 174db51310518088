// Emulator of the CUDA runtime: stands in for src/ptx/barrier.cuh (any SM).
#pragma once

#include "execution.h"

namespace mygemm::ptx {

inline bool any_at_barrier(int barrier, int threads, bool value,
                           emulator::Site site = emulator::Site::here()) {
  return emulator::any_at_barrier(barrier, threads, value, site);
}

inline void meet_at_barrier(int barrier, int threads,
                            emulator::Site site = emulator::Site::here()) {
  emulator::any_at_barrier(barrier, threads, false, site);
}

}  // namespace mygemm::ptx
