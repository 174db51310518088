// Products with a thin side (gemv and the like): arguments and stores that the kernels for either
// layout of the long operand share. X is the operand of the larger side of D, Y the other one. An
// element of X is read once, by one thread, from global memory to registers; Y is read by all
// threads of a block, from shared memory.
#pragma once

#include "kernels/divisor.h"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/cluster_sum.cuh"
#include "kernels/gemm/thin.h"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

struct ThinArgs {
  GemmProblem p;
  bool long_is_m;  // X is op(A)
  Operand x, y;
  int64_t y_along_thin, y_along_k;  // from an element of Y to the next one
  int64_t extent;                   // of the long side
  int thin;                         // extent of the thin side
  int64_t row_groups;               // of rows of the long side, in a pass
  int passes;                       // tiles that a block computes one after another
  int step_k;                       // k from one load of a lane to its next one
  Divisor tiles, matrices;          // blocks along the long side; matrices of the batch
  int64_t k_per_split;
  unsigned log2_splits;  // cluster split-K: the blocks of a cluster, as a power of two
  float* partials;       // (split, batch, n, m), or nullptr: results go to D
  bool y_in_quads;       // 16 bits: Y's neighbours along k are loaded 16 bytes at a time
};

// The tile, or the tiles of all passes, and the split that a block computes. The block's number is
// broadcast from a lane, opaque to the compiler, which then computes these values where they are
// used instead of keeping them in registers that the sums and loads need.
struct ThinBlock {
  unsigned tile, matrix, split;

  __device__ __forceinline__ explicit ThinBlock(const ThinArgs& args) {
    const auto block = static_cast<unsigned>(ptx::warp_uniform(static_cast<int>(blockIdx.x)));
    const unsigned number = block >> args.log2_splits, of_tiles = args.tiles.quotient(number);
    const unsigned of_matrices = args.matrices.quotient(of_tiles);
    tile = number - of_tiles * args.tiles.value();
    matrix = of_tiles - of_matrices * args.matrices.value();
    split = args.log2_splits > 0 ? block - (number << args.log2_splits) : of_matrices;
  }

  __device__ __forceinline__ int64_t k_begin(const ThinArgs& args) const {
    return split * args.k_per_split;
  }
  // k from there on; 0 or less where nothing is to be added.
  __device__ __forceinline__ int64_t depth(const ThinArgs& args) const {
    return min(args.k_per_split,
               effective_k(args.p, load_scalar(args.p.epilogue.alpha)) - k_begin(args));
  }
};

// Stores results to D through the epilogue, or partial sums to the workspace. Places are counted
// along the long side and the thin one. kAnyType: D's elements are of any type, not just floats.
template <bool kAnyType>
class ThinResults {
 public:
  __device__ __forceinline__ ThinResults(const ThinArgs& args, const ThinBlock& block)
      : args_(args), scalars_(args.p), batch_(block.matrix) {
    const GemmProblem& p = args.p;
    int64_t ld = p.m;
    if (args.partials) {
      const int64_t before = int64_t{block.split} * args.matrices.value() + block.matrix;
      first_ = args.partials + before * p.m * p.n;
    } else {
      if constexpr (kAnyType) {
        first_ = nullptr;
      } else {
        first_ = p.d.matrix<float>(block.matrix);
      }
      ld = p.d.ld;
    }
    along_long_ = args.long_is_m ? 1 : ld;
    along_thin_ = args.long_is_m ? ld : 1;
  }

  __device__ __forceinline__ void store(int64_t l, int t, float sum) const {
    if (l >= args_.extent || t >= args_.thin) return;
    const int64_t place = l * along_long_ + t * along_thin_;
    if (args_.partials) {
      store_result(first_ + place, 0, 0, sum, PartialSums{});
      return;
    }
    if constexpr (kAnyType) {
      switch (args_.p.d.type) {
        case MYGEMM_R_16F: return store(args_.p.d.matrix<__half>(batch_) + place, l, t, sum);
        case MYGEMM_R_16BF:
          return store(args_.p.d.matrix<__nv_bfloat16>(batch_) + place, l, t, sum);
        case MYGEMM_R_32F: return store(args_.p.d.matrix<float>(batch_) + place, l, t, sum);
      }
    } else {
      store(first_ + place, l, t, sum);
    }
  }

 private:
  template <class T>
  __device__ __forceinline__ void store(T* to, int64_t l, int t, float sum) const {
    const int64_t i = args_.long_is_m ? l : t, j = args_.long_is_m ? t : l;
    with_epilogue<T>(args_.p, scalars_, {batch_, i, j},
                     [&](const auto& epilogue) { store_result(to, 0, 0, sum, epilogue); });
  }

  const ThinArgs& args_;
  Scalars scalars_;
  int64_t batch_;
  float* first_;  // of D or of the partial sums; unused for a D of any type
  int64_t along_long_, along_thin_;
};

