// Matrix product, step 4 of the ladder: the shared memory of a block, and how a k step of an
// operand gets there. One that is contiguous along the tile lands in its stage as the accelerator
// copies it. One that is contiguous along k, or misaligned, is copied to a raw slot first, and a
// producer warp moves it from there, which transposes or aligns it. Device only.
#pragma once

#include "kernels/gemm/operand_maps.cuh"
#include "kernels/gemm/tiles.h"
#include "ptx/tma.cuh"

namespace mygemm::fed {

// How an operand lies in memory.
enum class Feed {
  kTile,     // contiguous along m (n), columns 16-byte aligned: copied into the stage
  kShifted,  // contiguous along m (n), any alignment: copied to a raw slot, moved to the stage
  kDepth     // contiguous along k, any alignment: copied to a raw slot, transposed into the stage
};

// An operand's k step as it is copied before a producer warp moves it to its stage.
template <class Tile, Feed kFeed, int kBlock>
struct RawCopy;

// Along k, every fourth row (column) of the tile after another: (class, row of the class, k).
template <class Tile, int kBlock>
struct RawCopy<Tile, Feed::kDepth, kBlock> {
  static constexpr int kRows = kBlock / kColumnClasses;
  static constexpr int kPitch = Tile::kBlockK + kMostShift;  // where boxes are wider; else less
  struct alignas(128) Class {
    float values[kRows * kPitch];
  };
  Class classes[kColumnClasses];

  static __device__ int pitch(const OperandMaps& x) {
    return Tile::kBlockK + (x.shifted ? kMostShift : 0);
  }
  static __device__ int bytes(const OperandMaps& x) {
    return kColumnClasses * kRows * pitch(x) * 4;
  }

  // One thread.
  __device__ void ask(const OperandMaps& x, uint64_t* full, int origin, int k, int batch) {
#pragma unroll
    for (int c = 0; c < kColumnClasses; ++c) {
      ptx::tma_load_3d(classes[c].values, &x.maps[c], full, k, origin / kColumnClasses,
                       batch * x.batch_step);
    }
  }

  // All lanes: patches of 4 rows x 4 k, a lane's rows one of each class.
  template <int kStagePitch>
  __device__ void move(float (&stage)[Tile::kBlockK][kStagePitch], const OperandMaps& x,
                       int lane) const {
    constexpr int kPatchesK = Tile::kBlockK / 4, kRowStep = 32 / kPatchesK;
    const int k = lane % kPatchesK * 4;
#pragma unroll 1  // registers of a producer are few
    for (int row = lane / kPatchesK; row < kRows; row += kRowStep) {
      float in[kColumnClasses][4];
#pragma unroll
      for (int c = 0; c < kColumnClasses; ++c) {
        const float* from = &classes[c].values[row * pitch(x) + k];
        if (x.shifted) {
#pragma unroll
          for (int e = 0; e < 4; ++e) in[c][e] = from[x.shifts[c] + e];
        } else {
          const float4 quad = *reinterpret_cast<const float4*>(from);
          in[c][0] = quad.x, in[c][1] = quad.y, in[c][2] = quad.z, in[c][3] = quad.w;
        }
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        *reinterpret_cast<float4*>(&stage[k + e][row * 4]) =
            make_float4(in[0][e], in[1][e], in[2][e], in[3][e]);
      }
    }
  }
};

// Along the tile: every fourth k after another, in spans that a box can hold.
template <class Tile, int kBlock>
struct RawCopy<Tile, Feed::kShifted, kBlock> {
  static constexpr int kRows = Tile::kBlockK / kColumnClasses;
  static constexpr int kSpan = kBlock < 128 ? kBlock : 128, kSpans = kBlock / kSpan;
  struct alignas(128) Span {
    float values[kRows * (kSpan + kMostShift)];
  };
  Span spans[kColumnClasses][kSpans];

