// Products of 16-bit operands: the shared memory of a block, and the warps that bring k steps of
// the operands there. A step lies as it does in memory, in lines of 128 bytes with the swizzle of
// tensor maps (swizzle.h): of a K-major operand 64 k of a row of op(A) (column of op(B)), of an
// MN-major one 64 rows of one k, 64 such lines one under the other. Of an FP32 operand it is half
// as many: all rows of the first 32 k come before those of the others. Device only.
#pragma once

#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/tensor16/lines.cuh"
#include "kernels/gemm/tensor16/tensor16.h"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/warp.cuh"

namespace mygemm::tensor16 {

using persistent::OperandMap;

// A work item as producers announce it to consumers, in the stage of its first k step. To work out
// the schedule would take registers that consumers do not have.
struct Announced {
  int row, column, batch;           // of the tile's first element
  int steps;                        // k steps, 0: one stage all the same; kNoMore: the end
  bool finishes;                    // stores the tile; otherwise its sums are a partial tile
  persistent::PartialTiles to_add;  // before that
  static constexpr int kNoMore = -1;

  // The item that lane 0 has read, for all lanes of its warp.
  template <bool kStreamK>
  __device__ __forceinline__ Announced of_warp() const {
    Announced item = {ptx::warp_uniform(row),
                      ptx::warp_uniform(column),
                      ptx::warp_uniform(batch),
                      ptx::warp_uniform(steps),
                      true,
                      {}};
    if constexpr (kStreamK) {
      item.finishes = ptx::warp_uniform(finishes) != 0;
      item.to_add = {ptx::warp_uniform(to_add.first), ptx::warp_uniform(to_add.end)};
    }
    return item;
  }
};

template <class Tile, class Item = Announced>
struct SharedStorage {
  alignas(1024) unsigned char a[Tile::kStages][Tile::kStageA];
  alignas(1024) unsigned char b[Tile::kStages][Tile::kStageB];
  alignas(1024) unsigned char results[Tile::kConsumerWarps][Tile::kBoxes][Tile::kBoxBytes];
  uint64_t full[Tile::kStages];  // operands are there
  uint64_t free[Tile::kStages];  // products have read them, in all blocks of the cluster
  // FP32 rows: of a consumer warpgroup, to start products. Grouped products: the first is filled by
  // a step that is cut off at the end of k.
  uint64_t turn[2];
  Item items[Tile::kStages];
  int block;  // the number of this block, or cluster, in the schedule
};

// The row of a warp's 16, the first of the two, of which a lane has results. See RowsOfFp32.
template <class Tile>
__device__ __forceinline__ int row_of_lane(int lane) {
  return Tile::kFp32Rows ? lane / 4 % 4 * 2 + lane / 16 : lane / 4;
}

// Arrivals that fill a stage besides the accelerator's bytes.
template <class Tile>
constexpr int kFullArrivals = Tile::kMapped ? 1 : 32 * Tile::kProducerWarps;
// The lanes of a consumer warp that free a stage: one for each block that its copies go to. FP32
// rows are read by all lanes, each of which frees the stage for itself.
template <class Tile>
constexpr int kFreeingLanes = Tile::kFp32Rows ? 32 : Tile::kClusterM + Tile::kClusterN - 1;
// Arrivals that free one.
template <class Tile>
constexpr int kFreeArrivals = Tile::kConsumerWarps* kFreeingLanes<Tile>;

// The blocks of a cluster that share the copies of an operand, kBlocks of them kStride ranks apart,
// and the number of this one among them.
template <int kBlocks, int kStride>
struct Sharers {
  int number = 0;
  unsigned first = 0;  // rank of number 0