// The destination of a block's sums: D, the workspace, or the blocks of its cluster.
template <class Tile, bool kKMajor>
class ThinSums {
 public:
  // Called by all threads: open() at the beginning of the kernel, wait_for_inboxes() before
  // leave().
  __device__ __forceinline__ static void open(Inbox<Tile::kMostElements>& inbox,
                                              const ThinArgs& args) {
    if (args.log2_splits > 0) ClusterSum::open(inbox, elements(args));
  }
  __device__ __forceinline__ static void wait_for_inboxes(const ThinArgs& args) {
    if (args.log2_splits > 0) ptx::cluster_wait();
  }

  // first_l: the beginning of the tile along the long side.
  __device__ __forceinline__ ThinSums(Inbox<Tile::kMostElements>& inbox, const ThinArgs& args,
                                      int64_t first_l)
      : ThinSums(inbox, args, first_l, ThinBlock(args)) {}

  // The sum of place l of the tile and column t: once for each, inside the matrix or not.
  __device__ __forceinline__ void leave(int l, int t, float sum) const {
    if (args_.log2_splits > 0) {
      cluster_.send(l * Tile::kThin + t, sum);
    } else {
      results_.store(first_l_ + l, t, sum);
    }
  }

  // Called by all threads behind the last leave().
  __device__ __forceinline__ void end() const {
    if (args_.log2_splits == 0) return;
    cluster_.receive([&](int e, float sum) {
      results_.store(first_l_ + e / Tile::kThin, e % Tile::kThin, sum);
    });
  }

 private:
  __device__ __forceinline__ ThinSums(Inbox<Tile::kMostElements>& inbox, const ThinArgs& args,
                                      int64_t first_l, const ThinBlock& block)
      : args_(args),
        results_(args, block),
        cluster_(inbox, elements(args), args.log2_splits, block.split),
        first_l_(first_l) {}

  __device__ __forceinline__ static int elements(const ThinArgs& args) {
    return static_cast<int>(args.row_groups) * Tile::rows_of_group(kKMajor) * Tile::kThin;
  }

  const ThinArgs& args_;
  ThinResults<(Tile::kElementBytes < 4)> results_;
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
  const float* from = args.y.matrix<const float>(block.matrix) +
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

// The same for elements of 16 bits, which become floats. Every thread has several loads in flight
// at once.
template <class Tile, class T, class IndexOf>
__device__ __forceinline__ void convert_chunk(float* y, const ThinArgs& args, int chunk, int depth,
                                              int padded, IndexOf index_of) {
  const ThinBlock block(args);
  const int thread = static_cast<int>(threadIdx.x);
  const T* from = args.y.matrix<const T>(block.matrix) +
                  (block.k_begin(args) + chunk * int64_t{Tile::kChunk}) * args.y_along_k;
  if (args.y_in_quads) {
    constexpr int kEights = Tile::kChunk / 8, kUnrolled = 2;
    static_assert(kEights * Tile::kThin % (kUnrolled * Tile::kThreads) == 0);
#pragma unroll 1
    for (int first = thread; first < kEights * Tile::kThin; first += kUnrolled * Tile::kThreads) {
      uint4 words[kUnrolled];
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) {
        const int at = first + i * Tile::kThreads, k = at % kEights * 8, t = at / kEights;
        words[i] = ptx::load_16_bytes(from + t * args.y_along_thin + k, k < depth && t < args.thin);
      }
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) {
        const int at = first + i * Tile::kThreads, k = at % kEights * 8, t = at / kEights;
        if (k >= padded) continue;
        const unsigned pairs[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 two = floats_of<T>(pairs[j]);
          y[index_of(k + 2 * j, t)] = two.x, y[index_of(k + 2 * j + 1, t)] = two.y;
        }
      }
    }
    return;
  }
  constexpr int kAtOnce = 4;
  const bool along_k = args.y_along_k == 1;
  // Neighbouring threads read neighbours.
  const int elements = padded * Tile::kThin;
#pragma unroll 1
  for (int first = thread; first < elements; first += kAtOnce * Tile::kThreads) {
    unsigned bits[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = first + i * Tile::kThreads;
      const int k = along_k ? at % padded : at / Tile::kThin;
      const int t = along_k ? at / padded : at % Tile::kThin;
      bits[i] = ptx::load_2_bytes(from + t * args.y_along_thin + k * args.y_along_k,
                                  k < depth && t < args.thin);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = first + i * Tile::kThreads;
      const int k = along_k ? at % padded : at / Tile::kThin;
      const int t = along_k ? at / padded : at % Tile::kThin;
      if (at < elements) y[index_of(k, t)] = floats_of<T>(bits[i]).x;
    }
  }
}

}  // namespace mygemm
