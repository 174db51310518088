// Configuration of the vector transpose (vector.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {
namespace {

// Whether the input is less than three times the L2 cache. Accesses that do not displace other data
// from it are faster then; see Caching in pack.cuh.
bool is_streamed(const TransposeProblem& p, const DeviceTraits& device) {
  const double bytes = static_cast<double>(p.rows) * static_cast<double>(p.cols) *
                       static_cast<double>(p.batch_count) * static_cast<double>(p.element_size);
  return bytes < 3.0 * static_cast<double>(device.l2_bytes);
}

}  // namespace

void set_vector_grid(const TransposeProblem& p, const DeviceTraits& device,
                     TransposeConfig* config) {
  const PatchKernel kernel = {.tile = {4, 4, 0},
                              .log2_patches_a_thread = vector_patches(p.element_size) - 1};
  take_grid(patch_grid(kernel, p, device), config);
  config->streamed = is_streamed(p, device);
}

const char* configure_transpose_vector(const TransposeKernel& kernel, const TransposeFacts& facts,
                                       const DeviceTraits& device, const PlanOptions&,
                                       TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  if (!facts.alignment.in_packs()) return kNotInPacksReason;
  set_vector_grid(p, device, config);
  config->seconds =
      tiles_seconds(facts, share_of_lines(kernel.figures, facts), full_tile_bytes(config->patches),
                    kernel.figures.block_seconds, device);
  return refuse_size(*config, config->blocks, device);
}

}  // namespace mygemm
