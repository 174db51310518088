// Matrix product in small tiles: a warp computes one tile after another by itself, from a ring of
// stages of its own. Its copies (cp.async; plain ones below sm_80) run ahead of the products across
// the end of a tile: while it stores one tile, the loads of the next one are in flight. For batches
// of small matrices, and for a k too small to hide the fixed overhead of a block. Edges are handled
// inside: elements outside a matrix are loaded as zero and not stored.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/residency.cuh"
#include "kernels/gemm/small.h"
#include "kernels/launch.h"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

struct SmallArgs {
  GemmProblem p;
  unsigned tiles;             // of all matrices
  unsigned tiles_per_matrix;  // numbered along the shorter side first: neighbours share the longer
  unsigned shorter;           // tiles of that side
  bool shorter_is_n;
};

namespace small {

// A stage of one operand: kDepth k of kTile rows of A (columns of B), laid out as in the matrix, so
// that copies of 16 bytes serve every op(). "Along the tile" is along m for A, along n for B.
template <bool kAlongK_, int kTile_, int kDepth_, int kRun>
struct Stage {
  static constexpr bool kAlongK = kAlongK_;  // K-major; else MN-major
  static constexpr int kTile = kTile_, kDepth = kDepth_;

  // Where (i, k) lies. Lanes read 16 bytes along k of rows that are kRun rows apart: the exclusive
  // or sends 8 lanes to 8 different groups of 4 banks.
  __device__ static constexpr int at(int i, int k) {
    return kAlongK ? (i * kDepth + k) ^ (i / kRun % 8 * 4) : k * kTile + i;
  }
  // at(lane_i + i, lane_k + k) of at(lane_i, lane_k) and at(i, k), which have no bit in common: one
  // operation for each of the 8 places in 128 bytes, and what is beyond goes into the instruction.
  __device__ static constexpr int beside(int lane_at, int constant_at) {
    return (lane_at ^ (constant_at & 31)) + (constant_at & ~31);
  }
  static_assert(!kAlongK || 32 / kDepth <= kRun, "rows of the same 128 bytes are permuted alike");
};

__device__ __forceinline__ int lane_number() { return static_cast<int>(threadIdx.x % 32); }

// Copies one operand's stages for one warp, k ascending.
template <class Stage>
class StageLoader {
 public:
  // tile: element (0, 0) of the tile. extent: rows (columns) of the tile inside the matrix.
  __device__ void begin(const float* tile, int64_t ld, int64_t extent) {
    next_ = tile;
    extent_ = static_cast<int>(extent < Stage::kTile ? extent : Stage::kTile);
    aligned_ = common_alignment(reinterpret_cast<uintptr_t>(tile), ld * 4) == 16;
  }

  // Fills the stage, of which `depth` k are inside the matrix, and moves on.
  __device__ void load(float* stage, int64_t ld, int depth) {
    const int in_line = lane_number() % kLanes * 4, line = lane_number() / kLanes;
    const int lane_at = Stage::kAlongK ? Stage::at(line, in_line) : Stage::at(in_line, line);
    const float* from = next_ + line * ld + in_line;
    if (aligned_ && extent_ == Stage::kTile && depth == Stage::kDepth) {
#pragma unroll
      for (int step = 0; step < kLines; step += kStep) {
        ptx::cp_async_16(stage + at_step(lane_at, step), from, true);
        from += kStep * ld;
      }
    } else {
      const int inside = (Stage::kAlongK ? depth : extent_) - in_line;
      const int lines = (Stage::kAlongK ? extent_ : depth) - line;
#pragma unroll 1
      for (int step = 0; step < kLines; step += kStep) {
        copy_edge(stage + at_step(lane_at, step), from, step < lines ? inside : 0);
        from += kStep * ld;
      }
    }
    next_ += Stage::kAlongK ? Stage::kDepth : Stage::kDepth * ld;
  }

 private:
  // Lines run along the contiguous direction of the matrix. kLanes lanes share a line.
  static constexpr int kLine = Stage::kAlongK ? Stage::kDepth : Stage::kTile;
  static constexpr int kLines = Stage::kTile * Stage::kDepth / kLine;
  static constexpr int kLanes = kLine / 4, kStep = 32 / kLanes;

  __device__ static int at_step(int lane_at, int step) {
    return Stage::beside(lane_at, Stage::kAlongK ? Stage::at(step, 0) : Stage::at(0, step));
  }

  // 4 floats of any alignment, of which those from `inside` on are outside the matrix.
  __device__ void copy_edge(float* to, const float* from, int inside) const {
    if (aligned_) {
      ptx::cp_async_first_of_16(to, from, min(4, max(0, inside)));
    } else {  // one at a time, another one in each 8 lanes: no bank conflicts
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int e = (r + lane_number() / 8) % 4;
        ptx::cp_async_4(to + e, from + e, e < inside);
      }
    }
  }

  const float* next_;
  int extent_;
  bool aligned_;
};

