// Configuration of the softmax block_cluster kernel (block_cluster.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {

const char* configure_softmax_block_cluster(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                            const DeviceTraits& device, const PlanOptions&,
                                            SoftmaxConfig* config) {
  const SoftmaxProblem& p = facts.problem;
  if (facts.fits_block) config->block = softmax_block(p, facts.shape);
  if (!facts.fits_block || p.backward || facts.shape.layout == Layout::kAny ||
      config->block.packs < kBlockManyPacks) {
    return "made for rows of which a thread of a block holds eight packs";
  }
  // H100, 64 rows of 9000 and 20000 columns: 7.0 and 8.3 us, and 5.0 and 7.6 in one block each.
  constexpr int kSmsOfRow = 4;
  if (p.rows > device.num_sms / kSmsOfRow) return "rows are many enough for a block each";
  const int log2_blocks = log2_blocks_of_row(device);
  if (device.clusters[log2_blocks] == 0) return kNoClusterReason;
  const int blocks = 1 << log2_blocks;
  config->shape = facts.shape;
  config->blocks = p.rows << log2_blocks;
  config->cluster_blocks = blocks;
  config->threads = ceil_div(config->block.threads / 32, blocks) * 32;
  config->shared_bytes = sizeof(BlockClusterStorage);
  // H100: 3.2 us for one row, of whatever length, and 4.0 to 6.4 us for 32 rows of 9000 to 32000
  // columns.
  constexpr double kRowSeconds = 1.9e-6, kFirstSeconds = 0.6e-6;
  const double rate = device.memory_bandwidth * kernel.figures.efficiency;
  const double bytes_seconds = (facts.work.read + facts.work.written) / rate;
  config->seconds = kLaunchSeconds + std::max(kRowSeconds, kFirstSeconds + bytes_seconds);
  return nullptr;
}

}  // namespace mygemm
