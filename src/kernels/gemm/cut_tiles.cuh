// How blocks of a product hand each other the pieces of cut tiles (streamk.h). Device only, but for
// the launch of clear_flags.
#pragma once

#include "kernels/gemm/streamk.h"
#include "ptx/global.cuh"
#include "ptx/grid.cuh"
#include "ptx/mbarrier.cuh"

namespace mygemm {

// The flags of cut tiles, once nobody before in the stream uses them. The product behind it waits
// for that before it reads anything.
constexpr int kClearThreads = kMostCutBlocks;
static __global__ void __launch_bounds__(kClearThreads) clear_flags(unsigned* ready) {
  ptx::launch_dependents();
  ptx::wait_for_previous_grid();
  ready[threadIdx.x] = 0;
}

namespace fed {

// What other blocks have of a tile that this block finishes: the pieces of blocks [first, end).
struct Pieces {
  int first, end;
};

// The pieces of the tile that this block finishes, once all are there. The blocks that leave them
// run: they start in the order of their numbers, and each leaves its last piece before it waits for
// others. A thread waits for its share of them: the block's threads must meet then.
template <class Tile, class Args>
__device__ __forceinline__ Pieces await_pieces(const Args& args, int tile, int thread) {
  const auto own = static_cast<int>(blockIdx.x);
  const Pieces pieces{args.shares.first_block_of(tile), own};
  // A flag for each thread: one after another they took 0.8 us each.
  for (int block = pieces.first + thread; block < own; block += 32 * Tile::kConsumerWarps) {
    while (ptx::load_acquire(&args.ready[block]) == 0) {
    }
  }
  return pieces;
}

}  // namespace fed

}  // namespace mygemm
