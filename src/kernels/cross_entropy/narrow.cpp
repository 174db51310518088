// Configuration of the cross-entropy narrow kernel (narrow.cu).
#include "kernels/cross_entropy/cost.h"
#include "kernels/cross_entropy/kernels.h"
#include "kernels/softmax/bundle.h"

namespace mygemm {
namespace {

bool is_aligned(const TypedMatrix& matrix, int64_t elements) {
  const auto bytes = static_cast<uintptr_t>(elements) * element_bytes(matrix.type);
  return reinterpret_cast<uintptr_t>(matrix.data) % bytes == 0 && matrix.ld % elements == 0;
}

// Packs where rows consist of them, but for those that one lane holds. Staged rows' gradients
// replace the logits in shared memory.
NarrowRows layout_of(const CrossEntropyProblem& p, Widths widths, int log2_lanes) {
  constexpr int64_t kPack = kNarrowLossPack;
  if (widths == Widths::kMixed) return NarrowRows::kElements;
  const bool aligned = is_aligned(p.x, kPack) && (!p.has_gradient() || is_aligned(p.dx, kPack));
  if (log2_lanes > 0 && p.cols % kPack == 0 && aligned) return NarrowRows::kPacks;
  const bool replaces = !p.has_gradient() || (p.dx.ld == p.cols && can_replace(p.x, p.dx));
  const bool without_gaps = p.x.ld == p.cols && replaces;
  return log2_lanes <= kMostStagedLog2Lanes && without_gaps ? NarrowRows::kStaged
                                                            : NarrowRows::kElements;
}

// Staged bundles have as many sets of rows as fill their block's shared memory; others one for each
// warp. Few rows are divided among all multiprocessors, first by sets, then by passes.
NarrowLoss narrow_loss(const CrossEntropyProblem& p, const RowShape& shape, int num_sms) {
  constexpr int kWarps = kNarrowLossThreads / 32, kStagedBytes = 8 * 1024;
  NarrowLoss narrow{};
  narrow.log2_lanes = narrow.log2_passes = narrow_loss_log2_lanes(p.cols);
  narrow.layout = layout_of(p, shape.widths, narrow.log2_lanes);
  narrow.elements = narrow_loss_elements(narrow.layout, shape.widths, narrow.log2_lanes, p.cols);
  narrow.sets = kWarps;
  const int64_t rows = ceil_div(p.rows, int64_t{4} * num_sms);
  if (narrow.layout == NarrowRows::kStaged) {
    const auto bytes = [&] {
      return narrow.rows() * p.cols * static_cast<int64_t>(element_bytes(p.x.type));
    };
    while (bytes() > 2 * kStagedBytes && narrow.log2_passes > 0) --narrow.log2_passes;
    while (bytes() < kStagedBytes && narrow.rows() < rows) narrow.sets *= 2;
  }
  while (narrow.rows() > rows && narrow.log2_passes > 0) --narrow.log2_passes;
  return narrow;
}

}  // namespace

const char* configure_cross_entropy_narrow(const CrossEntropyKernel& kernel,
                                           const CrossEntropyFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           CrossEntropyConfig* config) {
  const CrossEntropyProblem& p = facts.problem;
  if (p.cols > kMostNarrowLossColumns) return "a row has more columns than this kernel is made for";
  const NarrowLoss narrow = narrow_loss(p, facts.shape, device.num_sms);
  const bool staged = narrow.layout == NarrowRows::kStaged;
  const int64_t rows = narrow.rows(), staged_columns = staged ? p.cols : 0;
  config->shape = facts.shape;
  config->narrow = narrow;
  config->threads = kNarrowLossThreads;
  config->blocks = looping_grid(ceil_div(p.rows, rows));
  config->shared_bytes =
      static_cast<size_t>(rows) * sizeof(int) +
      static_cast<size_t>(
          run_bytes(rows * staged_columns * static_cast<int64_t>(element_bytes(p.x.type))));
  config->seconds = kLaunchSeconds + rounds_seconds(facts.work, device) / kernel.figures.efficiency;
  return nullptr;
}

}  // namespace mygemm