struct TilePlace {
  unsigned m, n, batch;
};

__device__ __forceinline__ TilePlace place_of(const SmallArgs& args, unsigned tile) {
  if (args.tiles_per_matrix == 1) return {0, 0, tile};  // divisions take longer than a small tile
  const unsigned batch = tile / args.tiles_per_matrix;
  const unsigned within = tile - batch * args.tiles_per_matrix;
  const unsigned along_longer = within / args.shorter;
  const unsigned along_shorter = within - along_longer * args.shorter;
  return args.shorter_is_n ? TilePlace{along_longer, along_shorter, batch}
                           : TilePlace{along_shorter, along_longer, batch};
}

// patch[k][first + r]: 4 k of kRun rows (columns) from (i, k) beside the lane's on.
template <class Stage, int kRun, int kAll>
__device__ __forceinline__ void load_patch(float (&patch)[4][kAll], int first, const float* stage,
                                           int lane_at, int i) {
  if constexpr (Stage::kAlongK) {
#pragma unroll
    for (int r = 0; r < kRun; ++r) {
      const float4 quad =
          *reinterpret_cast<const float4*>(stage + Stage::beside(lane_at, Stage::at(i + r, 0)));
      patch[0][first + r] = quad.x;
      patch[1][first + r] = quad.y;
      patch[2][first + r] = quad.z;
      patch[3][first + r] = quad.w;
    }
  } else {
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) {
      const float* from = stage + lane_at + Stage::at(i, kk);
      if constexpr (kRun == 4) {
        const float4 quad = *reinterpret_cast<const float4*>(from);
        patch[kk][first + 0] = quad.x;
        patch[kk][first + 1] = quad.y;
        patch[kk][first + 2] = quad.z;
        patch[kk][first + 3] = quad.w;
      } else {
        const float2 pair = *reinterpret_cast<const float2*>(from);
        patch[kk][first + 0] = pair.x;
        patch[kk][first + 1] = pair.y;
      }
    }
  }
}

// Adds the products of the first `depth` k of a stage, 4 at a time: beyond them are zeros.
template <class Tile, class StageA, class StageB>
__device__ __forceinline__ void multiply(float (&sum)[Tile::kThreadN][Tile::kThreadM],
                                         const float* stage_a, const float* stage_b, int lane_a,
                                         int lane_b, int depth) {
#pragma unroll 1
  for (int k = 0; k < depth; k += 4) {
    const int a_at = StageA::kAlongK ? lane_a ^ k : lane_a + k * StageA::kTile;
    const int b_at = StageB::kAlongK ? lane_b ^ k : lane_b + k * StageB::kTile;
    float a[4][Tile::kThreadM];
#pragma unroll
    for (int q = 0; q < Tile::kQuadsM; ++q) {
      load_patch<StageA, 4>(a, 4 * q, stage_a, a_at, q * 4 * Tile::kLanesM);
    }
#pragma unroll
    for (int run = 0; run < Tile::kRunsN; ++run) {
      float b[4][Tile::kRunN];
      load_patch<StageB, Tile::kRunN>(b, 0, stage_b, b_at, run * Tile::kRunN * Tile::kLanesN);
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
#pragma unroll
        for (int j = 0; j < Tile::kRunN; ++j) {
#pragma unroll
          for (int i = 0; i < Tile::kThreadM; ++i) {
            float& element = sum[run * Tile::kRunN + j][i];
            element = fmaf(a[kk][i], b[kk][j], element);
          }
        }
      }
    }
  }
}

}  // namespace small

