// Stream-K: how blocks hand each other the partial tiles of a tile (stream_k.h). Device only,
// except for the launch of clear_flags.
//
// A block waits for blocks of lower numbers only, and takes its number from a counter when it
// starts: so they have started, in whatever order the GPU starts blocks and however few of them it
// runs at once. Each leaves its partial tile before it waits itself. So no wait can last for ever.
#pragma once

#include "kernels/gemm/persistent/work.cuh"
#include "ptx/global.cuh"
#include "ptx/grid.cuh"
#include "ptx/mbarrier.cuh"

namespace mygemm::persistent {

// Clears the flags once no grid before in the stream uses them. The product behind it waits for
// that before it reads anything.
constexpr int kClearThreads = sizeof(StreamKFlags) / sizeof(unsigned);
static __global__ void __launch_bounds__(kClearThreads) clear_flags(unsigned* flags) {
  ptx::launch_dependents();
  ptx::wait_for_previous_grid();
  flags[threadIdx.x] = 0;
}

// The number in the schedule of this block, or of its cluster; one thread, once, when the flags are
// clear. On an H200 it costs a product 0.6 to 1.0 us (2048^3 in stream-K tiles: 150.8 us without,
// 151.8 with).
__device__ __forceinline__ int take_block_number(const Args& args) {
  return static_cast<int>(args.flags ? atomicAdd(&args.flags->next_block, 1u) : blockIdx.x);
}

// The partial tiles of other blocks that belong to the tile which this block finishes: those of
// blocks [first, end).
struct PartialTiles {
  int first, end;
};

__device__ __forceinline__ PartialTiles partial_tiles_of(const Args& args, int tile, int block) {
  return {args.schedule.first_block_of(tile), block};
}

// Waits for them, of which each is `next` places behind the one before. A thread waits for some of
// them: the block's consumers must meet then.
template <class Tile>
__device__ __forceinline__ void await_partial_tiles(const Args& args, const PartialTiles& others,
                                                    int thread, int next = 1) {
  // A flag for each thread: one after another they took 0.8 us each.
  for (int other = others.first + thread * next; other < others.end;
       other += 32 * Tile::kConsumerWarps * next) {
    while (ptx::load_acquire(&args.flags->ready[other]) == 0) {
    }
  }
}

// Announces this block's partial tile, once the block's consumers have met behind their stores; one
// thread.
__device__ __forceinline__ void announce_partial_tile(const Args& args, int block) {
  ptx::store_release(&args.flags->ready[block], 1);
}

}  // namespace mygemm::persistent
