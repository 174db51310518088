// Matrix product, step 4 of the ladder: the shared memory of a block, and how a k step of an
// operand gets there. One that is contiguous along the tile is copied by the tensor memory
// accelerator. One that is misaligned, or contiguous along k, is copied by the lanes of a producer
// warp, 4 bytes at a time and without a stop in registers, which aligns or transposes it.
// Device only.
#pragma once

#include "kernels/gemm/tiles.h"
#include "problem.h"
#include "ptx/cp_async.cuh"
#include "ptx/global.cuh"
#include "ptx/tma.cuh"

namespace mygemm::fed {

// How an operand lies in memory.
enum class Feed {
  kTile,     // contiguous along m (n), and a tensor map describes it
  kShifted,  // contiguous along m (n), any alignment
  kDepth     // contiguous along k, any alignment
};

// A k step of a tile of one operand: where it begins, and how much from there is inside the matrix.
struct StepPlace {
  int64_t batch;
  int origin, extent;  // along the tile
  int k, depth;
};

// Copies a k step to stage[k][m or n], by all lanes of a warp. Zeros are written past the last k.
// What lies past the edge of the tile goes into no result and is left as it was. kWhole: there is
// nothing past either, which spares what would be five instructions of six.
template <Feed kFeed, bool kWhole, int kBlock, int kBlockK, int kPitch>
__device__ __forceinline__ void copy_places(float (&stage)[kBlockK][kPitch],
                                            const GemmOperand<const float>& x, const StepPlace& at,
                                            int lane) {
  if constexpr (kFeed == Feed::kDepth) {
    // A warp covers 8 k x 4 rows: whole 32-byte sectors of 4 rows in, 32 different banks out.
    constexpr int kLanesK = 8, kRows = 32 / kLanesK;
    const int k = lane % kLanesK, row = lane / kLanesK;
    const float* from = x.matrix(at.batch) + (at.origin + row) * x.ld + at.k + k;
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
    const float* from = x.matrix(at.batch) + at.k * x.ld + at.origin + lane;
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

template <Feed kFeed, int kBlock, int kBlockK, int kPitch>
__device__ __forceinline__ void copy_step(float (&stage)[kBlockK][kPitch],
                                          const GemmOperand<const float>& x, const StepPlace& at,
                                          int lane) {
  if (at.extent >= kBlock && at.depth >= kBlockK) {
    copy_places<kFeed, true, kBlock>(stage, x, at, lane);
  } else {
    copy_places<kFeed, false, kBlock>(stage, x, at, lane);
  }
}

// One operand's stages, [k][m] or [k][n]. 4 floats of padding where they are written across k.
template <class Tile, Feed kFeed, int kBlock>
struct OperandStorage {
  static constexpr int kPitch = kFeed == Feed::kDepth ? kBlock + 4 : kBlock;
  static constexpr int kBytes = kBlock * Tile::kBlockK * 4;

  alignas(128) float stage[Tile::kStages][Tile::kBlockK][kPitch];
};

// Results on their way to memory. Of one group of consumers a part at a time, of several all, to be
// added up: (group, result, thread of the group).
template <class Tile>
struct ResultStorage {
  alignas(16) float values[Tile::kGroups][Tile::kResultsAtOnce][Tile::kGroupThreads];
  float exchange[Tile::kConsumerWarps][32][4];  // see store_quads
};

template <class Tile, Feed kFeedA_, Feed kFeedB_>
struct SharedStorage {
  static constexpr Feed kFeedA = kFeedA_, kFeedB = kFeedB_;
  static constexpr bool kHasMaps = kFeedA == Feed::kTile || kFeedB == Feed::kTile;
  static constexpr bool kHasCopies = kFeedA != Feed::kTile || kFeedB != Feed::kTile;
  // What a stage is full with: the accelerator's bytes, and the copies of each lane.
  static constexpr int kArrivals = (kHasMaps ? 1 : 0) + (kHasCopies ? 32 : 0);

  OperandStorage<Tile, kFeedA, Tile::kBlockM> a;
  OperandStorage<Tile, kFeedB, Tile::kBlockN> b;
  ResultStorage<Tile> results;
  uint64_t full[Tile::kStages], empty[Tile::kStages];
  uint64_t consumers;  // for all their warps to meet
};

// A place in a ring of kSlots, and the parity of its phase.
template <int kSlots>
struct RingPlace {
  int slot = 0;
  unsigned parity = 0;

  __device__ void advance(int places) {  // fewer than kSlots + 1
    slot += places;
    if (slot >= kSlots) {
      slot -= kSlots;
      parity ^= 1;
    }
  }
};

}  // namespace mygemm::fed
