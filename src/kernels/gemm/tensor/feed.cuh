// Products on tensor cores: the shared memory of a block, and the copies of a k step of an operand:
// by the tensor memory accelerator, or, where no tensor map describes the operand, 4 bytes at a
// time. Either way the step lies as it does in memory, in lines of 128 bytes with the swizzle of
// tensor maps (swizzle.h), so that both are read alike. Where lines begin anywhere in memory, the
// accelerator brings them by four maps, and they lie as ShiftedStage says. Device only.
#pragma once

#include <type_traits>

#include "kernels/gemm/persistent/work.cuh"
#include "kernels/gemm/tensor/notes.cuh"
#include "kernels/gemm/tensor/tensor.h"
#include "ptx/barrier.cuh"
#include "ptx/cp_async.cuh"
#include "ptx/global.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"
#include "ptx/tma.cuh"
#include "ptx/warp.cuh"

namespace mygemm::tensor {

using persistent::OperandMap;
using persistent::ShiftedMaps;
using persistent::StepOfOperand;

// A line of a stage holds, of a K-major operand, 32 k of a row of op(A) (column of op(B)); of an
// MN-major one 32 rows of one k, and 32 lines one under the other make a block of 32 rows.
constexpr int kLine = 32;  // floats of a line, and k of a step

// The tile of the work item that the producer warps announce last: there are no more items.
constexpr int kNoTile = -1;

// How a block's operands lie, and how they come.
template <Major kA_, Major kB_, OperandLoad kLoad_>
struct Operands {
  static constexpr Major kA = kA_, kB = kB_;
  static constexpr OperandLoad kLoad = kLoad_;
  static constexpr bool kMapped = kLoad != OperandLoad::kCopy4;  // by the accelerator
  static constexpr bool kShifted = kLoad == OperandLoad::kShiftedMaps;
  using Maps = std::conditional_t<kShifted, ShiftedMaps, OperandMap>;
};

// A stage of kBlock rows of op(A) (columns of op(B)) that came by shifted maps. Its lines have 32 k
// of a row, or kBlock rows of a k, and 4 floats more. Those of one map lie together: line 4 q + r
// of the step is the one of number kOfMap r + q, and its elements begin at the shift of map r.
// Lines of one map have the same shift, and begin 4 banks apart.
template <Major kMajor, int kBlock>
struct ShiftedStage {
  static constexpr int kAlong = kMajor == Major::kK ? kLine : kBlock;
  static constexpr int kLines = kMajor == Major::kK ? kBlock : kLine;
  static constexpr int kPitch = kAlong + 4, kOfMap = kLines / ShiftedMaps::kMaps;
  static constexpr int kFloats = kLines * kPitch;
  static_assert(kPitch % 32 == 4 && kOfMap * kPitch % 32 == 0, "a map's lines begin at 128 bytes");

  // The number in the stage of the step's line.
  static __device__ __forceinline__ int number_of(int line) {
    return line % ShiftedMaps::kMaps * kOfMap + line / ShiftedMaps::kMaps;
  }
};

// Results that wait to be stored, in boxes of lines of kBoxLine elements along D's columns,
// swizzled. A box has kBoxLine rows and all columns of a tile or, where D is the transpose of the
// product, kBoxLine columns and all rows of a warpgroup.
constexpr int kBoxLine = 32;
template <class Tile>
struct ResultBoxes {
  static constexpr int kFloats = kGroupRows * Tile::kBlockN;  // of a warpgroup
  static constexpr int kAcrossRows = kGroupRows / kBoxLine;   // its boxes
  static constexpr int kAcrossColumns = Tile::kBlockN / kBoxLine;