  __device__ __forceinline__ static Sharers of_block() {
    if constexpr (kBlocks == 1) return {};
    const unsigned rank = ptx::cluster_rank(), number = rank / kStride % kBlocks;
    return {static_cast<int>(number), rank - number * kStride};
  }
  // Bit r for the one of rank r.
  __device__ __forceinline__ unsigned mask() const {
    unsigned all = 0;
    for (int i = 0; i < kBlocks; ++i) all |= 1u << i * kStride;
    return all << first;
  }
};
// Those that have the same rows of op(A), or the same columns of op(B). The ones with the same
// columns have rows that follow each other, in the order of their numbers, and the other way round.
template <class Tile>
using SameRows = Sharers<Tile::kClusterN, Tile::kClusterM>;
template <class Tile>
using SameColumns = Sharers<Tile::kClusterM, 1>;

// Starts the accelerator's copies of kExtent rows of op(A) (columns of op(B)) of a k step, from
// `origin` on; a line has kOfLine elements. Each of the blocks that share them brings its part to
// all of them: of a K-major operand some of the rows, of an MN-major one some of the k.
template <int kExtent, int kOfLine, int kBlocks, int kStride>
__device__ __forceinline__ void load_boxes(unsigned char* stage, const OperandMap& x, bool k_major,
                                           const Sharers<kBlocks, kStride>& sharers, uint64_t* full,
                                           int batch, int origin, int k) {
  constexpr int kPart = kExtent / kBlocks, kPartOfK = 64 / kBlocks;
  static_assert(kPart % 8 == 0, "a part begins where the swizzle does");
  const int matrix = batch * x.batch_step, part = sharers.number;
  const auto load = [&](unsigned char* to, int x0, int x1) {
    if constexpr (kBlocks > 1) {
      ptx::tma_load_3d_to_all(to, &x.map, full, x0, x1, matrix, sharers.mask());
    } else {
      ptx::tma_load_3d(to, &x.map, full, x0, x1, matrix);
    }
  };
  if (k_major) {
#pragma unroll
    for (int first = 0; first < 64; first += kOfLine) {
      load(stage + (first / kOfLine * kExtent + part * kPart) * 128, k + first,
           origin + part * kPart);
    }
    return;
  }
#pragma unroll
  for (int first = 0; first < kExtent; first += kOfLine) {
    load(stage + (first / kOfLine * 64 + part * kPartOfK) * 128, origin + first,
         k + part * kPartOfK);
  }
}

// The k steps of a block's items, one after another, and the stages that they take. The thread that
// `announces` tells consumers of an item in the stage of its first step, once that is free.
template <class Tile_, bool kStreamK>
struct Production {
  using Tile = Tile_;

  SharedStorage<Tile>& s;
  const persistent::Args& args;
  persistent::StepCursor<Tile> at;
  persistent::RingPlace<Tile::kStages> place;

  __device__ __forceinline__ Production(SharedStorage<Tile>& s_, const persistent::Args& args_,
                                        int block)
      : s(s_), args(args_), at(schedule_of(args_), block, args_.fast_order) {}

  __device__ __forceinline__ void await_stage() const {
    ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);
  }
  __device__ __forceinline__ void announce() const {
    if (!at.begins_item()) return;
    Announced& item = s.items[place.slot];
    const auto& [i, j, batch] = at.position;
    item = {i, j, batch, at.end - at.step, at.end == args.schedule.steps, {}};
    if constexpr (kStreamK) {
      if (item.finishes && at.step > 0) {
        item.to_add = persistent::partial_tiles_of(args, at.item.tile, s.block);
      }
    }
  }
  __device__ __forceinline__ void advance(int steps) {
    at.advance(steps, args.fast_order);
    place.advance(1);
  }

 private:
  // The compiler is told that there are no stream-K tiles: jumps across their code are slow where
  // each instruction runs for the first time.
  __device__ __forceinline__ static StreamK schedule_of(const persistent::Args& args) {
    StreamK schedule = args.schedule;
    if (!kStreamK) schedule.stream_k_tiles = 0;
    return schedule;
  }
};

// Announces that there are no more items; where nothing is read, before that those which finish
// tiles, each in a stage. One thread, whose arrivals alone fill stages then.
template <class Work>
__device__ __forceinline__ void announce_rest(Work& work, unsigned arrivals) {
  const auto fill = [&] {
    for (unsigned i = 0; i < arrivals; ++i) ptx::mbarrier_arrive(&work.s.full[work.place.slot]);
  };
  while (work.at.valid()) {
    const int steps = work.at.end - work.at.step;
    if (work.at.end == work.args.schedule.steps) {
      work.await_stage();
      work.announce();
      work.s.items[work.place.slot].steps = 0;
      work.s.items[work.place.slot].to_add = {};
      fill();
      work.advance(steps);
    } else {
      work.at.advance(steps, work.args.fast_order);
    }
  }
  work.await_stage();
  work.s.items[work.place.slot] = {0, 0, 0, Announced::kNoMore, false, {}};
  fill();
}

