// Configuration of the kernels of masked softmaxes (masked_*.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

// The bytes of a call: of causal rows about half are read.
double masked_seconds(const SoftmaxFacts& facts, const DeviceTraits& device, double efficiency) {
  constexpr double kRowSeconds = 2e-6, kRowsAtOnce = 12;
  const SoftmaxMasking& m = *facts.problem.masking;
  double read = facts.work.read;
  const double of_element = read / static_cast<double>(element_bytes(facts.problem.in.type));
  if (m.mask && m.mask_strides.row != 0 && !facts.problem.backward) {
    read += of_element * static_cast<double>(element_bytes(m.mask_type));
  }
  if (m.causal) read *= 0.5;
  const double bytes = (read + facts.work.written) / device.memory_bandwidth;
  const double rounds = rounded_up(facts.work.rows / (device.num_sms * kRowsAtOnce)) * kRowSeconds;
  return kLaunchSeconds + std::max(bytes, rounds) / efficiency;
}

void configure_rows(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                    const DeviceTraits& device, int64_t blocks, int threads,
                    SoftmaxConfig* config) {
  config->blocks = looping_grid(blocks);
  config->threads = threads;
  config->seconds = masked_seconds(facts, device, kernel.figures.efficiency);
}

}  // namespace

const char* configure_softmax_masked_warp(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                          const DeviceTraits& device, const PlanOptions&,
                                          SoftmaxConfig* config) {
  MaskedRows rows = masked_rows(facts.problem, facts.shape);
  const bool many = !rows.floats && !facts.problem.backward;
  const int most = many ? kMaskedManyPacks : rows.most_held();
  if (rows.packs > 32 * most) return "a row has more columns than a warp's registers hold";
  // As few lanes as hold a row, so that what each does for it is done for many elements.
  rows.held = rows.in_packs ? rows.most_held() : kMaskedFewElements;
  while (rows.log2_lanes < 5 && rows.packs > rows.held << rows.log2_lanes) ++rows.log2_lanes;
  if (rows.packs > 32 * rows.held) rows.held = most;
  while (rows.in_packs && rows.held > 1 && rows.packs <= rows.held / 2) rows.held /= 2;
  config->masked = rows;
  configure_rows(kernel, facts, device,
                 ceil_div(facts.problem.rows, kMaskedWarpThreads >> rows.log2_lanes),
                 kMaskedWarpThreads, config);
  return nullptr;
}

const char* configure_softmax_masked_block(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           SoftmaxConfig* config) {
  MaskedRows rows = masked_rows(facts.problem, facts.shape);
  rows.held = rows.most_held();
  const int64_t threads = rows.threads_for(rows.held);
  if (threads > kMaskedBlockThreads) return "a row has more columns than a block's registers hold";
  // Fewer packs of a thread where that leaves fewer threads without any.
  const int64_t more = rows.threads_for(kMaskedFewPacks);
  const bool few =
      rows.in_packs && more <= kMaskedBlockThreads && more * kMaskedFewPacks < threads * rows.held;
  if (few) rows.held = kMaskedFewPacks;
  config->masked = rows;
  config->shared_bytes = sizeof(BlockStorage);
  configure_rows(kernel, facts, device, facts.problem.rows, static_cast<int>(few ? more : threads),
                 config);
  return nullptr;
}

const char* configure_softmax_masked_reread(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                            const DeviceTraits& device, const PlanOptions&,
                                            SoftmaxConfig* config) {
  config->masked = masked_rows(facts.problem, facts.shape);
  config->shared_bytes = sizeof(BlockStorage);
  configure_rows(kernel, facts, device, facts.problem.rows, kMaskedRereadThreads, config);
  return nullptr;
}

const char* configure_softmax_masked_naive(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           SoftmaxConfig* config) {
  config->masked = masked_rows(facts.problem, facts.shape);
  configure_rows(kernel, facts, device, ceil_div(facts.problem.rows, kNaiveThreads / 32),
                 kNaiveThreads, config);
  return nullptr;
}

}  // namespace mygemm
