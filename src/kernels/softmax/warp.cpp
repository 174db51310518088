// Configuration of the softmax warp kernel (warp.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_warp(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                   const DeviceTraits&, const PlanOptions&, SoftmaxConfig* config) {
  if (!facts.fits_warp) return "a row has more columns than a warp's registers hold";
  config->shape = facts.shape;
  config->lanes = facts.lanes;
  config->threads = kWarpThreads;
  config->blocks =
      looping_grid(ceil_shift(facts.problem.rows, kLog2WarpThreads - facts.lanes.log2_lanes));
  config->seconds = registers_seconds(facts, kernel.figures.efficiency);
  return nullptr;
}

}  // namespace mygemm
