// Configuration of the transposes by tiles of single elements, also of square matrices in place
// (tiled.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

// The tiles of all matrices; sets everything in the Config but the blocks.
int64_t set_tiles(const TransposeKernel& kernel, const TransposeFacts& facts, int tiles_of_block,
                  const DeviceTraits& device, TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  const int side = transpose_tile_side(p.element_size);
  const auto tiles_along = [side](int64_t size) {  // divisors that the compiler knows
    return side == 64 ? ceil_div(size, 64) : ceil_div(size, 32);
  };
  static_assert(transpose_tile_side(4) == 64 && transpose_tile_side(8) == 32);
  config->tiled = true;
  config->tiles_r = tiles_along(p.rows);
  config->tiles_c = tiles_along(p.cols);
  const int64_t tiles = TileCounts{config->tiles_r, config->tiles_c, p.batch_count}.blocks();
  config->threads = kTransposeThreads;
  config->shared_bytes =
      static_cast<size_t>(tiles_of_block) * with_element(p.element_size, [](auto bytes) {
        return sizeof(TransposeStorage<decltype(bytes)::value>);
      });
  const double tile_bytes =
      2.0 * static_cast<double>(tiles) * side * side * static_cast<double>(p.element_size);
  config->seconds = tiles_seconds(facts, share_of_lines(kernel.figures, facts), tile_bytes,
                                  kernel.figures.block_seconds, device);
  return tiles;
}

}  // namespace

const char* configure_transpose_tiled(const TransposeKernel& kernel, const TransposeFacts& facts,
                                      const DeviceTraits& device, const PlanOptions&,
                                      TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  const int64_t tiles = set_tiles(kernel, facts, 1, device, config);
  config->blocks = tiles;
  return refuse_size(*config, tiles, device);
}

const char* configure_transpose_square_in_place(const TransposeKernel& kernel,
                                                const TransposeFacts& facts,
                                                const DeviceTraits& device, const PlanOptions&,
                                                TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (!p.in_place()) return kOnlyInPlaceReason;
  if (!is_square(p)) return kOnlySquareReason;
  const int64_t tiles = set_tiles(kernel, facts, 2, device, config);
  if (const char* reason = refuse_size(*config, tiles, device)) return reason;
  config->blocks = p.batch_count == 0 ? 0 : tile_pairs(config->tiles_r) * p.batch_count;
  return nullptr;
}

}  // namespace mygemm
