// Configuration of the softmax naive kernel (naive.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_naive(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                    const DeviceTraits& device, const PlanOptions&,
                                    SoftmaxConfig* config) {
  config->shape = facts.shape;
  config->threads = kNaiveThreads;
  config->blocks = looping_grid(ceil_div(facts.problem.rows, kNaiveThreads / 32));
  const double efficiency = kernel.figures.efficiency;
  // Never chosen for wide rows, whose order of summation is another one. A warp for each row is
  // slower anyway.
  const bool in_registers = facts.fits_block || facts.fits_warp;
  config->seconds = in_registers ? registers_seconds(facts, efficiency)
                                 : 3 * reread_seconds(facts.work, efficiency, device);
  return nullptr;
}

}  // namespace mygemm
