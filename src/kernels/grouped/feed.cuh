// Grouped products of 16-bit operands: the tiles that a block takes, and the warps that bring their
// k steps into shared memory. Device only.
#pragma once

#include "kernels/gemm/tensor16/feed.cuh"
#include "kernels/grouped/kernels.h"
#include "kernels/grouped/list.cuh"
#include "ptx/barrier.cuh"

namespace mygemm::grouped {

using persistent::OperandMap;

// A tile as producers announce it to consumers, in the stage of its first k step.
struct Announced {
  int product, row, column;  // of the product's op(A) and op(B), or of the transposed one's
  int columns;               // a multiple of kUnit
  int steps;                 // k steps, 0: one stage all the same; kNoMore: the end
  static constexpr int kNoMore = -1;

  // The tile that lane 0 has read, for all lanes of its warp.
  __device__ __forceinline__ Announced of_warp() const {
    return {ptx::warp_uniform(product), ptx::warp_uniform(row), ptx::warp_uniform(column),
            ptx::warp_uniform(columns), ptx::warp_uniform(steps)};
  }
};

template <class Tile>
using SharedStorage = tensor16::SharedStorage<Tile, Announced>;

// The kernel's arguments besides its operands' maps. stacked: of the product, or of the transposed
// one. rows_differ: the rows of op(A) are not the same for all products.
struct Args {
  GemmProblem call;
  ProductList list;
  Stacked stacked;
  bool rows_differ;
};

// A tile of those of all products, and its product. Without its steps.
template <class Tile>
__device__ __forceinline__ Announced find_tile(const ProductList& list, int64_t tile, Product* x) {
  const int number = product_of_tile(list, tile);
  *x = list.products[number];
  const auto within = static_cast<int>(tile - list.tiles[number]);
  const auto tiles_n = static_cast<int>(list.tiling.tiles_n(*x));
  const int64_t all_columns = list.tiling.transposed ? x->m : x->n;
  const Columns columns = even_columns(all_columns, within % tiles_n, tiles_n);
  return {number, within / tiles_n * Tile::kRows, columns.first, columns.count, 0};
}

__device__ __forceinline__ int steps_of(const Product& x, bool reads, int step_k) {
  return reads ? static_cast<int>(ceil_div(x.k, step_k)) : 0;
}

// A tile, where its product begins in the stacked size, and its k.
template <class Tile>
struct Found {
  Announced item;
  int before, depth;

  __device__ __forceinline__ void find(const ProductList& list, int64_t tile, bool reads) {
    Product x;
    item = find_tile<Tile>(list, tile, &x);
    item.steps = steps_of(x, reads, Tile::kBlockK);
    before = static_cast<int>(x.before), depth = static_cast<int>(x.k);
  }
};

// Starts the accelerator's copies of a k step; one thread. Boxes have 64 columns, of which a tile
// needs some.
template <class Tile>
__device__ __forceinline__ void load_step(SharedStorage<Tile>& s, int slot, uint64_t* full,
                                          const GemmProblem& p, const OperandMap& a,
                                          const OperandMap& b, const Announced& at, int matrix_a,
                                          int matrix_b, int boxes, int k) {
  constexpr unsigned kBoxBytes = 64 * Tile::kLineBytes;
  constexpr tensor16::Sharers<1, 1> kNoOther;
  ptx::mbarrier_arrive_expect_tx(full, Tile::kStageA + static_cast<unsigned>(boxes) * kBoxBytes);
  tensor16::load_boxes<Tile::kRows, 64>(s.a[slot], a, p.transa, kNoOther, full, matrix_a, at.row,
                                        k);
#pragma unroll 1
  for (int box = 0; box < boxes; ++box) {
    tensor16::load_boxes<64, 64>(s.b[slot] + box * kBoxBytes, b, !p.transb, kNoOther, full,
                                 matrix_b, at.column + 64 * box, k);
  }
}

// Sets the lines of the k from `depth` on to 0 in boxes of 64 lines; all lanes of a warp.
template <class Tile>
__device__ __forceinline__ void clear_lines(unsigned char* stage, int boxes, int depth, int lane) {
  constexpr int kChunks = Tile::kLineBytes / 16;
  for (int at = depth * kChunks + lane; at < 64 * kChunks; at += 32) {
    for (int box = 0; box < boxes; ++box) {
      *reinterpret_cast<uint4*>(stage + (box * 64 * kChunks + at) * 16) = make_uint4(0, 0, 0, 0);
    }
  }
}

// The producer warp that has the accelerator copy. p: of the call, or transposed.
template <class Tile>
__device__ __forceinline__ void produce_mapped(SharedStorage<Tile>& s, const Args& args,
                                               const GemmProblem& p, bool reads,
                                               const OperandMap& a, const OperandMap& b, int lane,
                                               persistent::RingPlace<Tile::kStages>& place) {
  const ProductList& list = args.list;
  const bool stacked_a = args.stacked == Stacked::kM, stacked_b = args.stacked == Stacked::kN;
  const bool stacked_k = args.stacked == Stacked::kK;
  const int64_t tiles = list.tiles[list.count];
  unsigned cut_parity = 0;
  // A tile is asked for, and found, while the loads of the one before wait for stages.
  Found<Tile> following;
  if (blockIdx.x < tiles) following.find(list, blockIdx.x, reads);
  for (int64_t tile = blockIdx.x; tile < tiles;) {
    unsigned next = 0;
    if (lane == 0) next = atomicAdd(list.next, 1u);
    const auto [item, before, depth] = following;
    Announced at = item;
    if (stacked_a) at.row += before;
    if (stacked_b) at.column += before;
    const int matrix_a = stacked_a || stacked_k ? 0 : item.product;
    const int matrix_b = stacked_b || stacked_k ? 0 : item.product;
    const int boxes = (item.columns + 63) / 64;
    for (int step = 0; step < max(1, item.steps); ++step) {
      ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);
      uint64_t* const full = &s.full[place.slot];
      const int k = step * Tile::kBlockK, from = k + (stacked_k ? before : 0);
      const bool cut = stacked_k && item.steps > 0 && k + Tile::kBlockK > depth;
      if (lane == 0) {
        if (step == 0) s.items[place.slot] = item;
        if (item.steps == 0) {
          ptx::mbarrier_arrive(full);
        } else {
          load_step<Tile>(s, place.slot, cut ? &s.turn[0] : full, p, a, b, at, matrix_a, matrix_b,
                          boxes, from);
        }
      }
      __syncwarp();
      if (cut) {  // the rest of the step is of the next product
        ptx::mbarrier_wait(&s.turn[0], cut_parity);
        cut_parity ^= 1;
        clear_lines<Tile>(s.a[place.slot], Tile::kRows / 64, depth - k, lane);
        clear_lines<Tile>(s.b[place.slot], boxes, depth - k, lane);
        ptx::fence_bulk();
        __syncwarp();
        if (lane == 0) ptx::mbarrier_arrive(full);
      }
      place.advance(1);
      if (step == 0) {
        tile = int64_t{gridDim.x} + __shfl_sync(~0u, next, 0);
        if (tile < tiles) following.find(list, tile, reads);
      }
    }
  }
}

