// Cross entropy of narrow rows: a few lanes of a warp hold a row in registers. What a row takes
// besides its elements, hundreds of instructions, is then done for all rows of the warp at once.
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/tiles.cuh"
#include "kernels/launch.h"

namespace mygemm {
namespace {

// One row, by 2^log2_lanes neighbouring lanes, of which the caller is number `lane`. Every lane of
// the warp must call, those past the last row as well.
template <class Format, int kElements>
__device__ __forceinline__ void compute_row(const CrossEntropyProblem& p, const Scale& scale,
                                            int64_t r, int lane, int log2_lanes) {
  const bool inside = r < p.rows;
  const int64_t row = inside ? r : p.rows - 1;
  const int cols = static_cast<int>(p.cols), lanes = 1 << log2_lanes;
  const RaggedPlace<1> at{lane, lanes, 0, inside ? cols : 0};
  const Target target(p, p.target(row));
  const auto target_column = static_cast<int>(target.column);
  Packs<Format, kElements> x;
  load(x, address_of<Format>(p.x, row), p.x.type, at, -INFINITY);

  float logit = 0.0f, mean = 0.0f;  // the target's, and the others' part of the mean
  const float share = 1.0f / static_cast<float>(cols);  // a sum might overflow, a mean does not
  change_all(x, MYGEMM_R_32F, [&](float v, int k, int) {
    const bool is_target = at.pack(k) == target_column;
    if (is_target) logit = v;
    if (p.label_smoothing > 0.0f && !is_target && at.has(k, 0)) mean = fmaf(v, share, mean);
    return is_target ? -INFINITY : v;
  });
  const int first_lane = static_cast<int>(threadIdx.x % 32) - lane;
  logit = __shfl_sync(0xffffffffu, logit, first_lane + (target_column & (lanes - 1)));
  if (p.label_smoothing > 0.0f) mean = warp_reduce<Sum>(mean, log2_lanes);

  const float maximum = warp_reduce<Max>(largest(p.softmax(), x), log2_lanes);
  const float sum = warp_reduce<Sum>(tile_exponentials(p, scale, x, maximum), log2_lanes);
  const LossParts parts = parts_of<kLossExp<Format>>(scale, target, MaxSum{maximum, sum}, logit);
  if (inside && lane == 0) store_loss(p, row, target, parts, mean);
  if (!p.has_gradient()) return;
  const RowGradient gradient =
      gradient_of_row<kLossExp<Format>>(p, scale, target, parts, p.weight(row));
  finish_tile(scale, x, maximum, gradient);
  change_all(x, MYGEMM_R_32F, [&](float v, int k, int) {
    return at.pack(k) == target_column ? gradient.target : v;
  });
  store(x, address_of<Format>(p.dx, row), p.dx.type, at);
}

template <class Format, int kElements>
__global__ void __launch_bounds__(kNarrowLossThreads, 6)
    cross_entropy_narrow(const CrossEntropyProblem p, const int log2_lanes) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int rows = kNarrowLossThreads >> log2_lanes, row = thread >> log2_lanes;
  const Scale scale = logit_scale(p);
  for (int64_t first = int64_t{blockIdx.x} * rows; first < p.rows;
       first += int64_t{gridDim.x} * rows) {
    compute_row<Format, kElements>(p, scale, first + row, thread - (row << log2_lanes), log2_lanes);
  }
}

}  // namespace

Status cuda::launch_cross_entropy_narrow(const CrossEntropyProblem& p,
                                         const CrossEntropyConfig& config,
                                         const LaunchContext& context) {
  return with_elements(config.shape.widths, [&](auto format) {
    using Format = decltype(format);
    const auto run = [&](auto kernel) {
      return launch(context, kernel, config, p, config.narrow.log2_lanes);
    };
    switch (config.narrow.elements) {
      case 4: return run(cross_entropy_narrow<Format, 4>);
      case 8: return run(cross_entropy_narrow<Format, 8>);
      default: return run(cross_entropy_narrow<Format, kMostNarrowLossElements>);
    }
  });
}

}  // namespace mygemm
