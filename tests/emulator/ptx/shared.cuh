// Emulator of the CUDA runtime: stands in for src/ptx/shared.cuh. The storage begins at the start
// of the block's dynamic shared memory, as on a GPU, and ends where the launch said.
#pragma once

#include "execution.h"

namespace mygemm {

template <class T>
T& shared_storage() {
  static_assert(alignof(T) <= emulator::kSharedAlignment);
  return *static_cast<T*>(emulator::shared_memory());
}

}  // namespace mygemm