  static __device__ int pitch(const OperandMaps& x) { return kSpan + (x.shifted ? kMostShift : 0); }
  static __device__ int bytes(const OperandMaps& x) {
    return kColumnClasses * kSpans * kRows * pitch(x) * 4;
  }

  __device__ void ask(const OperandMaps& x, uint64_t* full, int origin, int k, int batch) {
#pragma unroll
    for (int c = 0; c < kColumnClasses; ++c) {
#pragma unroll
      for (int s = 0; s < kSpans; ++s) {
        ptx::tma_load_3d(spans[c][s].values, &x.maps[c], full, origin + s * kSpan,
                         k / kColumnClasses, batch * x.batch_step);
      }
    }
  }

  template <int kStagePitch>
  __device__ void move(float (&stage)[Tile::kBlockK][kStagePitch], const OperandMaps& x,
                       int lane) const {
    constexpr int kLoads = (kSpan + 31) / 32;  // of a row
#pragma unroll 1
    for (int c = 0; c < kColumnClasses; ++c) {
#pragma unroll 1
      for (int s = 0; s < kSpans; ++s) {
        const float* from = &spans[c][s].values[x.shifts[c] + lane];
        float* to = &stage[c][s * kSpan + lane];
        if (kSpan % 32 != 0 && lane >= kSpan) continue;
        float values[kRows][kLoads];  // all loads are on their way before the first store
#pragma unroll
        for (int row = 0; row < kRows; ++row) {
#pragma unroll
          for (int i = 0; i < kLoads; ++i) values[row][i] = from[row * pitch(x) + 32 * i];
        }
#pragma unroll
        for (int row = 0; row < kRows; ++row) {
#pragma unroll
          for (int i = 0; i < kLoads; ++i) {
            to[row * kColumnClasses * kStagePitch + 32 * i] = values[row][i];
          }
        }
      }
    }
  }
};

// One operand's shared memory. Stages are [k][m] or [k][n], with 4 floats of padding where patches
// are written: 16-byte stores of 8 lanes, 4 k and 2 places apart, then meet in a bank by twos.
template <class Tile, Feed kFeed, int kBlock>
struct OperandStorage {
  static constexpr bool kRaw = kFeed != Feed::kTile;
  static constexpr int kPitch = kFeed == Feed::kDepth ? kBlock + 4 : kBlock;
  static constexpr int kBytes = kBlock * Tile::kBlockK * 4;
  using Raw = RawCopy<Tile, kFeed, kBlock>;

  alignas(128) float stage[Tile::kStages][Tile::kBlockK][kPitch];
  Raw raw[Tile::kRawSlots];
};
template <class Tile, int kBlock>
struct OperandStorage<Tile, Feed::kTile, kBlock> {
  static constexpr bool kRaw = false;
  static constexpr int kPitch = kBlock;
  static constexpr int kBytes = kBlock * Tile::kBlockK * 4;

  alignas(128) float stage[Tile::kStages][Tile::kBlockK][kPitch];
};

// Results on their way to memory. Of one group of consumers a part at a time, of several all, to be
// added up: (group, result, thread of the group).
template <class Tile>
struct ResultStorage {
  alignas(16) float values[Tile::kGroups][Tile::kResultsAtOnce][Tile::kGroupThreads];
};

template <class Tile, Feed kFeedA, Feed kFeedB>
struct SharedStorage {
  static constexpr bool kCopies = kFeedA == Feed::kTile || kFeedB == Feed::kTile;
  static constexpr bool kMoves = kFeedA != Feed::kTile || kFeedB != Feed::kTile;

  OperandStorage<Tile, kFeedA, Tile::kBlockM> a;
  OperandStorage<Tile, kFeedB, Tile::kBlockN> b;
  ResultStorage<Tile> results;
  uint64_t full[Tile::kStages], empty[Tile::kStages];
  uint64_t raw_full[Tile::kRawSlots];
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
