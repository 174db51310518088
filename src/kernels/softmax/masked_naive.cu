// The naive masked softmax: a warp per matrix row, one element per lane at a time. It reads the
// input three times, for the maximum, the sum and the result, and runs any problem.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked.cuh"

namespace mygemm {
namespace {

constexpr int kRowsPerBlock = kNaiveThreads / 32;

__device__ void forward_row(const SoftmaxProblem& p, const SoftmaxMasking& m, const MaskedRow& row,
                            int lane) {
  const auto t = [&](int64_t c) {
    float value[1][1];
    load_scores<MixedElements, true>(p, m, row.part(m, c, 1), MaskedPlace{0, 1}, value);
    return value[0][0];
  };
  float maximum = -INFINITY;
  for (int64_t c = lane; c < row.valid; c += 32) maximum = fmaxf(maximum, t(c));
  maximum = warp_reduce<Max>(maximum);
  const float reference = masked_reference(maximum);
  double sum = 0.0;  // the number of terms is not limited
  for (int64_t c = lane; c < row.valid; c += 32) sum += masked_exp<true>(t(c) - reference);
  const MaskedResult result(p, m, static_cast<float>(warp_reduce<Sum>(sum)));
  for (int64_t c = lane; c < row.cols; c += 32) {
    float value[1][1] = {{-INFINITY}};
    if (c < row.valid) value[0][0] = t(c);
    if (!result.log_mode) value[0][0] = masked_exp<true>(value[0][0] - reference);
    store_results<MixedElements>(p, row.part(m, c, 1), MaskedPlace{0, 1}, result, reference, value);
  }
}

__device__ void backward_row(const SoftmaxProblem& p, const SoftmaxMasking& m, const MaskedRow& row,
                             int lane) {
  MaskedGradient<MixedElements, 1> element;
  float sum = 0.0f;
  for (int64_t c = lane; c < row.valid; c += 32) {
    const MaskedRow one = row.part(m, c, 1);
    const PartOfPlace<1> at(MaskedPlace{0, 1}, one.valid);
    element.load_row(p, one, at);
    sum += element.sum(p, at);
  }
  sum = warp_reduce<Sum>(sum);
  for (int64_t c = lane; c < row.cols; c += 32) {
    const MaskedRow one = row.part(m, c, 1);
    const PartOfPlace<1> at(MaskedPlace{0, 1}, one.valid);
    element.load_row(p, one, at);
    element.finish(p, m, one, at, sum);
    store(element.dy, one.address<MixedElements>(p.out), p.out.type,
          PartOfPlace<1>(MaskedPlace{0, 1}, one.cols));
  }
}

__global__ void __launch_bounds__(kNaiveThreads, 4)
    masked_naive(const SoftmaxProblem p, const SoftmaxMasking m, const MaskedDivisors divisors) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64_t r = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32; r < p.rows;
       r += int64_t{gridDim.x} * kRowsPerBlock) {
    const MaskedRow row(p, m, divisors, r);
    p.backward ? backward_row(p, m, row, lane) : forward_row(p, m, row, lane);
  }
}

}  // namespace

Status cuda::launch_softmax_masked_naive(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                         const LaunchContext& context) {
  return launch(context, masked_naive, config, p, *p.masking, MaskedDivisors(p));
}

}  // namespace mygemm
