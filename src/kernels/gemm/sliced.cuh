// Sliced-K matrix product, for products of a few microseconds, in which latency counts, not
// throughput. All loads of a block are in flight at once: all threads copy the matrices in their
// own layout and of any alignment (cp.async; plain copies below sm_80). Groups of warps share the k
// of a step (sliced-K), and the blocks of a cluster (sm_90) the k of the product (cluster split-K).
// Sums are added in shared memory, in a fixed order: there is no second kernel and no workspace.
#pragma once

#include <bit>

#include "kernels/divisor.h"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/cluster_sum.cuh"
#include "kernels/gemm/residency.cuh"
#include "kernels/gemm/sliced.h"
#include "kernels/launch.h"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

struct SlicedArgs {
  GemmProblem p;
  Divisor tiles_m, tiles_n;
  unsigned log2_splits;  // blocks of a cluster, which share a tile, as a power of two
  int64_t k_per_split;
};

namespace sliced {

// A k step of one operand in shared memory: kDepth k of kTile rows of A (columns of B), in lines
// along the operand's contiguous direction. 4 floats of padding send lanes that read 16 bytes along
// k of neighbouring rows to different banks.
template <bool kAlongK_, int kTile_, int kDepth_>
struct StageLayout {
  static constexpr bool kAlongK = kAlongK_;  // K-major
  static constexpr int kTile = kTile_, kDepth = kDepth_;
  static constexpr int kLine = kAlongK ? kDepth : kTile;
  static constexpr int kLines = kAlongK ? kTile : kDepth;
  static constexpr int kPitch = kAlongK ? kDepth + 4 : kTile;

  __device__ static constexpr int at(int i, int k) {
    return kAlongK ? i * kPitch + k : k * kPitch + i;
  }
};

// Copies the steps of one operand for a block, k ascending.
template <class Stage, int kThreads>
class StepLoader {
 public:
  // from: element (0, 0) of the first step. extent: rows (columns) of the tile inside the matrix.
  __device__ StepLoader(const float* from, int64_t ld, int64_t extent)
      : next_(from),
        ld_(ld),
        extent_(static_cast<int>(min(extent, int64_t{Stage::kTile}))),
        aligned_(common_alignment(reinterpret_cast<uintptr_t>(from), ld * 4) == 16) {}

  // Fills the stage with the next `depth` k, and with zeros up to a multiple of 4.
  __device__ __forceinline__ void load(float* stage, int depth) {
    if (aligned_) {
      load_lines<4>(stage, depth);
    } else {
      load_lines<1>(stage, depth);
    }
    next_ += Stage::kAlongK ? Stage::kDepth : Stage::kDepth * ld_;
  }

 private:
  template <int kFloats>
  __device__ __forceinline__ void load_lines(float* stage, int depth) {
    constexpr int kLanes = Stage::kLine / kFloats;  // lanes of a line
    constexpr int kStep = kThreads / kLanes;        // lines copied at once
    constexpr int kUnrolled = Stage::kLines / kStep < 4 ? Stage::kLines / kStep : 4;
    static_assert(kThreads % kLanes == 0 && Stage::kLines % (kStep * kUnrolled) == 0);
    const int thread = ptx::thread_again();
    const int in_line = thread % kLanes * kFloats;
    const int padded = (depth + 3) / 4 * 4;
    if (Stage::kAlongK && in_line >= padded) return;
    const int inside = max(0, min(kFloats, (Stage::kAlongK ? depth : extent_) - in_line));
    const int line = thread / kLanes;
    int lines = (Stage::kAlongK ? extent_ : depth) - line;
    const float* from = next_ + line * ld_ + in_line;
    float* to = stage + line * Stage::kPitch + in_line;
#pragma unroll 1
    for (int left = Stage::kAlongK ? Stage::kLines : padded; left > 0; left -= kUnrolled * kStep) {
#pragma unroll
      for (int step = 0; step < kUnrolled * kStep; step += kStep) {
        const int valid = step < lines ? inside : 0;
        if constexpr (kFloats == 4) {
          ptx::cp_async_first_of_16(to + step * Stage::kPitch, from, valid);
        } else {
          ptx::cp_async_4(to + step * Stage::kPitch, from, valid > 0);
        }
        from = ptx::advanced(from, kStep * ld_);
      }
      lines -= kUnrolled * kStep;
      to += kUnrolled * kStep * Stage::kPitch;
    }
  }