  alignas(1024) float of_group[2][kFloats];
  uint64_t full[2];  // C is there
};
struct NoResultBoxes {};

// How Method, that of the tile, splits B:
//   Method::Part                     a part of an element, as tensor cores take it
//   Method::kPartsOfB<Operands>      the parts that producer warps write; `parts` holds them
//   Method::kFreesB<Operands>        whether these are all: then B's stage is free once it is split
//   Method::kInPairs<Operands>       whether a lane has pairs of neighbours along k: see rows.cuh
//   Method::StatisticsOfB            the guard's statistics of B's elements that a lane has seen
//   Method::kTellsFirstStep          whether consumer warps get those of an item's first step too
template <class Tile, class Operands_>
struct SharedStorage {
  using Operands = Operands_;
  using Method = typename Tile::Method;
  // Results wait in shared memory, in the place of stages.
  static constexpr bool kBoxed =
      Tile::kStagesBesideBoxes > 0 && Operands::kLoad == OperandLoad::kTensorMap;
  static constexpr bool kFreesB = Method::template kFreesB<Operands>;
  // Lines that came by shifted maps are longer.
  static constexpr int kStages =
      kBoxed ? Tile::kStagesBesideBoxes : Tile::kStages - (Operands::kShifted ? 1 : 0);
  static constexpr int kPlanes = Tile::kPlanes;
  // Steps that are loaded ahead of the one that is split.
  static constexpr int kAhead = kStages - kPlanes;
  static constexpr int kStagesB = kFreesB ? kAhead : kStages;
  static constexpr int kPartsOfB = Method::template kPartsOfB<Operands>;
  // Arrivals that fill a stage, besides the accelerator's bytes.
  static constexpr int kArrivals = Operands::kMapped ? 1 : 32 * Tile::kProducerWarps;
  static constexpr int kPart = Tile::kBlockN * kLine;  // elements of a part of B's step
  static constexpr int kStageA = Operands::kShifted
                                     ? ShiftedStage<Operands::kA, Tile::kBlockM>::kFloats
                                     : Tile::kBlockM * kLine;
  static constexpr int kStageB =
      Operands::kShifted ? ShiftedStage<Operands::kB, Tile::kBlockN>::kFloats : kPart;
  // Producers may be kPlanes steps ahead of an item's last, whose note is still to be read.
  static constexpr int kNotes = 2 * kPlanes;

  // (stage, lines of 128 x 32, or of block_n x 32, as they lie in A and B).
  alignas(1024) float a[kStages][kStageA];
  alignas(1024) float b[kStagesB][kStageB];
  // (plane, part, block_n x 32): as tensor cores read them.
  alignas(1024) typename Method::Part parts[kPlanes][kPartsOfB][kPart];
  std::conditional_t<kBoxed, ResultBoxes<Tile>, NoResultBoxes> results;
  WorkItem items[kNotes];  // the work item of a k step
  // At the last step of an item, of all steps, and, where Method::kTellsFirstStep, at the first
  // one, of that: each producer warp's.
  typename Method::StatisticsOfB b_statistics[kPlanes][Tile::kProducerWarps];
  GuardNotes<Tile> guard[2];              // of each consumer warpgroup
  uint64_t full[kStages];                 // operands are there
  uint64_t split[kPlanes][Tile::kParts];  // A is there and B is split
  uint64_t free[kPlanes][Tile::kParts];   // products have read them
  int block;                              // the number of this block in the schedule
};

// Copies a k step of a tile, by all lanes of the producer warps; zeros outside the matrix. These
// copies are limited by the issue of instructions: with one line instead of four in an iteration,
// 4096^3 misaligned took 1.15 to 1.8 times as long (H200: NN 52 TFLOP/s, against 87; NT 72, against
// 83).
template <Major kMajor, int kBlock, int kWarps>
__device__ __forceinline__ void copy_lines(float* stage, const Operand& x, const StepOfOperand& at,
                                           int warp, int lane) {
  constexpr int kAtOnce = 4;
  const float* matrix = x.matrix<const float>(at.batch);
  if constexpr (kMajor == Major::kK) {
    const float* from = matrix + (at.origin + warp) * x.ld + at.k + lane;
    const bool there = lane < at.depth;
    static_assert(kBlock % (kAtOnce * kWarps) == 0 && kLine % (kAtOnce * kWarps) == 0);
#pragma unroll 1
    for (int first = warp; first < kBlock; first += kAtOnce * kWarps) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int row = first + i * kWarps, swizzle = (warp + i * kWarps) % 8 * 4;
        ptx::cp_async_4(stage + row * kLine + (lane ^ swizzle), from, row < at.extent && there);
        from = ptx::advanced(from, kWarps * x.ld);
      }
    }
  } else {
    const float* from = matrix + (at.k + warp) * x.ld + at.origin + lane;
    const int extent = at.extent - lane;
#pragma unroll 1
    for (int first = warp; first < kLine; first += kAtOnce * kWarps) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int k = first + i * kWarps, swizzle = (warp + i * kWarps) % 8 * 4;
        float* to = stage + k * kLine + (lane ^ swizzle);
#pragma unroll
        for (int left = 0; left < kBlock; left += kLine) {
          ptx::cp_async_4(to + left * kLine, from + left, left < extent && k < at.depth);
        }
        from = ptx::advanced(from, kWarps * x.ld);
      }
    }
  }
}

