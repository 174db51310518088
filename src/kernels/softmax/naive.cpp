// Configuration of the softmax naive kernel (naive.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_naive(const SoftmaxKernel& kernel, const SoftmaxProblem& p,
                                    const DeviceTraits& device, const PlanOptions&,
                                    SoftmaxConfig* config) {
  config->shape = row_shape(p);
  config->threads = kNaiveThreads;
  config->blocks = looping_grid(ceil_div(p.rows, kNaiveThreads / 32));
  const SoftmaxWork work(p);
  const double efficiency = kernel.figures.efficiency;
  // Never chosen for wide rows, whose order of summation is another one. A warp for each row is
  // slower anyway.
  const bool in_registers =
      fits_block(p, config->shape) || fits_warp(softmax_lanes(p, config->shape), config->shape);
  config->seconds = in_registers ? registers_seconds(work, efficiency, device)
                                 : 3 * reread_seconds(work, efficiency, device);
  return nullptr;
}

}  // namespace mygemm