  const float* next_;
  int64_t ld_;
  int extent_;
  bool aligned_;
};

// The kCount lines of an operand (rows of A, columns of B) that lane number `lane` of kLanes holds:
// kLanes apart, except that lanes which read 4 of them at once hold them as quads.
template <class Stage, int kLanes, int kCount>
struct LaneLines {
  static constexpr bool kQuads = !Stage::kAlongK && kLanes < 32;

  __device__ static constexpr int of(int lane, int i) {
    return kQuads ? (lane + i / 4 * kLanes) * 4 + i % 4 : lane + i * kLanes;
  }
  // Loads k to k + 3 of the lines: (k, line). `first`: where the lane's warp begins, plus the
  // lane's first line.
  __device__ __forceinline__ static void load(float (&x)[4][kCount], const float* stage, int first,
                                              int k) {
    constexpr int kStep = Stage::kAlongK || !kQuads ? 1 : 4;  // lines of a load
#pragma unroll
    for (int i = 0; i < kCount; i += kStep) {
      const int line = first + of(0, i);
      if constexpr (Stage::kAlongK) {
        const float4 quad = *reinterpret_cast<const float4*>(stage + Stage::at(line, k));
        x[0][i] = quad.x, x[1][i] = quad.y, x[2][i] = quad.z, x[3][i] = quad.w;
      } else {
#pragma unroll
        for (int kk = 0; kk < 4; ++kk) {
          const float* from = stage + Stage::at(line, k + kk);
          if constexpr (kQuads) {
            const float4 quad = *reinterpret_cast<const float4*>(from);
            x[kk][i] = quad.x, x[kk][i + 1] = quad.y, x[kk][i + 2] = quad.z, x[kk][i + 3] = quad.w;
          } else {
            x[kk][i] = *from;
          }
        }
      }
    }
  }
};

// Where a warp's and a lane's results lie in the tile.
template <class Tile, class StageA, class StageB>
struct LanePlace {
  using LinesA = LaneLines<StageA, Tile::kLanesM, Tile::kThreadM>;
  using LinesB = LaneLines<StageB, Tile::kLanesN, 4>;

  // warp: its number in its group.
  __device__ LanePlace(int warp, int lane)
      : row(warp % Tile::kWarpsM * Tile::kWarpM + LinesA::of(lane % Tile::kLanesM, 0)),
        column(warp / Tile::kWarpsM * Tile::kWarpN + LinesB::of(lane / Tile::kLanesM, 0)) {}
  __device__ int row_of(int i) const { return row + LinesA::of(0, i); }
  // Columns are loaded four of a lane at a time.
  __device__ int column_of(int j) const {
    return column + j / 4 * (4 * Tile::kLanesN) + LinesB::of(0, j % 4);
  }

  // From column to column of the sums in shared memory: the columns that lanes store at once, next
  // to each other or four apart, lie 8 banks apart. Quads of rows only need a multiple of 4.
  static constexpr int kSumPitch = Tile::kBlockM + (LinesB::kQuads && !LinesA::kQuads ? 2 : 8);
  static_assert(kSumPitch <= Tile::kMostSumPitch);

  int row, column;  // the first ones
};

// Adds the products of k in [k_begin, k_end) of a stage, 4 at a time.
template <class Tile, class StageA, class StageB>
__device__ __forceinline__ void multiply(float (&sum)[Tile::kThreadN][Tile::kThreadM],
                                         const float* stage_a, const float* stage_b,
                                         LanePlace<Tile, StageA, StageB> place, int k_begin,
                                         int k_end) {
  using Place = LanePlace<Tile, StageA, StageB>;
#pragma unroll 1
  for (int k = k_begin; k < k_end; k += 4) {
    float a[4][Tile::kThreadM];
    Place::LinesA::load(a, stage_a, place.row, k);
#pragma unroll
    for (int j = 0; j < Tile::kThreadN; j += 4) {
      float b[4][4];
      Place::LinesB::load(b, stage_b, place.column + j * Tile::kLanesN, k);
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
#pragma unroll
        for (int jj = 0; jj < 4; ++jj) {
#pragma unroll
          for (int i = 0; i < Tile::kThreadM; ++i) {
            sum[j + jj][i] = fmaf(a[kk][i], b[kk][jj], sum[j + jj][i]);
          }
        }
      }
    }
  }
}

