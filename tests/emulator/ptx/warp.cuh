// Emulator of the CUDA runtime: stands in for src/ptx/warp.cuh (any SM).
#pragma once

#include "device_functions.h"

namespace mygemm::ptx {

inline int warp_number(emulator::Site site = emulator::Site::here()) {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0, 32, site);
}

inline unsigned block_again() { return blockIdx.x; }

inline int thread_again() { return static_cast<int>(threadIdx.x); }

inline int warp_uniform(int value, emulator::Site site = emulator::Site::here()) {
  return __shfl_sync(0xffffffffu, value, 0, 32, site);
}

inline unsigned largest_in_warp(unsigned value, emulator::Site site = emulator::Site::here()) {
  return __reduce_max_sync(0xffffffffu, value, site);
}

inline unsigned smallest_in_warp(unsigned value, emulator::Site site = emulator::Site::here()) {
  return ~largest_in_warp(~value, site);
}

inline unsigned in_uniform_register(unsigned value, emulator::Site site = emulator::Site::here()) {
  return largest_in_warp(value, site);
}

// Elects a lane other than the first, on which code might rely.
inline bool elect_one(emulator::Site site = emulator::Site::here()) {
  __ballot_sync(0xffffffffu, 1, site);
  return emulator::lane() == 13;
}

}  // namespace mygemm::ptx
