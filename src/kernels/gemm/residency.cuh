// How many blocks of a tile's kernel reside on a multiprocessor at once, for __launch_bounds__: the
// figure that the estimate uses too. Device only.
#pragma once

#include "device_traits.h"

namespace mygemm {

// Where shared memory holds fewer blocks than the tile would like, the compiler may use more
// registers: with as many as for all of them it spills.
template <class Tile>
__device__ constexpr int resident_blocks() {
#if defined(__CUDA_ARCH__)
  constexpr SmResources kSm = sm_resources(__CUDA_ARCH__ / 10);
#else
  constexpr SmResources kSm = sm_resources(90);
#endif
  return std::max(1, residency(kSm, Tile::kThreads, Tile::kSharedBytes, Tile::kRegisterBlocks));
}

}  // namespace mygemm
