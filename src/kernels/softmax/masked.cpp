// Configuration of the kernels of masked softmaxes (masked_*.cu).
#include <bit>
#include <climits>

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

// Lanes of a row, and the elements of each, that take the fewest instructions: elements that a row
// lacks cost as much as others. With a mask, 32 elements take so many registers that blocks are
// faster: 0.44 and 0.51 of a copy for 1001 columns of BF16 (H200).
void share_row(const SoftmaxProblem& p, MaskedRows* rows) {
  constexpr int kOfElement = 23, kOfRow = 220;
  const bool light = !p.backward && !has_extras(*p.masking);
  rows->held = kMaskedElements;
  const int most = light ? kMaskedLaneElements : kMaskedLaneElementsOfMasks;
  rows->by_block = rows->packs > 32 * most;
  if (rows->by_block) return;
  int64_t least = INT64_MAX;
  for (const int held : {8, 12, 16, 4, 24, kMaskedLaneElements}) {
    const auto lanes = static_cast<uint64_t>(ceil_div(rows->packs, held));
    const int log2_lanes = lanes <= 1 ? 0 : std::bit_width(lanes - 1);
    if (log2_lanes > 5 || held > most) continue;
    const int64_t of_lane = light ? kOfElement * held + kOfRow : held;
    if (of_lane << log2_lanes >= least) continue;
    least = of_lane << log2_lanes;
    rows->held = held;
    rows->log2_lanes = log2_lanes;
  }
}

// A warp moves enough rows for the memory's latency, if they have no gaps between them.
int rows_of_run(const SoftmaxProblem& p, const MaskedRows& rows, const DeviceTraits& device) {
  constexpr int64_t kBytes = 3072, kWarps = 16;
  const bool gaps = p.in.ld != p.cols || p.out.ld != p.cols || (p.backward && p.dy.ld != p.cols);
  if (gaps || rows.by_block) return 1;
  const int at_once = 32 >> rows.log2_lanes;
  const int64_t bytes = at_once * p.cols * element_bytes(p.in.type);
  const int64_t of_each = ceil_div(p.rows, kWarps * device.num_sms * at_once);
  return static_cast<int>(std::max<int64_t>(1, std::min(kBytes / bytes, of_each))) * at_once;
}

MaskedBundle bundle_of(const SoftmaxProblem& p, const MaskedRows& rows,
                       const DeviceTraits& device) {
  MaskedBundle bundle{};
  bundle.rows = rows_of_run(p, rows, device);
  const auto place = [&](const TypedMatrix& matrix) {
    const int at = bundle.bytes;
    bundle.bytes += run_bytes(bundle.rows * p.cols * element_bytes(matrix.type));
    return at;
  };
  place(p.in);
  if (p.backward) bundle.dy_at = place(p.dy);
  const bool replaces = can_replace(p.backward ? p.dy : p.in, p.out);
  bundle.out_at = replaces ? bundle.dy_at : place(p.out);
  bundle.mask_at = bundle.bytes;
  if (p.masking->mask && !p.backward) {
    bundle.mask_pitch = run_bytes(p.cols * element_bytes(p.masking->mask_type));
    bundle.bytes += bundle.rows * bundle.mask_pitch;
  }
  return bundle;
}

constexpr const char* kAnywhereReason = "such rows, which begin anywhere, go through shared memory";

}  // namespace

const char* configure_softmax_masked_warp(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                          const DeviceTraits& device, const PlanOptions&,
                                          SoftmaxConfig* config) {
  MaskedRows rows = masked_rows(facts.problem, facts.shape);
  if (takes_masked_bundle(facts.problem, rows)) return kAnywhereReason;
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
  if (takes_masked_bundle(facts.problem, rows)) return kAnywhereReason;
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

const char* configure_softmax_masked_bundle(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                            const DeviceTraits& device, const PlanOptions&,
                                            SoftmaxConfig* config) {
  const SoftmaxProblem& p = facts.problem;
  MaskedRows rows = masked_rows(p, facts.shape);
  if (!takes_masked_bundle(p, rows)) return "other kernels are fast for such rows";
  share_row(p, &rows);
  rows.bundle = bundle_of(p, rows, device);
  config->masked = rows;
  const bool block = rows.by_block;
  constexpr int kWarps = kMaskedWarpThreads / 32;
  config->shared_bytes = block ? sizeof(BlockStorage) + static_cast<size_t>(rows.bundle.bytes)
                               : static_cast<size_t>(kWarps * rows.bundle.bytes);
  if (config->shared_bytes > static_cast<size_t>(device.shared_per_block)) {
    return "a block's shared memory does not hold its rows";
  }
  configure_rows(
      kernel, facts, device, block ? p.rows : ceil_div(p.rows, int64_t{kWarps} * rows.bundle.rows),
      block ? static_cast<int>(rows.threads_for(rows.held)) : kMaskedWarpThreads, config);
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
