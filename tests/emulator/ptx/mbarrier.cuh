// Emulator of the CUDA runtime: stands in for src/ptx/mbarrier.cuh (sm_90).
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution.h"
#include "mbarrier.h"

namespace mygemm::ptx {

inline void mbarrier_init(uint64_t* barrier, unsigned arrivals) {
  emulator::init_barrier(barrier, arrivals);
}

inline void mbarrier_init_fence() { emulator::fence_barriers(); }

inline void mbarrier_arrive_expect_tx(uint64_t* barrier, unsigned bytes) {
  emulator::arrive_expecting(barrier, bytes);
}

inline uint64_t* barrier_at(unsigned address) {
  return reinterpret_cast<uint64_t*>(static_cast<std::byte*>(emulator::shared_memory()) + address);
}

inline void mbarrier_arrive_at(unsigned barrier) {
  emulator::arrive_expecting(barrier_at(barrier), 0);
}

inline void mbarrier_arrive_in(unsigned rank, uint64_t* barrier) {
  emulator::arrive_in_block(rank, barrier);
}

inline void mbarrier_arrive_behind(unsigned barrier, unsigned) {
  emulator::arrive_expecting(barrier_at(barrier), 0);
}

inline void mbarrier_wait_at(unsigned barrier, unsigned parity,
                             emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_barrier(barrier_at(barrier), parity, site);
}

inline void mbarrier_arrive(uint64_t* barrier) { emulator::arrive_expecting(barrier, 0); }

inline void mbarrier_wait(uint64_t* barrier, unsigned parity,
                          emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_barrier(barrier, parity, site);
}

}  // namespace mygemm::ptx
