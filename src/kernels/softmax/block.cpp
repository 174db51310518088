// Configuration of the softmax block kernel (block.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_block(const SoftmaxKernel& kernel, const SoftmaxProblem& p,
                                    const DeviceTraits& device, const PlanOptions&,
                                    SoftmaxConfig* config) {
  config->shape = row_shape(p);
  if (!fits_block(p, config->shape)) return "a row has more columns than a block's registers hold";
  config->block = softmax_block(p, config->shape);
  config->blocks = looping_grid(p.rows);
  config->threads = config->block.threads;
  config->shared_bytes = sizeof(BlockStorage);
  config->seconds = registers_seconds(SoftmaxWork(p), kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
