// Emulator of the CUDA runtime: stands in for src/ptx/bulk.cuh (sm_90).
#pragma once

#include <cstdint>

#include "mbarrier.h"
#include "transfer.h"

namespace mygemm::ptx {

inline void bulk_load(void* shared, const void* global, unsigned bytes, uint64_t* barrier) {
  emulator::start_bulk(shared, global, bytes, barrier);
}

// Orders nothing: the emulator does not see plain accesses, and cannot detect a missing call.
inline void fence_bulk() { emulator::require_hopper("fence.proxy.async"); }

}  // namespace mygemm::ptx
