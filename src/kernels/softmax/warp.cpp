// Configuration of the softmax warp kernel (warp.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_warp(const SoftmaxKernel& kernel, const SoftmaxProblem& p,
                                   const DeviceTraits& device, const PlanOptions&,
                                   SoftmaxConfig* config) {
  config->shape = row_shape(p);
  config->lanes = softmax_lanes(p, config->shape);
  if (!fits_warp(config->lanes, config->shape)) {
    return "a row has more columns than a warp's registers hold";
  }
  config->threads = kWarpThreads;
  config->blocks = looping_grid(ceil_div(p.rows, kWarpThreads >> config->lanes.log2_lanes));
  config->seconds = registers_seconds(SoftmaxWork(p), kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
