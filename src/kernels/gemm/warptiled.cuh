// Matrix product, step 3 of the ladder: warps compute register tiles from a ring of shared-memory
// stages that cp.async fills ahead of the products (plain copies below sm_80). Edges are handled
// inside: elements outside a matrix are loaded as zero and not stored.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/partials.h"
#include "kernels/gemm/residency.cuh"
#include "kernels/gemm/tile_order.h"
#include "kernels/gemm/warptiled.h"
#include "kernels/launch.h"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

// A product, or all splits of one: the k of each split, and where partial sums go.
struct WarpTiledArgs {
  GemmProblem p;
  TilesInBands tiles;   // of all splits, one after another
  Divisor batch_count;  // matrices of a split
  int64_t k_per_split;  // a multiple of block_k
  float* partials;      // (split, batch, n, m), or nullptr: results go to D
};

namespace warptiled {

// One operand of one block: copies of its tile into stages, k ascending. A thread copies the same
// places of every stage, `kCopies` of them, kTileStep apart along the tile or kDepthStep along k;
// it keeps one pointer and small integers, for registers belong to the results.
template <OperandLoad kLoad, int kBlock, int kBlockK, int kThreads>
class TileLoader {
 public:
  static constexpr int kPitch = kBlock + 4;

  // first: element (0, 0) of the tile. extent: elements along the tile inside the matrix.
  __device__ TileLoader(const float* first, int64_t ld, int64_t extent)
      : ld_(ld), extent_(static_cast<int>(extent < kBlock ? extent : kBlock)) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (kLoad == OperandLoad::kTransposing) {
      // A warp covers 8 k x 4 i: whole 32-byte sectors of 4 rows in, 32 different banks out.
      const int lane = thread % 32, patch = thread / 32;
      k_ = patch % (kBlockK / 8) * 8 + lane % 8;
      i_ = patch / (kBlockK / 8) * 4 + lane / 8;
      next_ = first + i_ * ld + k_;
    } else {
      k_ = thread * kWidth / kBlock;
      i_ = thread * kWidth % kBlock;
      next_ = first + k_ * ld + i_;
    }
  }

  // Fills stage[k][i], of which `k_left` k are inside the matrix, and moves on to the next tile.
  __device__ void load(float (&stage)[kBlockK][kPitch], int64_t k_left) {
    const int depth = static_cast<int>(k_left < kBlockK ? k_left : kBlockK);
    const float* from = next_;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) {
      const int i = i_ + copy * kTileStep, k = k_ + copy * kDepthStep;
      copy_one(&stage[k][i], from, i, k < depth);
      from += kLoad == OperandLoad::kTransposing ? kTileStep * ld_ : kDepthStep * ld_;
    }
    next_ += kLoad == OperandLoad::kTransposing ? kBlockK : kBlockK * ld_;
  }

 private:
  static constexpr int kWidth = kLoad == OperandLoad::kCopy16 ? 4 : 1;
  static constexpr int kCopies = kBlock * kBlockK / (kThreads * kWidth);
  static constexpr int kTileStep =
      kLoad == OperandLoad::kTransposing ? 4 * kThreads / 32 / (kBlockK / 8) : 0;
  static constexpr int kDepthStep =
      kLoad == OperandLoad::kTransposing ? 0 : kThreads * kWidth / kBlock;
  static_assert(kCopies * kThreads * kWidth == kBlock * kBlockK, "threads share the copies evenly");
  static_assert(kLoad == OperandLoad::kTransposing || kDepthStep * kBlock == kThreads * kWidth);

  __device__ void copy_one(float* to, const float* from, int i, bool k_inside) const {
    if constexpr (kLoad == OperandLoad::kCopy16) {
      ptx::cp_async_first_of_16(to, from, k_inside ? min(4, max(0, extent_ - i)) : 0);
    } else {
      ptx::cp_async_4(to, from, i < extent_ && k_inside);
    }
  }

  const float* next_;
  int64_t ld_;
  int extent_, i_, k_;
};

// The product of which a block computes a tile, where there is one. Other arguments than these are
// those of kernels/grouped/.
__device__ __forceinline__ bool has_tile(const WarpTiledArgs&) { return true; }
template <class Tile>
__device__ __forceinline__ const GemmProblem& problem_of_block(const WarpTiledArgs& args) {
  return args.p;
}

