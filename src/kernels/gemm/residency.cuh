// How many blocks of a tile's kernel should reside on a multiprocessor at once. Device only.
#pragma once

namespace mygemm {

// Blocks that registers should let reside: no more than shared memory does. Where that is less, the
// same number of them spills.
template <class Tile>
__device__ constexpr int least_blocks() {
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
  constexpr int kSharedBytes = 228 * 1024;
#elif __CUDA_ARCH__ == 800
  constexpr int kSharedBytes = 164 * 1024;
#else
  constexpr int kSharedBytes = (__CUDA_ARCH__ == 750 ? 64 : 100) * 1024;
#endif
  constexpr int kFitting = kSharedBytes / static_cast<int>(sizeof(typename Tile::SharedStorage));
  return kFitting < Tile::kBlocksPerSm ? kFitting : Tile::kBlocksPerSm;
}

}  // namespace mygemm