// Stores a lane's results straight from registers: kThreadM rows, 32 apart, of neighbouring
// columns.
template <class Tile, class Epilogue>
__device__ __forceinline__ void store_sums(const OutputTile<Epilogue>& d, int row, int column,
                                           const float (&sum)[Tile::kThreadN][Tile::kThreadM]) {
  static_assert(Tile::kLanesM == 32);
  float* to = d.first + row + column * d.ld;
#pragma unroll
  for (int j = 0; j < Tile::kThreadN; ++j) {
    if (column + j >= d.columns) return;
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; ++i) {
      if (row + 32 * i < d.rows) {
        store_result(to + 32 * i, row + 32 * i, column + j, sum[j][i], d.epilogue);
      }
    }
    to = ptx::advanced(to, d.ld);
  }
}

// Leaves a lane's sums in its group's part of shared memory, for add_groups().
template <class Tile, class Place>
__device__ __forceinline__ void leave_sums(float* of_group, const Place& place,
                                           const float (&sum)[Tile::kThreadN][Tile::kThreadM]) {
  constexpr bool kQuads = Place::LinesA::kQuads;
#pragma unroll
  for (int j = 0; j < Tile::kThreadN; ++j) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; i += kQuads ? 4 : 1) {
      float* to = of_group + place.column_of(j) * Place::kSumPitch + place.row_of(i);
      if constexpr (kQuads) {
        *reinterpret_cast<float4*>(to) =
            make_float4(sum[j][i], sum[j][i + 1], sum[j][i + 2], sum[j][i + 3]);
      } else {
        *to = sum[j][i];
      }
    }
  }
}

// Stores element e of the tile, counted by columns.
template <class Tile, class Epilogue>
__device__ __forceinline__ void store_element(const OutputTile<Epilogue>& d, int e, float sum) {
  const int row = e % Tile::kBlockM, column = e / Tile::kBlockM;
  if (row >= d.rows || column >= d.columns) return;
  store_result(d.first + row + column * d.ld, row, column, sum, d.epilogue);
}

// Adds up the groups' sums of each element e of the tile, and calls leave(e, sum).
template <class Tile, class Place, class Leave>
__device__ __forceinline__ void add_groups(const typename Tile::SharedStorage& shared,
                                           Leave leave) {
#pragma unroll 1
  for (int e = static_cast<int>(threadIdx.x); e < Tile::kElements; e += Tile::kThreads) {
    const int at = e / Tile::kBlockM * Place::kSumPitch + e % Tile::kBlockM;
    float sum = shared.sums[0][at];
#pragma unroll
    for (int group = 1; group < Tile::kGroups; ++group) sum += shared.sums[group][at];
    leave(e, sum);
  }
}

}  // namespace sliced

