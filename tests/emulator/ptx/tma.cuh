// Emulator of the CUDA runtime: stands in for src/ptx/tma.cuh (sm_90).
#pragma once

#include <cstdint>

#include "cuda.h"
#include "transfer.h"

namespace mygemm::ptx {

inline void tma_prefetch_map(const CUtensorMap* map) { emulator::prefetch_map(map); }

inline void tma_load_3d(void* shared, const CUtensorMap* map, uint64_t* barrier, int x, int y,
                        int z) {
  emulator::start_box(shared, map, barrier, {x, y, z});
}

}  // namespace mygemm::ptx