// kFused: with bias, activation or a C that is not D. In the same instance, the registers for these
// would spill: a warp holds the next tile's loads beside the results that it stores.
template <class Tile, bool kTransA, bool kTransB, bool kFused>
__global__ void __launch_bounds__(Tile::kThreads,
                                  std::max(1, resident_blocks<Tile>() - (kFused ? 1 : 0)))
    gemm_small(const SmallArgs args) {
  using namespace small;
  using Element = typename Tile::Element;
  using StageA = Stage<kTransA, Tile::kBlockM, Tile::kBlockK, 4>;
  using StageB = Stage<!kTransB, Tile::kBlockN, Tile::kBlockK, Tile::kRunN>;
  const GemmProblem& p = args.p;
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);
  const int64_t depth = effective_k(p, scalars.alpha);
  // Fewer than 2^32: A and B would be 512 GiB.
  const auto steps = static_cast<unsigned>(ceil_div(depth, Tile::kBlockK));
  const int last_depth = static_cast<int>(depth - int64_t{steps} * Tile::kBlockK) + Tile::kBlockK;
  const int warp = ptx::warp_number();
  auto& ring = shared_storage<typename Tile::SharedStorage>().rings[warp];
  const int i_lane = lane_number() % Tile::kLanesM * 4;
  const int j_lane = lane_number() / Tile::kLanesM * Tile::kRunN;

  // Neighbouring tiles go to different blocks: few tiles then occupy many multiprocessors.
  const unsigned first_tile = static_cast<unsigned>(warp) * gridDim.x + blockIdx.x;
  const unsigned stride = Tile::kTilesPerBlock * gridDim.x;

  StageLoader<StageA> load_a;
  StageLoader<StageB> load_b;
  unsigned tile_ahead = first_tile;  // the tile whose loads begin next
  unsigned to_load = 0;              // steps of the tile before it
  int stage = 1;                     // the next to compute; the one before it is the next to load
  const auto load_next = [&] {
    if (to_load == 0 && tile_ahead < args.tiles) {
      const TilePlace place = place_of(args, tile_ahead);
      const int64_t i0 = int64_t{place.m} * Tile::kBlockM, j0 = int64_t{place.n} * Tile::kBlockN;
      load_a.begin(p.a.matrix<const Element>(place.batch) + (kTransA ? i0 * p.a.ld : i0), p.a.ld,
                   p.m - i0);
      load_b.begin(p.b.matrix<const Element>(place.batch) + (kTransB ? j0 : j0 * p.b.ld), p.b.ld,
                   p.n - j0);
      tile_ahead += stride;
      to_load = steps;
    }
    if (to_load > 0) {
      --to_load;
      const int inside = to_load > 0 ? Tile::kBlockK : last_depth;
      const int filled = stage == 0 ? Tile::kStages - 1 : stage - 1;
      load_a.load(ring.a[filled], p.a.ld, inside);
      load_b.load(ring.b[filled], p.b.ld, inside);
    }
    ptx::cp_async_commit();  // also where empty: the wait below counts groups
  };

  // Iterations left for the tile. Those before the first tile's k steps only load, so that all
  // loads are in one place in the code.
  unsigned left = steps > 0 ? steps + Tile::kStages - 1 : 0;
  for (unsigned tile = first_tile; tile < args.tiles; tile += stride) {
    float sum[Tile::kThreadN][Tile::kThreadM] = {};
    for (; left > 0; --left) {
      if (left <= steps) {
        ptx::cp_async_wait<Tile::kStages - 2>();
        __syncwarp();  // all lanes' copies of this step are in; the last step's stage is free
      }
      load_next();
      if (left <= steps) {
        multiply<Tile, StageA, StageB>(sum, ring.a[stage], ring.b[stage], StageA::at(i_lane, 0),
                                       StageB::at(j_lane, 0),
                                       left > 1 ? Tile::kBlockK : last_depth);
      }
      stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
    }
    left = steps;
    if (tile_ahead >= args.tiles) ptx::launch_dependents();

    const TilePlace place = place_of(args, tile);
    const int64_t i0 = int64_t{place.m} * Tile::kBlockM, j0 = int64_t{place.n} * Tile::kBlockN;
    const TileOrigin origin{place.batch, i0, j0};
    with_instance_epilogue<kFused>(p, scalars, origin, [&](const auto& epilogue) {
      OutputTile d(p, origin, epilogue);
#pragma unroll
      for (int j = 0; j < Tile::kThreadN; ++j) {
#pragma unroll
        for (int q = 0; q < Tile::kQuadsM; ++q) {
          const float quad[4] = {sum[j][4 * q], sum[j][4 * q + 1], sum[j][4 * q + 2],
                                 sum[j][4 * q + 3]};
          store_quads<Tile::kLanesM, Tile::kRunN>(ring.exchange, d, q * 4 * Tile::kLanesM, quad);
        }
        d.skip_columns((j + 1) % Tile::kRunN == 0 ? Tile::kRunN * (Tile::kLanesN - 1) + 1 : 1);
      }
    });
  }
}

namespace small {

template <class Tile, bool kFused>
Status launch_for_ops(const SmallArgs& args, const GemmConfig& config,
                      const LaunchContext& context) {
  const auto run = [&](auto kernel) { return launch(context, kernel, config, args); };
  if (args.p.transa) {
    return args.p.transb ? run(gemm_small<Tile, true, true, kFused>)
                         : run(gemm_small<Tile, true, false, kFused>);
  }
  return args.p.transb ? run(gemm_small<Tile, false, true, kFused>)
                       : run(gemm_small<Tile, false, false, kFused>);
}

}  // namespace small

template <class Tile>
Status cuda::launch_gemm_small(const GemmProblem& p, const GemmConfig& config,
                               const LaunchContext& context) {
  const int64_t per_matrix = config.tiles_m * config.tiles_n;
  const SmallArgs args{p, static_cast<unsigned>(per_matrix * p.batch_count),
                       static_cast<unsigned>(per_matrix),
                       static_cast<unsigned>(std::min(config.tiles_m, config.tiles_n)),
                       config.tiles_n < config.tiles_m};
  return p.fused ? small::launch_for_ops<Tile, true>(args, config, context)
                 : small::launch_for_ops<Tile, false>(args, config, context);
}

}  // namespace mygemm