template <class Tile, bool kTransA, bool kTransB>
__global__ void __launch_bounds__(Tile::kThreads, resident_blocks<Tile>())
    gemm_sliced(const SlicedArgs args) {
  using namespace sliced;
  using Element = typename Tile::Element;
  using StageA = StageLayout<kTransA, Tile::kBlockM, Tile::kBlockK>;
  using StageB = StageLayout<!kTransB, Tile::kBlockN, Tile::kBlockK>;
  const GemmProblem& p = args.p;
  auto& shared = shared_storage<typename Tile::SharedStorage>();
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);

  const unsigned tile = blockIdx.x >> args.log2_splits;
  const unsigned split = blockIdx.x - (tile << args.log2_splits);
  const unsigned columns = args.tiles_m.quotient(tile);  // of tiles
  const unsigned batch = args.tiles_n.quotient(columns);
  const int64_t i0 = int64_t{tile - columns * args.tiles_m.value()} * Tile::kBlockM;
  const int64_t j0 = int64_t{columns - batch * args.tiles_n.value()} * Tile::kBlockN;
  if (!p.fills_some(i0, j0, Tile::kBlockM, Tile::kBlockN)) return;  // and so do its cluster's
  if (Tile::kMostSplits > 1 && args.log2_splits > 0) {
    ClusterSum::open(shared.inbox, Tile::kElements);
  }

  const int64_t k0 = split * args.k_per_split;
  const int64_t depth = max(int64_t{0}, min(args.k_per_split, effective_k(p, scalars.alpha) - k0));
  // Fewer than 2^31: A and B would be 256 GiB.
  const auto steps = static_cast<int>(ceil_div(depth, Tile::kBlockK));
  const int last_depth = static_cast<int>(depth - int64_t{steps} * Tile::kBlockK) + Tile::kBlockK;

  float sum[Tile::kThreadN][Tile::kThreadM] = {};
  const int warp = ptx::warp_number(), group = warp / Tile::kGroupWarps;
  using Place = LanePlace<Tile, StageA, StageB>;
  const Place place(warp % Tile::kGroupWarps, static_cast<int>(threadIdx.x) % 32);
  if (steps > 0) {
    StepLoader<StageA, Tile::kThreads> load_a(
        p.a.matrix<const Element>(batch) + (kTransA ? i0 * p.a.ld + k0 : i0 + k0 * p.a.ld), p.a.ld,
        p.m - i0);
    StepLoader<StageB, Tile::kThreads> load_b(
        p.b.matrix<const Element>(batch) + (kTransB ? j0 + k0 * p.b.ld : j0 * p.b.ld + k0), p.b.ld,
        p.n - j0);
    // Iterations before the first k step only load, so that all loads are in one place: the code,
    // which runs once from a cold instruction cache, is short.
#pragma unroll 1
    for (int step = 1 - Tile::kStages; step < steps; ++step) {
      if (step >= 0) {
        ptx::cp_async_wait<Tile::kStages - 2>();
        __syncthreads();  // all copies of this step are in; the last step's stage is free
      }
      const int ahead = step + Tile::kStages - 1;
      if (ahead < steps) {
        const int inside = ahead + 1 < steps ? Tile::kBlockK : last_depth;
        auto& stage = shared.stages[ahead % Tile::kStages];
        load_a.load(stage.a, inside);
        load_b.load(stage.b, inside);
      }
      ptx::cp_async_commit();  // also where empty: the wait above counts groups
      if (step < 0) continue;
      const auto& stage = shared.stages[step % Tile::kStages];
      const int inside = step + 1 < steps ? Tile::kBlockK : last_depth;
      const int share = (inside + 4 * Tile::kGroups - 1) / (4 * Tile::kGroups) * 4;
      multiply<Tile, StageA, StageB>(sum, stage.a, stage.b, place, group * share,
                                     min((group + 1) * share, inside));
    }
  }

  ptx::launch_dependents();
  const TileOrigin origin{batch, i0, j0};
  if constexpr (Tile::kGroups == 1) {
    with_masked_epilogue(p, scalars, origin, [&](const auto& epilogue) {
      store_sums<Tile>(OutputTile(p, origin, epilogue), place.row, place.column, sum);
    });
  } else {
    __syncthreads();  // every stage has been read
    leave_sums<Tile>(shared.sums[group], place, sum);
    __syncthreads();  // the groups' sums are there
    const ClusterSum cluster(shared.inbox, Tile::kElements, args.log2_splits, split);
    if (args.log2_splits > 0) {
      ptx::cluster_wait();  // every block has initialised its inbox
      add_groups<Tile, Place>(shared, [&](int e, float whole) { cluster.send(e, whole); });
    }
    with_masked_epilogue(p, scalars, origin, [&](const auto& epilogue) {
      const OutputTile d(p, origin, epilogue);
      const auto store = [&](int e, float whole) { store_element<Tile>(d, e, whole); };
      if (args.log2_splits == 0) {
        add_groups<Tile, Place>(shared, store);
      } else {
        cluster.receive(store);
      }
    });
  }
}

template <class Tile>
Status cuda::launch_gemm_sliced(const GemmProblem& p, const GemmConfig& config,
                                const LaunchContext& context) {
  const SlicedArgs args{
      p, Divisor(static_cast<unsigned>(config.tiles_m)),
      Divisor(static_cast<unsigned>(config.tiles_n)),
      static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(config.splits)) - 1),
      config.k_per_split};
  const auto run = [&](auto kernel) { return launch(context, kernel, config, args); };
  if (p.transa) {
    return p.transb ? run(gemm_sliced<Tile, true, true>) : run(gemm_sliced<Tile, true, false>);
  }
  return p.transb ? run(gemm_sliced<Tile, false, true>) : run(gemm_sliced<Tile, false, false>);
}

}  // namespace mygemm
