// Configuration of the softmax block kernel (block.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_block(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                    const DeviceTraits&, const PlanOptions&,
                                    SoftmaxConfig* config) {
  if (!facts.fits_block) return "a row has more columns than a block's registers hold";
  config->shape = facts.shape;
  config->block = softmax_block(facts.problem, facts.shape);
  config->blocks = looping_grid(facts.problem.rows);
  config->threads = config->block.threads;
  config->shared_bytes = sizeof(BlockStorage);
  config->seconds = registers_seconds(facts, kernel.figures.efficiency);
  return nullptr;
}

}  // namespace mygemm
