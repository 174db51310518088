// Configuration of the cross-entropy narrow kernel (narrow.cu).
#include "kernels/cross_entropy/cost.h"
#include "kernels/cross_entropy/kernels.h"

namespace mygemm {
namespace {

// As few lanes as hold the row: all else that a row takes is done once for each. But lanes of a
// warp that access more than a dozen rows at once, each far from the next, wait for memory. H200,
// 16 and 32 columns of fp32: 5.1 and 3.7 times as long as a copy with one and two lanes, 2.9 with
// twice as many.
NarrowLoss narrow_loss(int64_t cols) {
  constexpr int64_t kColumnsOfOne = 12, kColumnsOfTwo = 24;
  const int64_t lanes = cols <= kColumnsOfOne ? 1
                        : cols <= kColumnsOfTwo
                            ? 2
                            : std::max<int64_t>(4, ceil_div(cols, kMostNarrowLossElements));
  const int log2_lanes = static_cast<int>(std::bit_width(static_cast<uint64_t>(lanes - 1)));
  const int64_t elements = std::max<int64_t>(4, ceil_div(cols, int64_t{1} << log2_lanes));
  return {log2_lanes, static_cast<int>(std::bit_ceil(static_cast<uint64_t>(elements)))};
}

}  // namespace

const char* configure_cross_entropy_narrow(const CrossEntropyKernel& kernel,
                                           const CrossEntropyFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           CrossEntropyConfig* config) {
  const CrossEntropyProblem& p = facts.problem;
  if (p.cols > kMostNarrowLossColumns) return "a row has more columns than this kernel is made for";
  config->shape = facts.shape;
  config->narrow = narrow_loss(p.cols);
  config->threads = kNarrowLossThreads;
  config->blocks = looping_grid(ceil_div(p.rows, kNarrowLossThreads >> config->narrow.log2_lanes));
  config->seconds = kLaunchSeconds + rounds_seconds(facts.work, device) / kernel.figures.efficiency;
  return nullptr;
}

}  // namespace mygemm
