// Configuration of the softmax reread kernel (reread.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_reread(const SoftmaxKernel& kernel, const SoftmaxProblem& p,
                                     const DeviceTraits& device, const PlanOptions&,
                                     SoftmaxConfig* config) {
  config->shape = row_shape(p);
  if (fits_block(p, config->shape)) return kFitsBlockReason;
  config->rows = wide_rows(p, config->shape);
  config->blocks = looping_grid(p.rows);
  config->threads = kRereadThreads;
  config->shared_bytes = sizeof(RereadStorage);
  config->seconds = reread_seconds(SoftmaxWork(p), kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
