// Products with a thin side (gemv and the like): what the kernels for either order of the long
// operand share. X is the operand of the larger side of C, Y the other one. X is read once and by
// one thread, so it goes from global memory to registers; Y is read by all of a block's threads,
// from shared memory.
#pragma once

#include "kernels/divisor.h"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/cluster_sum.cuh"
#include "kernels/gemm/tiles.h"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

struct ThinArgs {
  GemmProblem p;
  bool long_is_m;  // X is op(A)
  GemmOperand<const float> x, y;
  int64_t y_along_thin, y_along_k;  // from an element of Y to the next one
  int64_t extent;                   // of the long side
  int thin;                         // extent of the thin side
  int64_t parts_of_tile;            // a pass covers kRows times so many of the long side
  int passes;                       // of a block
  int step_k;                       // from a lane's turn to its next one
  Divisor tiles, matrices;          // blocks along the long side; matrices of the batch
  int64_t depth_per_split;
  unsigned log2_slices;  // of the blocks of a cluster, which share a tile: then its parts of k
  float* partials;       // [split][batch][n][m], or nullptr: results go to C
};

// Which tile, or run of tiles, of which part a block computes. The block's number comes from a lane
// that the compiler does not know: it works this out where it is needed, not once for registers
// that the sums and loads need.
struct ThinBlock {
  unsigned tile, matrix, split;

  __device__ __forceinline__ explicit ThinBlock(const ThinArgs& args) {
    const auto block = static_cast<unsigned>(ptx::same_in_warp(static_cast<int>(blockIdx.x)));
    const unsigned number = block >> args.log2_slices, of_tiles = args.tiles.quotient(number);
    const unsigned of_matrices = args.matrices.quotient(of_tiles);
    tile = number - of_tiles * args.tiles.value();
    matrix = of_tiles - of_matrices * args.matrices.value();
    split = args.log2_slices > 0 ? block - (number << args.log2_slices) : of_matrices;
  }

  __device__ __forceinline__ int64_t k_begin(const ThinArgs& args) const {
    return split * args.depth_per_split;
  }
  // k from there on; 0 or less where nothing is to be added.
  __device__ __forceinline__ int64_t depth(const ThinArgs& args) const {
    return min(args.depth_per_split,
               products_of(args.p, load_scalar(args.p.alpha)) - k_begin(args));
  }
};

// Where results go: to C, or as they are to the partial sums.
class ThinResults {
 public:
  __device__ __forceinline__ ThinResults(const ThinArgs& args, const ThinBlock& block)
      : extent_(args.extent), thin_(args.thin), alpha_(1.0f), beta_(0.0f) {
    const GemmProblem& p = args.p;
    int64_t ld = p.m;
    if (args.partials) {
      const int64_t before = int64_t{block.split} * args.matrices.value() + block.matrix;
      c_ = args.partials + before * p.m * p.n;
    } else {
      c_ = p.c.matrix(block.matrix);
      ld = p.c.ld;
      alpha_ = load_scalar(p.alpha);
      beta_ = load_scalar(p.beta);
    }
    along_long_ = args.long_is_m ? 1 : ld;
    along_thin_ = args.long_is_m ? ld : 1;
  }

  __device__ __forceinline__ void store(int64_t l, int t, float sum) const {
    if (l >= extent_ || t >= thin_) return;
    store_result(c_ + l * along_long_ + t * along_thin_, sum, alpha_, beta_);
  }

 private:
  float* c_;
  int64_t along_long_, along_thin_, extent_;
  int thin_;
  float alpha_, beta_;
};

// Where a block's sums leave: to C or to the partial sums, or to the blocks of its cluster.
template <class Tile>
class ThinSums {
 public:
  // All threads, at the kernel's begin; then, once, before the first sum leaves.
  __device__ __forceinline__ static void open(Inbox<Tile::kMostElements>& inbox,
                                              const ThinArgs& args) {
    if (args.log2_slices > 0) ClusterSum::open(inbox, elements(args));
  }
  __device__ __forceinline__ static void wait_for_inboxes(const ThinArgs& args) {
    if (args.log2_slices > 0) ptx::cluster_wait();
  }

  // first_l: where the tile begins.
  __device__ __forceinline__ ThinSums(Inbox<Tile::kMostElements>& inbox, const ThinArgs& args,
                                      int64_t first_l)
      : ThinSums(inbox, args, first_l, ThinBlock(args)) {}

  // Of place l of the tile and column t: once for each, inside the matrix or not.
  __device__ __forceinline__ void leave(int l, int t, float sum) const {
    if (args_.log2_slices > 0) {
      cluster_.send(l * Tile::kThin + t, sum);
    } else {
      results_.store(first_l_ + l, t, sum);
    }
  }

  // All threads, behind the last sum.
  __device__ __forceinline__ void end() const {
    if (args_.log2_slices == 0) return;
    cluster_.receive([&](int e, float sum) {
      results_.store(first_l_ + e / Tile::kThin, e % Tile::kThin, sum);
    });
  }

 private:
  __device__ __forceinline__ ThinSums(Inbox<Tile::kMostElements>& inbox, const ThinArgs& args,
                                      int64_t first_l, const ThinBlock& block)
      : args_(args),
        results_(args, block),
        cluster_(inbox, elements(args), args.log2_slices, block.split),
        first_l_(first_l) {}

  __device__ __forceinline__ static int elements(const ThinArgs& args) {
    return static_cast<int>(args.parts_of_tile) * Tile::kRows * Tile::kThin;
  }

  const ThinArgs& args_;
  ThinResults results_;
  ClusterSum cluster_;
  int64_t first_l_;
};

// k of a block's chunk; 0 past its last one, and where nothing is to be added.
template <class Tile>
__device__ __forceinline__ int depth_of_chunk(const ThinArgs& args, int chunk) {
  const int64_t left = ThinBlock(args).depth(args) - chunk * int64_t{Tile::kChunk};
  return static_cast<int>(max(int64_t{0}, min(left, int64_t{Tile::kChunk})));
}

// Starts the copies of a chunk of Y, `depth` k, to y[index_of(k, t)]; zeros up to `padded` k and
// kThin columns. Neighbouring threads read neighbours.
template <class Tile, class IndexOf>
__device__ __forceinline__ void copy_chunk(float* y, const ThinArgs& args, int chunk, int depth,
                                           int padded, IndexOf index_of) {
  const ThinBlock block(args);
  const int thread = static_cast<int>(threadIdx.x);
  const float* from = args.y.matrix(block.matrix) +
                      (block.k_begin(args) + chunk * int64_t{Tile::kChunk}) * args.y_along_k;
  // Not unrolled: nothing waits for a copy, and the registers belong to the sums.
  if (args.y_along_k == 1) {
#pragma unroll 1
    for (int t = 0; t < Tile::kThin; ++t, from += args.y_along_thin) {
#pragma unroll 1
      for (int k = thread; k < padded; k += Tile::kThreads) {
        ptx::cp_async_4(y + index_of(k, t), from + k, k < depth && t < args.thin);
      }
    }
  } else {
    static_assert(Tile::kThreads % Tile::kThin == 0);
    const int t = thread % Tile::kThin;
    from += t * args.y_along_thin;
#pragma unroll 1
    for (int k = thread / Tile::kThin; k < padded; k += Tile::kThreads / Tile::kThin) {
      ptx::cp_async_4(y + index_of(k, t), from + k * args.y_along_k, k < depth && t < args.thin);
    }
  }
  ptx::cp_async_commit();
}

}  // namespace mygemm