// Which tile a block computes.
struct TileIndex {
  int64_t m, n, batch, split;
};

// By multiplications. With divisions of 64 bits, of which a block had ten, products of under 30 us
// took 1.12 to 1.16 times as long on average (H200, 147 shapes).
__device__ __forceinline__ TileIndex tile_of_block(const WarpTiledArgs& args, unsigned block) {
  const auto [m, n, matrix] = args.tiles.place_of(block);
  const unsigned split = args.batch_count.quotient(matrix);
  return {m, n, matrix - split * args.batch_count.value(), split};
}

// k of a stage whose products are unrolled together: all of them, 2 at a time cost 11 % at 4096^3
// on an H200. From sm_100 on that many spill at 128 registers, and from sm_120 on 2. From sm_80 to
// sm_89 they spill in two kernels alone.
template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
__device__ constexpr int unrolled_steps() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
  return 1;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return 2;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900
  constexpr bool kSpills =
      Tile::kBlockM == 128 && kLoadA == OperandLoad::kCopy4 &&
      kLoadB == (Tile::kBlockN == 64 ? OperandLoad::kCopy4 : OperandLoad::kCopy16);
  return kSpills ? 2 : Tile::kBlockK;
#else
  return Tile::kBlockK;
#endif
}

// Element (tile origin, k) of an operand.
__device__ __forceinline__ const float* first_element(const Operand& x, int64_t batch,
                                                      int64_t origin, int64_t k, OperandLoad load) {
  return x.matrix<const float>(batch) +
         (load == OperandLoad::kTransposing ? origin * x.ld + k : origin + k * x.ld);
}

// A lane's quads of one operand for one k: kQuads x 4 values, kStride apart.
template <int kQuads, int kStride>
__device__ __forceinline__ void load_fragment(float (&fragment)[4 * kQuads], const float* shared) {
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const float4 quad = *reinterpret_cast<const float4*>(shared + q * kStride);
    fragment[4 * q + 0] = quad.x;
    fragment[4 * q + 1] = quad.y;
    fragment[4 * q + 2] = quad.z;
    fragment[4 * q + 3] = quad.w;
  }
}

// Stores a block's sums through the epilogue of `d`, the block's tile: 16 columns of a warp at a
// time by way of shared memory, in which a loop can count through them. Where columns are aligned,
// a lane stores a quad; else 32 lanes store neighbours, or each sector of memory would be written
// four times. Stores from registers are unrolled, hundreds of instructions that come from L2 once
// for each block: H200, up to 32 k, they took 1.07 times as long aligned, and 1.2 times as long
// (with quads exchanged one by one) where not.
template <class Tile, class Epilogue>
__device__ __forceinline__ void store_sums(
    typename Tile::SharedStorage& shared, const OutputTile<Epilogue>& d,
    const float (&sum)[4 * Tile::kQuadsN][4 * Tile::kQuadsM]) {
  constexpr int kColumns = Tile::kExchangedColumns;
  const int warp = ptx::thread_again() / 32, lane = ptx::thread_again() % 32;
  const int row = warp % Tile::kWarpsM * Tile::kWarpM, column = warp / Tile::kWarpsM * Tile::kWarpN;
  const int quad_row = lane % 8 * 4, quad_column = lane / 8;
  __syncthreads();  // the stages are free
  auto& exchange = shared.exchange[warp];
#pragma unroll
  for (int first = 0; first < Tile::kWarpN; first += kColumns) {
    __syncwarp();  // what was exchanged before has been read
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int q = 0; q < Tile::kQuadsM; ++q) {
        const float* quad = &sum[first / 4 + j][4 * q];
        *reinterpret_cast<float4*>(&exchange[4 * quad_column + j][32 * q + quad_row]) =
            make_float4(quad[0], quad[1], quad[2], quad[3]);
      }
    }
    __syncwarp();
    if (d.in_quads) {
      const int m = row + quad_row, n = column + first + quad_column;
      float* to = d.first + m + n * d.ld;
#pragma unroll 1
      for (int j = 0; j < kColumns; j += 4) {
        if (n + j >= d.columns) break;
#pragma unroll
        for (int i = 0; i < Tile::kWarpM; i += 32) {
          const float4 four =
              *reinterpret_cast<const float4*>(&exchange[quad_column + j][quad_row + i]);
          const float quad[4] = {four.x, four.y, four.z, four.w};
          store_quad(to + i, m + i, n + j, quad, d.rows - m - i, d.epilogue);
        }
        to = ptx::advanced(to, 4 * d.ld);
      }
    } else {
      const int m = row + lane, n = column + first;
      float* to = d.first + m + n * d.ld;
#pragma unroll 4
      for (int j = 0; j < kColumns; ++j) {
        if (n + j >= d.columns) break;
#pragma unroll
        for (int i = 0; i < Tile::kWarpM; i += 32) {
          if (m + i < d.rows) {
            store_result(to + i, m + i, n + j, exchange[j][lane + i], d.epilogue);
          }
        }
        to = ptx::advanced(to, d.ld);
      }
    }
  }
}

