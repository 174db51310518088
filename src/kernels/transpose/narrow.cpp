// Configuration of the transpose of narrow and of small matrices (narrow.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {
namespace {

using Side = NarrowGrid::Side;

// H200: runs of 10 to 16 KiB draw 0.94 to 0.98 of a copy, of 4 KiB 0.85.
constexpr int64_t kRunBytes = 16384, kSmallBytes = 49152, kMostWidth = 64;

// Small matrices without gaps, as many in a run as there is room for.
NarrowGrid small_grid(const TransposeProblem& p) {
  NarrowGrid grid;
  const int64_t bytes = p.rows * p.cols * p.element_size;
  const bool dense = p.batch_count == 1 || p.stride_in == p.rows * p.cols;
  const int64_t most =
      std::clamp<int64_t>(kRunBytes / bytes, 1, std::max<int64_t>(p.batch_count, 1));
  grid.side = Side::kSmall;
  grid.length = static_cast<int>(p.rows);
  grid.matrices = dense ? static_cast<int>(most) : 1;
  grid.runs = 1;
  grid.blocks = ceil_div(p.batch_count, grid.matrices);
  grid.shared_bytes = static_cast<size_t>(bytes * grid.matrices);
  return grid;
}

// Runs of `lines` contiguous rows of `width` elements.
NarrowGrid grid_of_runs(Side side, const TransposeProblem& p, int64_t width, int64_t lines) {
  NarrowGrid grid;
  grid.side = side;
  // At least 16 rows, so that every run begins at a multiple of 16 bytes if the first one does.
  grid.length = 16;
  while (2 * grid.length * width * p.element_size <= kRunBytes) grid.length *= 2;
  grid.matrices = 1;
  grid.runs = lines / grid.length + (lines % grid.length != 0);
  grid.blocks = TileCounts{grid.runs, 1, p.batch_count}.blocks();
  grid.shared_bytes = static_cast<size_t>(grid.length * width * p.element_size);
  return grid;
}

NarrowGrid narrow_grid(const TransposeProblem& p) {
  if (p.rows == 0 || p.cols == 0) return {};
  const bool dense_in = p.ldin == p.cols;
  if (dense_in && p.cols <= kSmallBytes && p.rows <= kSmallBytes &&
      p.rows * p.cols <= kSmallBytes / p.element_size) {
    return small_grid(p);
  }
  if (dense_in && p.cols <= kMostWidth) return grid_of_runs(Side::kInputRuns, p, p.cols, p.rows);
  if (p.ldout == p.rows && p.rows <= kMostWidth) {
    return grid_of_runs(Side::kOutputRuns, p, p.rows, p.cols);
  }
  return {};
}

}  // namespace

const char* configure_transpose_narrow(const TransposeKernel& kernel, const TransposeFacts& facts,
                                       const DeviceTraits& device, const PlanOptions&,
                                       TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  NarrowGrid grid = narrow_grid(p);
  if (grid.side == Side::kNone) {
    return "only for narrow or small matrices without gaps between their rows";
  }
  if (grid.blocks > kMostGridBlocks) return kTooManyTilesReason;
  const int access = narrow_access_bytes(p.element_size);
  grid.wide = (grid.side == Side::kOutputRuns ? facts.alignment.in : facts.alignment.out) >= access;
  const int elements = grid.wide ? access / static_cast<int>(p.element_size) : 1;
  grid.line_accesses = (grid.length + elements - 1) / elements;
  config->narrow = grid;
  config->blocks = grid.blocks;
  config->threads = kNarrowThreads;
  config->shared_bytes = grid.shared_bytes;
  // H200: 9 us for a run of 64 KiB.
  const double block_seconds =
      kernel.figures.block_seconds + static_cast<double>(grid.shared_bytes) / 8e9;
  config->seconds = tiles_seconds(facts, share_of_lines(kernel.figures, facts), facts.bytes_moved,
                                  block_seconds, device);
  return nullptr;
}

}  // namespace mygemm
