// Configuration of the softmax split kernel (split.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

SplitRows split_rows(const SoftmaxProblem& p, const WideRows& rows, const DeviceTraits& device) {
  SplitRows split{};
  split.run_for_each_warp = p.rows >= (kSplitWarps * device.num_sms + rows.runs - 1) / rows.runs;
  const int64_t tiles = split.run_for_each_warp ? 1 : rows.most_tiles_of_run();
  split.runs_of_block =
      tiles >= kSplitWarps ? 1 : kSplitWarps / std::max(1, static_cast<int>(tiles));
  split.blocks_of_row = (rows.runs + split.runs_of_block - 1) / split.runs_of_block;
  return split;
}

// Two grids. The second one finds the input in the L2 cache where it takes at most half of it.
double split_seconds(const SoftmaxWork& work, Widths widths, double efficiency,
                     const DeviceTraits& device) {
  // H200, 8 to 32 rows of 50257 and 128256 columns, 16 bits beside fp32: 9.5 to 26.5 us.
  if (widths == Widths::kMixed) efficiency *= 0.5;
  constexpr double kGridSeconds = 2e-6, kCacheRate = 2.5;
  const double rate = device.memory_bandwidth * efficiency;
  const bool cached = work.read <= static_cast<double>(device.l2_bytes) / 2;
  return 2 * (kLaunchSeconds + kGridSeconds) + (work.read + work.written) / rate +
         work.read / (cached ? rate * kCacheRate : rate);
}

}  // namespace

const char* configure_softmax_split(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                    const DeviceTraits& device, const PlanOptions& options,
                                    SoftmaxConfig* config) {
  if (facts.fits_block) return kFitsBlockReason;
  const SoftmaxProblem& p = facts.problem;
  config->shape = facts.shape;
  config->rows = facts.rows;
  // A MaxSum for each run of each row.
  int64_t bytes;
  const bool overflow = __builtin_mul_overflow(
      p.rows, static_cast<int64_t>(sizeof(MaxSum)) * config->rows.runs, &bytes);
  config->workspace_bytes = overflow ? SIZE_MAX : static_cast<size_t>(bytes);
  if (config->workspace_bytes > options.workspace_bytes) return "the workspace is too small";
  config->split = split_rows(p, config->rows, device);
  if (p.rows > kMostGridBlocks / config->split.blocks_of_row) {
    return "more blocks than a grid can have";
  }
  config->blocks = p.rows * config->split.blocks_of_row;
  config->threads = kSplitThreads;
  config->shared_bytes = sizeof(SplitStorage);
  config->seconds =
      split_seconds(facts.work, facts.shape.widths, kernel.figures.efficiency, device);
  return nullptr;
}

}  // namespace mygemm
