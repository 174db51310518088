// Configuration of the transpose that loads tiles through a tensor map (tma.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {
namespace {

// The rules of tensor maps (kernels/tensor_map.h) that alignment to packs does not imply.
bool fits_tensor_map(const TransposeProblem& p, const DeviceTraits& device) {
  constexpr double kLeastOnBlackwell = 131072;  // bytes; see tensor_map.h
  if (device.cc >= 100 && bytes_moved(p) / 2.0 < kLeastOnBlackwell) return false;
  constexpr int64_t kMostCoordinate = INT32_MAX, kMostStride = int64_t{1} << 40;
  const int64_t most_cols = p.element_size == 16 ? kMostCoordinate / 2 : kMostCoordinate;
  const int64_t most_stride =
      kMostStride >> std::countr_zero(static_cast<uint64_t>(p.element_size));
  return p.cols <= most_cols && p.rows <= kMostCoordinate && p.batch_count <= kMostCoordinate &&
         p.ldin < most_stride &&
         (p.batch_count == 1 || (p.stride_in > 0 && p.stride_in < most_stride));
}

PatchKernel patch_kernel(const TransposeProblem& p) {
  const PatchTile tile = p.element_size == 16  ? PatchTile{4, 6, 0}
                         : p.element_size == 8 ? PatchTile{4, 5, 0}
                                               : PatchTile{4, 4, 0};
  return {.tile = tile,
          .fit = PatchKernel::Fit::kFixed,
          .log2_patches_a_thread = tma_patches(p.element_size) - 1};
}

}  // namespace

const char* configure_transpose_tma(const TransposeKernel& kernel, const TransposeFacts& facts,
                                    const DeviceTraits& device, const PlanOptions&,
                                    TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  if (!facts.alignment.in_packs()) return kNotInPacksReason;
  if (!fits_tensor_map(p, device)) return "not a tensor that a tensor map can describe";
  take_grid(patch_grid(patch_kernel(p), p, device), config);
  config->shared_bytes += sizeof(uint64_t);  // the barrier
  config->seconds =
      tiles_seconds(facts, share_of(kernel.figures, facts), full_tile_bytes(config->patches),
                    kernel.figures.block_seconds, device);
  return refuse_size(*config, config->blocks, device);
}

}  // namespace mygemm
