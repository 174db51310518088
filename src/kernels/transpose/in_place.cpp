// Configuration of the transposes in place by packs and through the workspace (in_place.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/workspace.h"

namespace mygemm {
namespace {

bool is_dense(const TransposeProblem& p) {
  return p.ldin == p.cols && (p.batch_count == 1 || p.stride_in == dense_stride(p));
}

}  // namespace

const char* configure_transpose_vector_in_place(const TransposeKernel& kernel,
                                                const TransposeFacts& facts,
                                                const DeviceTraits& device, const PlanOptions&,
                                                TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (!p.in_place()) return kOnlyInPlaceReason;
  if (!is_square(p)) return kOnlySquareReason;
  if (!facts.alignment.in_packs()) return kNotInPacksReason;
  const bool large = p.element_size == 16;
  const PatchKernel tiles = {.tile = large ? PatchTile{5, 5, 0} : PatchTile{4, 4, 0},
                             .fit = PatchKernel::Fit::kSquare,
                             .log2_patches_a_thread = large ? 1 : 0};
  const PatchGrid grid = patch_grid(tiles, p, device);
  config->patches = grid;
  config->threads = 2 * (1 << grid.tile.log2_patches()) / in_place_patches(p.element_size);
  config->shared_bytes = 2 * grid.shared_bytes;  // of both tiles
  if (const char* reason = refuse_size(*config, grid.blocks, device)) return reason;
  config->blocks = p.batch_count == 0 ? 0 : tile_pairs(grid.tiles_r) * p.batch_count;
  config->seconds = tiles_seconds(facts, share_of_lines(kernel.figures, facts),
                                  full_tile_bytes(grid), kernel.figures.block_seconds, device);
  return nullptr;
}

const char* configure_transpose_through_workspace(const TransposeKernel& kernel,
                                                  const TransposeFacts& facts,
                                                  const DeviceTraits& device,
                                                  const PlanOptions& options,
                                                  TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (!p.in_place()) return kOnlyInPlaceReason;
  // The address of a workspace is aligned to more than any access is, as nullptr is.
  const TransposeProblem from = from_workspace(p, nullptr);
  const RowAlignment alignment = row_alignment(from);
  if (alignment.in < kPackBytes) {  // never of elements of 16 bytes
    set_gathered_grid(from, alignment, device, config);
  } else if (alignment.out >= kPackBytes) {
    set_vector_grid(from, device, config);
  } else {
    config->shifted = true;
    set_shifted_grid(from, device, config);
  }
  if (config->blocks > kMostGridBlocks) return kTooManyTilesReason;
  config->workspace_bytes = dense_bytes(p, p.batch_count);
  if (options.workspace_bytes == 0 || config->workspace_bytes > options.workspace_bytes) {
    return kWorkspaceReason;
  }
  config->copy_blocks = 0;
  if (!is_dense(p)) {
    const auto elements =
        static_cast<int64_t>(config->workspace_bytes / static_cast<size_t>(p.element_size));
    config->copy_blocks = std::min(ceil_div(elements, kTransposeThreads), kMostGridBlocks);
  }
  const double rate = device.memory_bandwidth * kernel.figures.efficiency;
  config->seconds =
      2.0 * (kLaunchSeconds + kernel.figures.block_seconds) + facts.bytes_moved / rate;
  return nullptr;
}

}  // namespace mygemm
