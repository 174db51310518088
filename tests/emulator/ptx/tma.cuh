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

inline void tma_load_3d_to_all(void* shared, const CUtensorMap* map, uint64_t* barrier, int x,
                               int y, int z, unsigned blocks) {
  emulator::start_boxes(shared, map, barrier, {x, y, z}, blocks);
}

inline void tma_store_3d(const CUtensorMap* map, const void* shared, int x, int y, int z) {
  emulator::start_box_store(map, shared, {x, y, z});
}
inline void tma_commit_stores() { emulator::commit_box_stores(); }
template <int kPending = 0>
void tma_wait_for_reads_of_stores() {
  emulator::wait_for_box_stores(kPending);
}

}  // namespace mygemm::ptx
