// Matrix product by dot products, for few results or short sums, where latency counts alone: every
// result has a group of lanes, which share its k and load it straight from global memory. The code
// runs once, from a cold instruction cache, and so is short; strides come from the host, for the
// loads wait for them.
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
  Divisor m, n;
  unsigned results;     // of all matrices
  unsigned log2_lanes;  // of a group
  GemmProblem p;
};

__device__ __forceinline__ float load(const float* from, bool valid) {
  return ptx::load_4(from, valid);
}
template <class T>
__device__ __forceinline__ float load(const T* from, bool valid) {
  return floats_of<T>(ptx::load_2_bytes(from, valid)).x;
}

// The sum of a lane's products: every lanes-th k of the first `left` ones. steps: from one of them
// to the next.
template <class OfA, class OfB>
__device__ __forceinline__ float add_products(const OfA* a, const OfB* b, int64_t step_a,
                                              int64_t step_b, int left, int lanes) {
  constexpr int kUnrolled = DotsGroup::kUnrolled;
  float sum = 0.0f;
#pragma unroll 1
  for (; left > 0; left -= kUnrolled * lanes) {
    float x[kUnrolled], y[kUnrolled];
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      x[i] = load(a, i * lanes < left);
      y[i] = load(b, i * lanes < left);
      a = ptx::advanced(a, step_a);
      b = ptx::advanced(b, step_b);
    }
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) sum = fmaf(x[i], y[i], sum);
  }
  return sum;
}

// Where a result lies: they are counted along the columns of D, matrix by matrix.
__device__ __forceinline__ TileOrigin place_of(const DotsArgs& args, unsigned result) {
  const unsigned column = args.m.quotient(result), batch = args.n.quotient(column);
  return {batch, result - column * args.m.value(), column - batch * args.n.value()};
}

// OfA, OfB: the elements of A and B; Out: those of C and D.
template <class OfA, class OfB, class Out>
__global__ void __launch_bounds__(DotsGroup::kMostLanes, 1) gemm_dots(const DotsArgs args) {
  const GemmProblem& p = args.p;
  const unsigned log2_lanes = args.log2_lanes, lanes = 1u << log2_lanes;
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);
  const unsigned first = blockIdx.x * (blockDim.x >> log2_lanes);
  unsigned result = first + (threadIdx.x >> log2_lanes);
  TileOrigin at = place_of(args, min(result, args.results - 1));
  const auto lane = static_cast<int>(threadIdx.x & (lanes - 1));
  const auto depth = static_cast<int>(effective_k(p, scalars.alpha));
  const OfA* a = p.a.matrix<const OfA>(at.batch) + at.i * args.a_along_m + lane * args.a_along_k;
  const OfB* b = p.b.matrix<const OfB>(at.batch) + at.j * args.b_along_n + lane * args.b_along_k;
  float sum = add_products(a, b, lanes * args.a_along_k, lanes * args.b_along_k, depth - lane,
                           static_cast<int>(lanes));
  ptx::launch_dependents();

  sum = warp_reduce<Sum>(sum, static_cast<int>(min(log2_lanes, 5u)));
  bool leads = lane == 0;
  if (log2_lanes > 5) {
    // The first warp adds up the sums of the warps of each group.
    auto& of_warp = shared_storage<float[DotsGroup::kWarpSums]>();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();  // the warps' sums are there
    if (threadIdx.x >= 32) return;
    const unsigned warps = blockDim.x / 32, log2_warps = log2_lanes - 5;
    sum = warp_reduce<Sum>(of_warp[threadIdx.x % warps], static_cast<int>(log2_warps));
    result = first + (threadIdx.x >> log2_warps);
    leads = threadIdx.x < warps && threadIdx.x % (1u << log2_warps) == 0;
    at = place_of(args, min(result, args.results - 1));
  }
  if (!leads || result >= args.results) return;
  Out* d = p.d.matrix<Out>(at.batch) + at.i + at.j * p.d.ld;
  with_epilogue<Out>(p, scalars, at,
                     [&](const auto& epilogue) { store_result(d, 0, 0, sum, epilogue); });
}

}  // namespace

Status cuda::launch_gemm_dots(const GemmProblem& p, const GemmConfig& config,
                              const LaunchContext& context) {
  const auto lanes = static_cast<unsigned>(config.threads / config.block_m);
  const DotsArgs args{.a_along_m = p.transa ? p.a.ld : 1,
                      .a_along_k = p.transa ? 1 : p.a.ld,
                      .b_along_n = p.transb ? 1 : p.b.ld,
                      .b_along_k = p.transb ? p.b.ld : 1,
                      .m = Divisor(static_cast<unsigned>(p.m)),
                      .n = Divisor(static_cast<unsigned>(p.n)),
                      .results = static_cast<unsigned>(p.m * p.n * p.batch_count),
                      .log2_lanes = static_cast<unsigned>(std::bit_width(lanes)) - 1,
                      .p = p};
  return with_naive_types(p, [&](auto a, auto b, auto out) {
    return launch(context, gemm_dots<decltype(a), decltype(b), decltype(out)>, config, args);
  });
}

}  // namespace mygemm