// Stores a block's sums to D, or to the workspace as partial sums. Computes the tile's position
// again, to save registers.
template <class Tile>
__device__ __forceinline__ void store_tile(
    typename Tile::SharedStorage& shared, const WarpTiledArgs& args,
    const float (&sum)[4 * Tile::kQuadsN][4 * Tile::kQuadsM]) {
  const GemmProblem& p = args.p;
  const TileIndex tile = tile_of_block(args, ptx::block_again());
  const TileOrigin origin{tile.batch, tile.m * Tile::kBlockM, tile.n * Tile::kBlockN};
  if (args.partials != nullptr) {
    float* matrix = args.partials + (tile.split * p.batch_count + tile.batch) * p.m * p.n;
    store_sums<Tile>(shared,
                     OutputTile(matrix + origin.i + origin.j * p.m, p.m, p.m - origin.i,
                                p.n - origin.j, PartialSums{}),
                     sum);
    return;
  }
  const auto store = [&](const auto& epilogue) {
    store_sums<Tile>(shared, OutputTile(p, origin, epilogue), sum);
  };
  const Scalars scalars(p);
  const ScaleEpilogue scale{scalars.alpha, scalars.beta};
  if (!p.fused) return store(scale);
  const bool fills_all = p.fill == MYGEMM_FILL_FULL;
  if (!fills_all && p.in_place()) return store(MaskedEpilogue(p, origin, scale));
  // One for triangles and for all of D. With one for each, kernels had 28,000 and 55,000
  // instructions, not 16,000 and 30,000, nearly all of them epilogues, and nvcc took three times
  // as long for all of them.
  MaskedEpilogue fused(p, origin, FusedEpilogue<>(p, scalars, origin));
  if (fills_all) fused.keep_all();
  store(fused);
}

}  // namespace warptiled

