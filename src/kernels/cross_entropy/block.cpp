// Configurations of the cross-entropy kernels in which a block has a row for itself (block.cu).
#include "kernels/cross_entropy/cost.h"
#include "kernels/cross_entropy/kernels.h"

namespace mygemm {
namespace {

void configure_rows(const CrossEntropyFacts& facts, CrossEntropyConfig* config) {
  constexpr int64_t kWarps = kRowThreads / 32;
  config->shape = facts.shape;
  config->rows = facts.rows;
  config->blocks = looping_grid(facts.problem.rows);
  config->threads = 32 * static_cast<int>(std::clamp<int64_t>(facts.rows.tiles, 1, kWarps));
  config->shared_bytes = sizeof(RowStorage);
}

}  // namespace

const char* configure_cross_entropy_block(const CrossEntropyKernel& kernel,
                                          const CrossEntropyFacts& facts,
                                          const DeviceTraits& device, const PlanOptions&,
                                          CrossEntropyConfig* config) {
  if (facts.narrow()) return kNarrowReason;
  if (facts.rows.tiles > kRowThreads / 32) {
    return "a row has more columns than a block's registers hold";
  }
  configure_rows(facts, config);
  config->seconds = kLaunchSeconds + rounds_seconds(facts.work, device) / kernel.figures.efficiency;
  return nullptr;
}

const char* configure_cross_entropy_reread(const CrossEntropyKernel& kernel,
                                           const CrossEntropyFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           CrossEntropyConfig* config) {
  if (facts.narrow()) return kNarrowReason;
  configure_rows(facts, config);
  config->seconds = twice_read_seconds(facts, kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
