// Matrix product by dot products, for few results or short sums, where latency counts alone: a
// group of lanes shares the k of a result, or of a few of one row, and loads it straight from
// global memory. The code runs once, from a cold instruction cache, and so is short; strides come
// from the host, for the loads wait for them.
#include <bit>

#include "kernels/divisor.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/naive.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "ptx/global.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

struct DotsArgs {
  int64_t a_along_m, a_along_k, b_along_n, b_along_k;  // elements
  Divisor m, n;                                        // n: groups along a row
  unsigned groups;                                     // of all matrices
  unsigned log2_lanes;                                 // of a group
  GemmProblem p;
};

__device__ __forceinline__ float load(const float* from, bool valid) {
  return ptx::load_4(from, valid);
}
template <class T>
__device__ __forceinline__ float load(const T* from, bool valid) {
  return floats_of<T>(ptx::load_2_bytes(from, valid)).x;
}

// Adds a lane's products to its sums: every lanes-th k of the first `left` ones. steps: from one of
// them to the next. columns: those of the group that are inside D, along_n elements apart in B.
template <class Group, class OfA, class OfB>
__device__ __forceinline__ void add_products(float (&sum)[Group::kColumns], const OfA* a,
                                             const OfB* b, int64_t step_a, int64_t step_b,
                                             int64_t along_n, int columns, int left, int lanes) {
  constexpr int kUnrolled = Group::kUnrolled, kColumns = Group::kColumns;
#pragma unroll 1
  for (; left > 0; left -= kUnrolled * lanes) {
    float x[kUnrolled], y[kUnrolled][kColumns];
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      x[i] = load(a, i * lanes < left);
      const OfB* of_column = b;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        y[i][j] = load(of_column, i * lanes < left && (j == 0 || j < columns));
        of_column = ptx::advanced(of_column, along_n);
      }
      a = ptx::advanced(a, step_a);
      b = ptx::advanced(b, step_b);
    }
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) sum[j] = fmaf(x[i], y[i][j], sum[j]);
    }
  }
}

// Where a group's first result lies: groups are counted along the columns of D, kColumns at once,
// matrix by matrix.
template <class Group>
__device__ __forceinline__ TileOrigin place_of(const DotsArgs& args, unsigned group) {
  const unsigned columns = args.m.quotient(group), batch = args.n.quotient(columns);
  return {batch, group - columns * args.m.value(),
          Group::kColumns * int64_t{columns - batch * args.n.value()}};
}

// OfA, OfB: the elements of A and B; Out: those of C and D.
template <class Group, class OfA, class OfB, class Out>
__global__ void __launch_bounds__(Group::kMostLanes < 1024 ? Group::kThreads : 1024,
                                  Group::kMostLanes < 1024 ? 1024 / Group::kThreads : 1)
    gemm_dots(const DotsArgs args) {
  constexpr int kColumns = Group::kColumns;
  const GemmProblem& p = args.p;
  const unsigned log2_lanes = args.log2_lanes, lanes = 1u << log2_lanes;
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);
  const unsigned first = blockIdx.x * (blockDim.x >> log2_lanes);
  unsigned group = first + (threadIdx.x >> log2_lanes);
  TileOrigin at = place_of<Group>(args, min(group, args.groups - 1));
  const auto lane = static_cast<int>(threadIdx.x & (lanes - 1));
  const auto depth = static_cast<int>(effective_k(p, scalars.alpha));
  const OfA* a = p.a.matrix<const OfA>(at.batch) + at.i * args.a_along_m + lane * args.a_along_k;
  const OfB* b = p.b.matrix<const OfB>(at.batch) + at.j * args.b_along_n + lane * args.b_along_k;
  const auto columns = static_cast<int>(min(int64_t{kColumns}, p.n - at.j));
  float sum[kColumns] = {};
  add_products<Group>(sum, a, b, lanes * args.a_along_k, lanes * args.b_along_k, args.b_along_n,
                      columns, depth - lane, static_cast<int>(lanes));
  ptx::launch_dependents();

#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    sum[j] = warp_reduce<Sum>(sum[j], static_cast<int>(min(log2_lanes, 5u)));
  }
  bool leads = lane == 0;
  if constexpr (Group::kMostLanes > 32) {
    if (log2_lanes > 5) {
      // The first warp adds up the sums of the warps of each group.
      static_assert(kColumns == 1);
      auto& of_warp = shared_storage<float[Group::kWarpSums]>();
      if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum[0];
      __syncthreads();  // the warps' sums are there
      if (threadIdx.x >= 32) return;
      const unsigned warps = blockDim.x / 32, log2_warps = log2_lanes - 5;
      sum[0] = warp_reduce<Sum>(of_warp[threadIdx.x % warps], static_cast<int>(log2_warps));
      group = first + (threadIdx.x >> log2_warps);
      leads = threadIdx.x < warps && threadIdx.x % (1u << log2_warps) == 0;
      at = place_of<Group>(args, min(group, args.groups - 1));
    }
  }
  if (!leads || group >= args.groups) return;
  Out* d = p.d.matrix<Out>(at.batch) + at.i + at.j * p.d.ld;
  with_epilogue<Out>(p, scalars, at, [&](const auto& epilogue) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (j > 0 && j >= columns) return;
      store_result(d, 0, j, sum[j], epilogue);
      d = ptx::advanced(d, p.d.ld);
    }
  });
}

}  // namespace

template <class Group>
Status cuda::launch_gemm_dots(const GemmProblem& p, const GemmConfig& config,
                              const LaunchContext& context) {
  const int64_t columns = ceil_div(p.n, Group::kColumns);  // of groups
  const auto lanes = static_cast<unsigned>(config.threads / config.block_m);
  const DotsArgs args{.a_along_m = p.transa ? p.a.ld : 1,
                      .a_along_k = p.transa ? 1 : p.a.ld,
                      .b_along_n = p.transb ? 1 : p.b.ld,
                      .b_along_k = p.transb ? p.b.ld : 1,
                      .m = Divisor(static_cast<unsigned>(p.m)),
                      .n = Divisor(static_cast<unsigned>(columns)),
                      .groups = static_cast<unsigned>(p.m * columns * p.batch_count),
                      .log2_lanes = static_cast<unsigned>(std::bit_width(lanes)) - 1,
                      .p = p};
  return with_naive_types(p, [&](auto a, auto b, auto out) {
    return launch(context, gemm_dots<Group, decltype(a), decltype(b), decltype(out)>, config, args);
  });
}

namespace cuda {

template Status launch_gemm_dots<Dots1>(const GemmProblem&, const GemmConfig&,
                                        const LaunchContext&);
template Status launch_gemm_dots<Dots4>(const GemmProblem&, const GemmConfig&,
                                        const LaunchContext&);

}  // namespace cuda

}  // namespace mygemm