template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB, class Args = WarpTiledArgs>
__global__ void __launch_bounds__(Tile::kThreads, resident_blocks<Tile>())
    gemm_warptiled(const Args args) {
  using namespace warptiled;
  [[maybe_unused]] constexpr int kUnrolled = unrolled_steps<Tile, kLoadA, kLoadB>();
  auto& shared = shared_storage<typename Tile::SharedStorage>();
  ptx::wait_for_previous_grid();
  if (!has_tile(args)) return;
  const GemmProblem& p = problem_of_block<Tile>(args);
  const TileIndex tile = tile_of_block(args, blockIdx.x);
  const int64_t i0 = tile.m * Tile::kBlockM, j0 = tile.n * Tile::kBlockN;
  if (!p.fills_some(i0, j0, Tile::kBlockM, Tile::kBlockN)) return;
  const int64_t depth = effective_k(p, load_scalar(p.epilogue.alpha));
  const int64_t k_begin = tile.split * args.k_per_split;
  const int64_t k_end = min(depth, k_begin + args.k_per_split);

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int i_lane = warp % Tile::kWarpsM * Tile::kWarpM + lane % 8 * 4;  // row of the first quad
  const int j_lane = warp / Tile::kWarpsM * Tile::kWarpN + lane / 8 * 4;  // column of it

  float sum[4 * Tile::kQuadsN][4 * Tile::kQuadsM] = {};  // (thread_n, thread_m)
  if (k_begin < k_end) {
    TileLoader<kLoadA, Tile::kBlockM, Tile::kBlockK, Tile::kThreads> load_a(
        first_element(p.a, tile.batch, i0, k_begin, kLoadA), p.a.ld, p.m - i0);
    TileLoader<kLoadB, Tile::kBlockN, Tile::kBlockK, Tile::kThreads> load_b(
        first_element(p.b, tile.batch, j0, k_begin, kLoadB), p.b.ld, p.n - j0);
    int64_t k_left = k_end - k_begin;  // not yet loaded
    int filled = 0, stage = 0;         // the stages to load and to compute next
    const auto load_next = [&] {
      if (k_left > 0) {
        load_a.load(shared.stages.a[filled], k_left);
        load_b.load(shared.stages.b[filled], k_left);
        k_left -= Tile::kBlockK;
        filled = filled + 1 == Tile::kStages ? 0 : filled + 1;
      }
      ptx::cp_async_commit();  // also where empty: the wait below counts groups
    };
    for (int ahead = 0; ahead < Tile::kStages - 1; ++ahead) load_next();

    for (int64_t k = k_begin; k < k_end; k += Tile::kBlockK) {
      ptx::cp_async_wait<Tile::kStages - 2>();
      __syncthreads();  // all copies of this step are in; the last step's stage is free
      load_next();
#pragma unroll kUnrolled
      for (int kk = 0; kk < Tile::kBlockK; ++kk) {
        float a[4 * Tile::kQuadsM], b[4 * Tile::kQuadsN];
        load_fragment<Tile::kQuadsM, 32>(a, &shared.stages.a[stage][kk][i_lane]);
        load_fragment<Tile::kQuadsN, 16>(b, &shared.stages.b[stage][kk][j_lane]);
#pragma unroll
        for (int j = 0; j < 4 * Tile::kQuadsN; ++j) {
#pragma unroll
          for (int i = 0; i < 4 * Tile::kQuadsM; ++i) sum[j][i] = fmaf(a[i], b[j], sum[j][i]);
        }
      }
      stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
    }
  }

  ptx::launch_dependents();
  store_tile<Tile>(shared, args, sum);
}

namespace warptiled {

template <class Tile, OperandLoad kLoadA>
Status launch_for_a(const WarpTiledArgs& args, const GemmConfig& config,
                    const LaunchContext& context) {
  const auto run = [&](auto kernel) { return launch(context, kernel, config, args); };
  switch (config.load_b) {
    case OperandLoad::kCopy16: return run(gemm_warptiled<Tile, kLoadA, OperandLoad::kCopy16>);
    case OperandLoad::kCopy4: return run(gemm_warptiled<Tile, kLoadA, OperandLoad::kCopy4>);
    default: return run(gemm_warptiled<Tile, kLoadA, OperandLoad::kTransposing>);
  }
}

template <class Tile>
Status launch_for_loads(const WarpTiledArgs& args, const GemmConfig& config,
                        const LaunchContext& context) {
  switch (config.load_a) {
    case OperandLoad::kCopy16:
      return launch_for_a<Tile, OperandLoad::kCopy16>(args, config, context);
    case OperandLoad::kCopy4: return launch_for_a<Tile, OperandLoad::kCopy4>(args, config, context);
    default: return launch_for_a<Tile, OperandLoad::kTransposing>(args, config, context);
  }
}

}  // namespace warptiled

template <class Tile>
Status cuda::launch_gemm_warptiled(const GemmProblem& p, const GemmConfig& config,
                                   const LaunchContext& context) {
  const bool split = config.k_split == KSplit::kWorkspace;
  const WarpTiledArgs args{
      p,
      {static_cast<unsigned>(config.tiles_m), static_cast<unsigned>(config.tiles_n)},
      Divisor(static_cast<unsigned>(p.batch_count)),
      split ? config.k_per_split : ceil_div(p.k, Tile::kBlockK) * Tile::kBlockK,
      split ? static_cast<float*>(context.workspace) : nullptr};
  RETURN_IF_ERROR(warptiled::launch_for_loads<Tile>(args, config, context));
  return split ? launch_add_partials(p, config, context) : MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