// The producers that copy themselves; all lanes of the producer warps.
template <class Tile, bool kTransposed>
__device__ __forceinline__ void produce_copied(SharedStorage<Tile>& s, const Args& args, bool reads,
                                               int thread,
                                               persistent::RingPlace<Tile::kStages>& place) {
  constexpr int kThreads = 32 * Tile::kProducerWarps, kBarrier = 2;
  using Lines = tensor16::Batch<kThreads>;
  constexpr int kBatchesA = Tile::kRows / Lines::kLines;
  constexpr int kBatches = kBatchesA + Tile::kColumns / Lines::kLines;
  const ProductList& list = args.list;
  const int64_t tiles = list.tiles[list.count];
  for (int64_t tile = blockIdx.x; tile < tiles;) {
    if (thread == 0) s.block = static_cast<int>(atomicAdd(list.next, 1u));
    Product x;
    Announced item = find_tile<Tile>(list, tile, &x);
    item.steps = steps_of(x, reads, Tile::kBlockK);
    GemmProblem p = problem_of(args.call, x);
    if (kTransposed) p = transposed(p);
    const int rows = static_cast<int>(p.m) - item.row;
    const int columns = static_cast<int>(p.n) - item.column;
    const auto load = [&](Lines& batch, int step, int number) {
      const int k = step * Tile::kBlockK, depth = static_cast<int>(p.k) - k;
      if (number < kBatchesA) {
        batch.template load<uint16_t, Tile::kRows>(p.a, p.transa, {0, item.row, rows, k, depth},
                                                   number * Lines::kLines, thread);
      } else {
        batch.template load<uint16_t, Tile::kColumns>(p.b, !p.transb,
                                                      {0, item.column, columns, k, depth},
                                                      (number - kBatchesA) * Lines::kLines, thread);
      }
    };
    Lines batches[2];
    if (item.steps > 0) load(batches[0], 0, 0);
    for (int step = 0; step < max(1, item.steps); ++step) {
      ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);
      if (step == 0 && thread == 0) s.items[place.slot] = item;
      if (item.steps > 0) {
#pragma unroll
        for (int number = 0; number < kBatches; ++number) {
          Lines &now = batches[number % 2], &later = batches[(number + 1) % 2];
          if (number + 1 < kBatches) {
            load(later, step, number + 1);
          } else if (step + 1 < item.steps) {
            load(later, step + 1, 0);
          }
          if (number < kBatchesA) {
            now.store(s.a[place.slot], number * Lines::kLines, thread);
          } else {
            now.store(s.b[place.slot], (number - kBatchesA) * Lines::kLines, thread);
          }
        }
        static_assert(kBatches % 2 == 0, "a step begins with the batch that the one before loads");
      }
      ptx::fence_bulk();  // tensor cores read the lines as bulk copies do
      ptx::mbarrier_arrive(&s.full[place.slot]);
      place.advance(1);
    }
    ptx::meet_at_barrier(kBarrier, kThreads);
    tile = int64_t{gridDim.x} + s.block;
    ptx::meet_at_barrier(kBarrier, kThreads);  // all have read it
  }
}

// The work of the producer warps.
template <class Tile, bool kTransposed>
__device__ __forceinline__ void produce(SharedStorage<Tile>& s, const Args& args,
                                        const OperandMap& a, const OperandMap& b, int warp,
                                        int lane) {
  if (Tile::kMapped && warp > 0) return;
  const bool reads = load_scalar(args.call.epilogue.alpha) != 0.0f;
  persistent::RingPlace<Tile::kStages> place;
  if constexpr (Tile::kMapped) {
    const GemmProblem p = kTransposed ? transposed(args.call) : args.call;
    produce_mapped<Tile>(s, args, p, reads, a, b, lane, place);
  } else {
    produce_copied<Tile, kTransposed>(s, args, reads, 32 * warp + lane, place);
  }
  ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);
  if (warp == 0 && lane == 0) s.items[place.slot] = {0, 0, 0, 0, Announced::kNoMore};
  if (!Tile::kMapped || lane == 0) ptx::mbarrier_arrive(&s.full[place.slot]);
}

}  // namespace mygemm::grouped