// The producer that has the accelerator copy; one thread. Each block of a cluster brings its part
// of what they share to all of them.
template <class Work>
__device__ __forceinline__ void produce_mapped(Work& work, const OperandMap& a,
                                               const OperandMap& b) {
  using Tile = typename Work::Tile;
  const auto same_rows = SameRows<Tile>::of_block();
  const auto same_columns = SameColumns<Tile>::of_block();
  const GemmProblem& p = work.args.p;
  SharedStorage<Tile>& s = work.s;
  const unsigned bytes =
      Tile::kStageA + Tile::kLineBytes * (p.transb ? Tile::kColumnsB : Tile::kColumns);
  for (; work.at.valid(); work.advance(1)) {
    work.await_stage();
    work.announce();
    const int slot = work.place.slot, k = work.at.k();
    ptx::mbarrier_arrive_expect_tx(&s.full[slot], bytes);
    // The first copy of a block is the first that reads what the grid before may have written.
    // Later calls return at once.
    if (work.at.begins_item()) ptx::wait_for_previous_grid();
    const auto& [i, j, batch] = work.at.position;
    load_boxes<Tile::kRows, Tile::kFp32Rows ? 32 : 64>(s.a[slot], a, p.transa, same_rows,
                                                       &s.full[slot], batch,
                                                       i + same_columns.number * Tile::kRows, k);
    load_boxes<Tile::kColumns, 64>(s.b[slot], b, !p.transb, same_columns, &s.full[slot], batch,
                                   j + same_rows.number * Tile::kColumns, k);
  }
}

// The producers that copy themselves; all lanes of the producer warps. The loads of a batch of
// lines are in flight while the batch before is stored, those of the next step's first one too.
template <class Work>
__device__ __forceinline__ void produce_copied(Work& work, int thread) {
  using Tile = typename Work::Tile;
  using Lines = Batch<32 * Tile::kProducerWarps>;
  using OfRows = std::conditional_t<Tile::kFp32Rows, unsigned, uint16_t>;
  constexpr int kBatchesA = Tile::kLinesA / Lines::kLines;
  constexpr int kBatches = kBatchesA + Tile::kColumns / Lines::kLines;
  const GemmProblem& p = work.args.p;
  SharedStorage<Tile>& s = work.s;
  const auto load = [&](Lines& batch, const persistent::StepCursor<Tile>& at, int number) {
    const auto& [i, j, matrix] = at.position;
    const int k = at.k(), depth = static_cast<int>(p.k) - k;
    if (number < kBatchesA) {
      batch.template load<OfRows, Tile::kRows>(p.a, p.transa,
                                               {matrix, i, static_cast<int>(p.m) - i, k, depth},
                                               number * Lines::kLines, thread);
    } else {
      batch.template load<uint16_t, Tile::kColumns>(
          p.b, !p.transb, {matrix, j, static_cast<int>(p.n) - j, k, depth},
          (number - kBatchesA) * Lines::kLines, thread);
    }
  };
  Lines batches[2];
  if (work.at.valid()) load(batches[0], work.at, 0);
  while (work.at.valid()) {
    persistent::StepCursor<Tile> next = work.at;
    next.advance(1, work.args.fast_order);
    work.await_stage();
    if (thread == 0) work.announce();
    const int slot = work.place.slot;
#pragma unroll
    for (int number = 0; number < kBatches; ++number) {
      Lines &now = batches[number % 2], &later = batches[(number + 1) % 2];
      if (number + 1 < kBatches) {
        load(later, work.at, number + 1);
      } else if (next.valid()) {
        load(later, next, 0);
      }
      if (number < kBatchesA) {
        now.store(s.a[slot], number * Lines::kLines, thread);
      } else {
        now.store(s.b[slot], (number - kBatchesA) * Lines::kLines, thread);
      }
    }
    if constexpr (kBatches % 2 != 0) batches[0] = batches[1];
    ptx::fence_bulk();  // tensor cores read the lines as bulk copies do
    ptx::mbarrier_arrive(&s.full[slot]);
    work.at = next;
    work.place.advance(1);
  }
}

// The work of the producer warps.
template <class Work>
__device__ __forceinline__ void produce(Work& work, const OperandMap& a, const OperandMap& b,
                                        int warp, int lane) {
  using Tile = typename Work::Tile;
  if (Tile::kMapped && warp > 0) return;
  // With alpha = 0 on the device nothing of A and B is read.
  const Scalar& alpha = work.args.p.epilogue.alpha;
  if (!Tile::kMapped || alpha.on_device) ptx::wait_for_previous_grid();
  const bool reads = load_scalar(alpha) != 0.0f;
  if constexpr (!Tile::kMapped) {
    if (reads) produce_copied(work, 32 * warp + lane);
    if (warp == 0 && lane == 0) announce_rest(work, kFullArrivals<Tile>);
  } else if (ptx::elect_one()) {
    if (reads) produce_mapped(work, a, b);
    announce_rest(work, 1);
  }
}

}  // namespace mygemm::tensor16
