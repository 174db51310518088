// The naive softmax: a warp per matrix row, one element per lane at a time. It reads the input
// three times, for the maximum, the sum and the result, and runs any problem.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/packs.cuh"

namespace mygemm {
namespace {

constexpr int kRowsPerBlock = kNaiveThreads / 32;

using Element = Packs<MixedElements, 1>;

__device__ __forceinline__ float element_at(const TypedMatrix& matrix, int64_t r, int64_t c) {
  Element element;
  load(element, address_of<MixedElements>(matrix, r, c), matrix.type, FullPlace{0}, 0.0f);
  return __uint_as_float(element.word[0][0]);
}

__device__ __forceinline__ void write(const TypedMatrix& matrix, int64_t r, int64_t c,
                                      float value) {
  Element element{{{__float_as_uint(value)}}};
  store(element, address_of<MixedElements>(matrix, r, c), matrix.type, FullPlace{0});
}

__device__ void forward_row(const SoftmaxProblem& p, int64_t r, int lane) {
  const Scale scale(p, true);
  const auto x = [&](int64_t c) {
    Element element;
    load_x(p, element, address_of<MixedElements>(p.in, r, c), FullPlace{0});
    return __uint_as_float(element.word[0][0]);
  };
  MaxTotal<double> row{-INFINITY, 0.0};  // FP64: the number of terms is not limited
  for (int64_t c = lane; c < p.cols; c += 32) {
    row.maximum = fmaxf(row.maximum, x(c));
  }
  row.maximum = warp_reduce<Max>(row.maximum);
  const Reference to(scale, row.maximum);
  const auto exponential = [&](int64_t c) {
    float e[1] = {x(c)};
    subtract(e, to);
    take_exponentials<Exp::kPolynomial>(scale, e, to);
    return e[0];
  };
  for (int64_t c = lane; c < p.cols; c += 32) row.sum += exponential(c);
  row.sum = warp_reduce<Sum>(row.sum);
  const RowFactor factor = factor_of<Exp::kPolynomial>(p, scale, row);
  for (int64_t c = lane; c < p.cols; c += 32) {
    write(p.out, r, c,
          p.log_mode() ? log_softmax_of(scale, x(c), row.maximum, factor)
                       : softmax_of<true>(exponential(c), factor));
  }
}

__device__ void backward_row(const SoftmaxProblem& p, int64_t r, int lane) {
  float sum = 0.0f;
  for (int64_t c = lane; c < p.cols; c += 32) {
    add_gradient_term(p, sum, element_at(p.in, r, c), element_at(p.dy, r, c));
  }
  sum = warp_reduce<Sum>(sum);
  for (int64_t c = lane; c < p.cols; c += 32) {
    write(p.out, r, c, gradient_of<true>(p, element_at(p.in, r, c), element_at(p.dy, r, c), sum));
  }
}

__global__ void __launch_bounds__(kNaiveThreads) softmax_naive(const SoftmaxProblem p) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64_t r = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32; r < p.rows;
       r += int64_t{gridDim.x} * kRowsPerBlock) {
    p.backward ? backward_row(p, r, lane) : forward_row(p, r, lane);
  }
}

}  // namespace

Status cuda::launch_softmax_naive(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                  const LaunchContext& context) {
  return launch(context, softmax_naive, static_cast<unsigned>(config.blocks), config.threads,
                config.shared_bytes, p);
}

}  // namespace mygemm
