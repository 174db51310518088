// Softmax of short rows: a row lives in the registers of a warp, or of part of one, and is read
// once. kLanes lanes hold kPacks packs of four columns each.
//
// 512 columns are the most: eight packs a lane need more registers than leave enough warps.
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rows.h"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = 128;

template <int kLanes, int kPacks>
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, bool inside,
                                            int first) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  const int cols = inside ? static_cast<int>(p.cols) : 0;
  float s[kPacks][4];
  load_packs(s, x, first, 4 * kLanes, cols, 0.0f);
  float maximum = -INFINITY;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[k][i] = first + k * 4 * kLanes + i < cols ? scaled(p, s[k][i]) : -INFINITY;
      maximum = fmaxf(maximum, s[k][i]);
    }
  }
  maximum = warp_reduce<Max, kLanes>(maximum);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += expf(s[k][i] - maximum);
  }
  const RowNormaliser row = normaliser(p, maximum, warp_reduce<Sum, kLanes>(sum));
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) s[k][i] = softmax_of(p, s[k][i], row);
  }
  store_packs(s, y, first, 4 * kLanes, cols);
}

template <int kLanes, int kPacks>
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, bool inside,
                                             int first) {
  const int cols = inside ? static_cast<int>(p.cols) : 0;
  float y[kPacks][4], dy[kPacks][4];
  load_packs(y, row_of(p.in, r, p.cols), first, 4 * kLanes, cols, 0.0f);
  load_packs(dy, row_of(p.dy, r, p.cols), first, 4 * kLanes, cols, 0.0f);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += gradient_term(p, y[k][i], dy[k][i]);
  }
  sum = warp_reduce<Sum, kLanes>(sum);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) dy[k][i] = gradient_of(p, y[k][i], dy[k][i], sum);
  }
  store_packs(dy, row_of(p.out, r, p.cols), first, 4 * kLanes, cols);
}

template <int kLanes, int kPacks, bool kBackward>
__global__ void __launch_bounds__(kThreads, kPacks == 4 ? 4 : 8)
    softmax_warp(const SoftmaxProblem p) {
  constexpr int kRowsPerBlock = kThreads / kLanes;
  const int first = static_cast<int>(threadIdx.x) % kLanes * 4;
  // All lanes of a warp stay for the shuffles; those past the last row read and write nothing.
  for (int64_t r0 = int64_t{blockIdx.x} * kRowsPerBlock; r0 < p.rows;
       r0 += int64_t{gridDim.x} * kRowsPerBlock) {
    const int64_t r = r0 + threadIdx.x / kLanes;
    const bool inside = r < p.rows;
    if constexpr (kBackward) {
      backward_row<kLanes, kPacks>(p, inside ? r : 0, inside, first);
    } else {
      forward_row<kLanes, kPacks>(p, inside ? r : 0, inside, first);
    }
  }
}

template <int kLanes, int kPacks>
Status launch_warps(const SoftmaxProblem& p, const LaunchContext& context) {
  const unsigned blocks = grid_size(ceil_div(p.rows, kThreads / kLanes));
  const auto kernel =
      p.backward ? softmax_warp<kLanes, kPacks, true> : softmax_warp<kLanes, kPacks, false>;
  return launch(context, kernel, blocks, kThreads, 0, p);
}

}  // namespace

Status cuda::launch_softmax_warp(const SoftmaxRow&, const SoftmaxProblem& p,
                                 const LaunchContext& context) {
  if (p.cols <= 16) return launch_warps<4, 1>(p, context);
  if (p.cols <= 32) return launch_warps<8, 1>(p, context);
  if (p.cols <= 64) return launch_warps<16, 1>(p, context);
  if (p.cols <= 128) return launch_warps<32, 1>(p, context);
  if (p.cols <= 256) return launch_warps<32, 2>(p, context);
  return launch_warps<32, 4>(p, context);
}

}  // namespace mygemm
