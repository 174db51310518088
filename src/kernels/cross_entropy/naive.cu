// The naive cross entropy: a warp per matrix row, one element per lane at a time. It reads the
// logits three times, for the maximum, the sum and the gradient, and runs any problem.
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/loss.cuh"
#include "kernels/launch.h"
#include "kernels/softmax/packs.cuh"

namespace mygemm {
namespace {

constexpr int kRowsPerBlock = kNaiveLossThreads / 32;

using Element = Packs<MixedElements, 1>;

__device__ __forceinline__ float logit(const CrossEntropyProblem& p, int64_t r, int64_t c) {
  Element element;
  load(element, address_of<MixedElements>(p.x, r, c), p.x.type, FullPlace{0}, 0.0f);
  return __uint_as_float(element.word[0][0]);
}

__device__ void compute_row(const CrossEntropyProblem& p, int64_t r, int lane) {
  const Scale scale = logit_scale(p);
  const Target target(p, p.target(r));
  const float own = logit(p, r, target.column < 0 ? 0 : target.column);
  MaxTotal<double> others{-INFINITY, 0.0};  // FP64: the number of terms is not limited
  const float share = share_of_mean(p);
  float mean = 0.0f;
  for (int64_t c = lane; c < p.cols; c += 32) {
    const float x = logit(p, r, c);
    if (c == target.column) continue;
    mean = fmaf(x, share, mean);
    others.maximum = fmaxf(others.maximum, x);
  }
  others.maximum = warp_reduce<Max>(others.maximum);
  mean = warp_reduce<Sum>(mean);
  const auto exponential = [&](int64_t c, const Reference& to) {
    return exponential_of<Exp::kPolynomial>(scale, logit(p, r, c) - to.shift, to);
  };
  const Reference to(scale, others.maximum);
  for (int64_t c = lane; c < p.cols; c += 32) {
    if (c != target.column) others.sum += exponential(c, to);
  }
  others.sum = warp_reduce<Sum>(others.sum);
  const LossParts parts = parts_of<Exp::kPolynomial>(scale, target, others, own);
  if (lane == 0) store_loss(p, r, target, parts, mean);
  if (!p.has_gradient()) return;
  const RowGradient row = gradient_of_row(p, target, parts, p.weight(r));
  const Reference whole(row.shift, row.power);
  for (int64_t c = lane; c < p.cols; c += 32) {
    float dx = c == target.column ? row.target : 0.0f;
    if (c != target.column && !row.ignored) {
      const float e = exponential(c, whole);
      dx = fmaf(e, row.high, fmaf(e, row.low, row.constant));
    }
    store(Element{{{__float_as_uint(dx)}}}, address_of<MixedElements>(p.dx, r, c), p.dx.type,
          FullPlace{0});
  }
}

__global__ void __launch_bounds__(kNaiveLossThreads, 4)
    cross_entropy_naive(const CrossEntropyProblem p) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64_t r = int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.x / 32; r < p.rows;
       r += int64_t{gridDim.x} * kRowsPerBlock) {
    compute_row(p, r, lane);
  }
}

}  // namespace

Status cuda::launch_cross_entropy_naive(const CrossEntropyProblem& p,
                                        const CrossEntropyConfig& config,
                                        const LaunchContext& context) {
  return launch(context, cross_entropy_naive, config, p);
}

}  // namespace mygemm
