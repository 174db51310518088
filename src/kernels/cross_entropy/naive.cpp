// Configuration of the cross-entropy naive kernel (naive.cu).
#include "kernels/cross_entropy/cost.h"
#include "kernels/cross_entropy/kernels.h"

namespace mygemm {

const char* configure_cross_entropy_naive(const CrossEntropyKernel& kernel,
                                          const CrossEntropyFacts& facts,
                                          const DeviceTraits& device, const PlanOptions&,
                                          CrossEntropyConfig* config) {
  config->shape = facts.shape;
  config->threads = kNaiveLossThreads;
  config->blocks = looping_grid(ceil_div(facts.problem.rows, kNaiveLossThreads / 32));
  // Its order of summation is another one: it is never chosen, so that the bits of a row do not
  // depend on how many there are.
  config->seconds = 3 * twice_read_seconds(facts, kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