// Starts the accelerator's copy of a k step of a tile; one thread.
template <Major kMajor, int kBlock>
__device__ __forceinline__ void load_boxes(float* stage, const OperandMap& x, uint64_t* full,
                                           int batch, int origin, int k) {
  if constexpr (kMajor == Major::kK) {
    ptx::tma_load_3d(stage, &x.map, full, k, origin, batch * x.batch_step);
  } else {
    // Unrolled, six boxes beside four take registers that the warps which split do not have.
#pragma unroll(kBlock > 128 ? 1 : kBlock / kLine)
    for (int first = 0; first < kBlock; first += kLine) {
      ptx::tma_load_3d(stage + first * kLine, &x.map, full, origin + first, k,
                       batch * x.batch_step);
    }
  }
}

template <Major kMajor, int kBlock>
__device__ __forceinline__ void load_boxes(float* stage, const ShiftedMaps& x, uint64_t* full,
                                           int batch, int origin, int k) {
  constexpr int kMaps = ShiftedMaps::kMaps;
  constexpr int kOfMap = ShiftedStage<kMajor, kBlock>::kFloats / kMaps;
  const int along = kMajor == Major::kK ? k : origin, line = kMajor == Major::kK ? origin : k;
#pragma unroll
  for (int r = 0; r < kMaps; ++r) {
    ptx::tma_load_3d(stage + r * kOfMap, &x.maps[r], full, along, line / kMaps,
                     batch * x.batch_step);
  }
}

__device__ __forceinline__ void prefetch(const OperandMap& x) { ptx::tma_prefetch_map(&x.map); }
__device__ __forceinline__ void prefetch(const ShiftedMaps& x) {
  for (const CUtensorMap& map : x.maps) ptx::tma_prefetch_map(&map);
}

// The warp that starts the accelerator's copies into a stage. They take turns: with all of them
// left to one, the others wait for it (1024^3 NT on an H200: 28.7 us, against 28.0).
template <class Tile>
__device__ __forceinline__ bool loads_stage(int stage, int warp) {
  constexpr int kWarps = Tile::kProducerWarps;
  return warp == (Tile::kStages > kWarps ? stage % kWarps : stage);
}

// Brings the k step at the cursor into a stage of A and one of B; all producer warps call it.
template <class Tile, class Shared>
__device__ __forceinline__ void load_step(Shared& s, const GemmProblem& p,
                                          const typename Shared::Operands::Maps& a,
                                          const typename Shared::Operands::Maps& b,
                                          const persistent::StepCursor<Tile>& at, int stage,
                                          int stage_b, int warp, int lane) {
  using Operands = typename Shared::Operands;
  const auto& [i, j, batch] = at.position;
  const int k = at.k();
  if constexpr (Operands::kMapped) {
    if (loads_stage<Tile>(stage, warp) && ptx::elect_one()) {
      uint64_t* full = &s.full[stage];
      ptx::mbarrier_arrive_expect_tx(full, (Shared::kStageA + Shared::kStageB) * sizeof(float));
      load_boxes<Operands::kA, Tile::kBlockM>(s.a[stage], a, full, batch, i, k);
      load_boxes<Operands::kB, Tile::kBlockN>(s.b[stage_b], b, full, batch, j, k);
    }
  } else {
    const int depth = static_cast<int>(p.k) - k;
    copy_lines<Operands::kA, Tile::kBlockM, Tile::kProducerWarps>(
        s.a[stage], p.a, {batch, i, static_cast<int>(p.m) - i, k, depth}, warp, lane);
    copy_lines<Operands::kB, Tile::kBlockN, Tile::kProducerWarps>(
        s.b[stage_b], p.b, {batch, j, static_cast<int>(p.n) - j, k, depth}, warp, lane);
    ptx::cp_async_arrive(&s.full[stage]);
  }
}

}  // namespace mygemm::tensor
