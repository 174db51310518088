// Configuration of the shifted transpose (shifted.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {

// A side is shifted where its rows do not begin at sectors, and at least one side is.
void set_shifted_grid(const TransposeProblem& p, const RowAlignment& alignment,
                      const DeviceTraits& device, TransposeConfig* config) {
  config->shift_in = alignment.in < kSectorBytes;
  config->shift_out = alignment.out < kSectorBytes || !config->shift_in;
  const int lost_cols = config->shift_in ? 2 : 0, lost_rows = config->shift_out ? 2 : 0;
  // Long in the direction in which tiles overlap; 32 KiB of elements of 4 bytes and more.
  PatchTile tile = {4, 4, 0};
  if (p.element_size >= 4) {
    tile = lost_cols > 0 ? PatchTile{5, 4, 0} : PatchTile{4, 5, 0};
  } else if (p.element_size == 2 && lost_rows == 0) {
    tile = {5, 3, 0};
  }
  const PatchKernel kernel = {.tile = tile,
                              .log2_patches_a_thread = shifted_patches(p.element_size) - 1,
                              .most_log2_cols = 5,  // a row of packs is shuffled within a warp
                              .lost_cols = lost_cols,
                              .lost_rows = lost_rows};
  take_grid(patch_grid(kernel, p, device), config);
}

const char* configure_transpose_shifted(const TransposeKernel& kernel, const TransposeFacts& facts,
                                        const DeviceTraits& device, const PlanOptions&,
                                        TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  set_shifted_grid(p, facts.alignment, device, config);
  // Small elements take many instructions a byte. H200: 8 us for 64 KiB of 1-byte elements, 3 us
  // for 32 KiB of 2-byte ones.
  const double rate = p.element_size == 1 ? 9e9 : p.element_size == 2 ? 12e9 : 40e9;
  const double block_seconds =
      kernel.figures.block_seconds + static_cast<double>(config->shared_bytes) / rate;
  config->seconds = tiles_seconds(facts, share_of_lines(kernel.figures, facts),
                                  full_tile_bytes(config->patches), block_seconds, device);
  return refuse_size(*config, config->blocks, device);
}

}  // namespace mygemm
