// Emulator of the CUDA runtime: stands in for src/ptx/mbarrier.cuh (sm_90).
#pragma once

#include <cstdint>

#include "mbarrier.h"

namespace mygemm::ptx {

inline void mbarrier_init(uint64_t* barrier, unsigned arrivals) {
  emulator::init_barrier(barrier, arrivals);
}

inline void mbarrier_init_fence() { emulator::fence_barriers(); }

inline void mbarrier_arrive_expect_tx(uint64_t* barrier, unsigned bytes) {
  emulator::arrive_expecting(barrier, bytes);
}

inline void mbarrier_arrive(uint64_t* barrier) { emulator::arrive_expecting(barrier, 0); }

inline void mbarrier_wait(uint64_t* barrier, unsigned parity,
                          emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_barrier(barrier, parity, site);
}

}  // namespace mygemm::ptx
