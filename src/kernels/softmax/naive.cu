// Softmax, step 1 of the ladder: a warp per matrix row, one element per lane at a time, the input
// read again for the maximum, the sum and the result. Runs everything there is.
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rows.h"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = 128, kRowsPerBlock = kThreads / 32;

__device__ void forward_row(const SoftmaxProblem& p, int64_t r, int lane) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  float maximum = -INFINITY;
  for (int64_t c = lane; c < p.cols; c += 32) {
    maximum = fmaxf(maximum, scaled(p, load_element(x, c)));
  }
  maximum = warp_reduce<Max>(maximum);
  float sum = 0.0f;
  for (int64_t c = lane; c < p.cols; c += 32) {
    sum += expf(scaled(p, load_element(x, c)) - maximum);
  }
  const RowNormaliser row = normaliser(p, maximum, warp_reduce<Sum>(sum));
  for (int64_t c = lane; c < p.cols; c += 32) {
    store_element(y, c, softmax_of(p, scaled(p, load_element(x, c)), row));
  }
}

__device__ void backward_row(const SoftmaxProblem& p, int64_t r, int lane) {
  const TypedRow y = row_of(p.in, r, p.cols), dy = row_of(p.dy, r, p.cols);
  const TypedRow dx = row_of(p.out, r, p.cols);
  float sum = 0.0f;
  for (int64_t c = lane; c < p.cols; c += 32) {
    sum += gradient_term(p, load_element(y, c), load_element(dy, c));
  }
  sum = warp_reduce<Sum>(sum);
  for (int64_t c = lane; c < p.cols; c += 32) {
    store_element(dx, c, gradient_of(p, load_element(y, c), load_element(dy, c), sum));
  }
}

__global__ void __launch_bounds__(kThreads) softmax_naive(const SoftmaxProblem p) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64_t r = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32; r < p.rows;
       r += int64_t{gridDim.x} * kRowsPerBlock) {
    p.backward ? backward_row(p, r, lane) : forward_row(p, r, lane);
  }
}

}  // namespace

Status cuda::launch_softmax_naive(const SoftmaxRow&, const SoftmaxProblem& p,
                                  const LaunchContext& context) {
  return launch(context, softmax_naive, grid_size(ceil_div(p.rows, kRowsPerBlock)), kThreads, 0, p);
}

}  // namespace mygemm
