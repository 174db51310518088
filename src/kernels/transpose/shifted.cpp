// Configuration of the shifted transpose (shifted.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {

void set_shifted_grid(const TransposeProblem& p, const DeviceTraits& device,
                      TransposeConfig* config) {
  // Long in the direction in which tiles overlap; 32 KiB of elements of 4 bytes and more.
  const PatchKernel kernel = {.tile = p.element_size >= 4 ? PatchTile{4, 5, 0} : PatchTile{4, 4, 0},
                              .log2_patches_a_thread = shifted_patches(p.element_size) - 1,
                              .lost_rows = 2};
  take_grid(patch_grid(kernel, p, device), config);
}

const char* configure_transpose_shifted(const TransposeKernel& kernel, const TransposeFacts& facts,
                                        const DeviceTraits& device, const PlanOptions&,
                                        TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  if (facts.alignment.in < kPackBytes) return kNotInPacksReason;
  set_shifted_grid(p, device, config);
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
