// Matrix product, step 4 of the ladder: the shared memory of a block, and the copies of a k step of
// an operand. The tensor memory accelerator copies an MN-major operand. One that is misaligned or
// K-major is copied by the lanes of a producer warp, 4 bytes at a time and without a stop in
// registers, which aligns or transposes it. Device only.
#pragma once

#include "kernels/gemm/persistent/work.cuh"
#include "kernels/gemm/tma/tma.h"
#include "ptx/cp_async.cuh"
#include "ptx/global.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"

namespace mygemm::tma {

using persistent::StepOfOperand;

// Copies a k step to stage[k][m or n], by all lanes of a warp. Zeros are written past the last k.
// Places past the edge of the tile go into no result and are left as they were. kWhole: there are
// none past either edge, which spares five instructions of six.
template <OperandLoad kLoad, bool kWhole, int kBlock, int kBlockK, int kPitch>
__device__ __forceinline__ void copy_places(float (&stage)[kBlockK][kPitch], const Operand& x,
                                            const StepOfOperand& at, int lane) {
  if constexpr (kLoad == OperandLoad::kTransposing) {
    // A warp covers 8 k x 4 rows: whole 32-byte sectors of 4 rows in, 32 different banks out.
    constexpr int kLanesK = 8, kRows = 32 / kLanesK;
    const int k = lane % kLanesK, row = lane / kLanesK;
    const float* from = x.matrix<const float>(at.batch) + (at.origin + row) * x.ld + at.k + k;
    float* to = &stage[k][row];
    const int64_t next = kRows * x.ld;
#pragma unroll(kWhole ? 8 : 4)
    for (int first = 0; first < kBlock; first += kRows) {
#pragma unroll
      for (int patch = 0; patch < kBlockK; patch += kLanesK) {
        if (kWhole || first + row < at.extent) {
          ptx::cp_async_4(to + patch * kPitch + first, from + patch,
                          kWhole || patch + k < at.depth);
        }
      }
      from = ptx::advanced(from, next);
    }
  } else {
    [[maybe_unused]] constexpr int kAtOnce = 512 / kBlock;  // rows; 16 copies
    const float* from = x.matrix<const float>(at.batch) + at.k * x.ld + at.origin + lane;
    float* to = &stage[0][lane];
#pragma unroll(kWhole ? kAtOnce : kAtOnce / 2)
    for (int k = 0; k < kBlockK; ++k) {
#pragma unroll
      for (int first = 0; first < kBlock; first += 32) {
        if (kWhole || first + lane < at.extent) {
          ptx::cp_async_4(to + k * kPitch + first, from + first, kWhole || k < at.depth);
        }
      }
      from = ptx::advanced(from, x.ld);
    }
  }
}

template <OperandLoad kLoad, int kBlock, int kBlockK, int kPitch>
__device__ __forceinline__ void copy_step(float (&stage)[kBlockK][kPitch], const Operand& x,
                                          const StepOfOperand& at, int lane) {
  if (at.extent >= kBlock && at.depth >= kBlockK) {
    copy_places<kLoad, true, kBlock>(stage, x, at, lane);
  } else {
    copy_places<kLoad, false, kBlock>(stage, x, at, lane);
  }
}

// One operand's stages. 4 floats of padding where they are written across k.
template <class Tile, OperandLoad kLoad, int kBlock>
struct OperandStorage {
  static constexpr int kPitch = kLoad == OperandLoad::kTransposing ? kBlock + 4 : kBlock;
  static constexpr int kBytes = kBlock * Tile::kBlockK * 4;

  alignas(128) float stage[Tile::kStages][Tile::kBlockK][kPitch];  // (stage, k, m or n)
};

// Results on their way to memory: kResultsAtOnce of one group of consumers, or all of several
// groups, to be added up.
template <class Tile>
struct ResultStorage {
  // (group, result, thread of the group)
  alignas(16) float values[Tile::kGroups][Tile::kResultsAtOnce][Tile::kGroupThreads];
  float exchange[Tile::kConsumerWarps][32][4];  // see store_quads
};

// The stages of a block, and their barriers.
template <class Tile, OperandLoad kLoadA_, OperandLoad kLoadB_>
struct StageStorage {
  static constexpr OperandLoad kLoadA = kLoadA_, kLoadB = kLoadB_;
  static constexpr bool kMapA = kLoadA == OperandLoad::kTensorMap;
  static constexpr bool kMapB = kLoadB == OperandLoad::kTensorMap;
  static constexpr bool kHasMaps = kMapA || kMapB, kHasCopies = !kMapA || !kMapB;
  // Arrivals that fill a stage: the accelerator's bytes, and the copies of each lane.
  static constexpr int kArrivals = (kHasMaps ? 1 : 0) + (kHasCopies ? 32 : 0);

  OperandStorage<Tile, kLoadA, Tile::kBlockM> a;
  OperandStorage<Tile, kLoadB, Tile::kBlockN> b;
  uint64_t full[Tile::kStages], empty[Tile::kStages];
  int block;  // the number of this block in the schedule
};

// By one thread, before mbarrier_init_fence().
template <class Tile, class Shared>
__device__ __forceinline__ void init_stages(Shared& s) {
  for (int i = 0; i < Tile::kStages; ++i) {
    ptx::mbarrier_init(&s.full[i], Shared::kArrivals);
    ptx::mbarrier_init(&s.empty[i], Tile::kGroupThreads);
  }
}

template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
struct SharedStorage : StageStorage<Tile, kLoadA, kLoadB> {
  ResultStorage<Tile> results;
  uint64_t consumers;  // for all their warps to meet
};

}  // namespace mygemm::tma
