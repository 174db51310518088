// Configuration of the softmax reread kernel (reread.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_reread(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                     const DeviceTraits& device, const PlanOptions&,
                                     SoftmaxConfig* config) {
  if (facts.fits_block) return kFitsBlockReason;
  config->shape = facts.shape;
  config->rows = facts.rows;
  config->blocks = looping_grid(facts.problem.rows);
  config->threads = kRereadThreads;
  config->shared_bytes = sizeof(RereadStorage);
  config->seconds = reread_seconds(facts.work, kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
