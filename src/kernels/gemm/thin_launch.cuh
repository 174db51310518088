// The launcher of thin products as a template over the tile; the .cu files beside instantiate it.
#pragma once

#include "kernels/gemm/columns.h"
#include "kernels/gemm/partials.h"
#include "kernels/gemm/thin.h"
#include "kernels/gemm/thin_depth.cuh"
#include "kernels/gemm/thin_tile.cuh"
#include "kernels/launch.h"
#include "kernels/rows.h"

namespace mygemm {

template <class Tile>
Status launch_thin(const GemmRow& row, const GemmProblem& p, const LaunchContext& context) {
  const ThinShape shape = thin_shape(p);
  const ThinCuts cuts = thin_cuts(row, p, *context.device, context.workspace_bytes);
  auto* partials =
      cuts.splits > 1 && cuts.log2_slices == 0 ? static_cast<float*>(context.workspace) : nullptr;
  const auto tiles = static_cast<unsigned>(ceil_div(shape.extent, cuts.tile * cuts.passes));
  const GemmOperand<const float>&x = shape.long_is_m ? p.a : p.b, &y = shape.long_is_m ? p.b : p.a;
  const bool y_along_k = shape.long_is_m ? !p.transb : p.transa;
  const int64_t parts = cuts.tile / Tile::kRows;
  const ThinArgs args{
      .p = p,
      .long_is_m = shape.long_is_m,
      .x = x,
      .y = y,
      .y_along_thin = y_along_k ? y.ld : 1,
      .y_along_k = y_along_k ? 1 : y.ld,
      .extent = shape.extent,
      .thin = static_cast<int>(shape.thin),
      .parts_of_tile = parts,
      .passes = static_cast<int>(cuts.passes),
      .step_k = static_cast<int>(shape.along_k ? Tile::kWarps / parts * Tile::kStride
                                               : Tile::kThreads / parts * Tile::kBatch),
      .tiles = Divisor(tiles),
      .matrices = Divisor(static_cast<unsigned>(p.batch_count)),
      .depth_per_split = cuts.depth_per_split,
      .log2_slices = cuts.log2_slices,
      .partials = partials};
  // Quads are whole where they begin at multiples of 16 bytes and none crosses the matrix's edge.
  const bool aligned =
      columns_aligned(x, p.batch_count) && (shape.along_k ? p.k : shape.extent) % 4 == 0;
  LaunchShape launch_shape;
  launch_shape.blocks = grid_size(int64_t{tiles} * p.batch_count * cuts.splits);
  launch_shape.threads = Tile::kThreads;
  launch_shape.shared_bytes = sizeof(typename Tile::SharedStorage);
  launch_shape.cluster_blocks = cuts.log2_slices > 0 ? 1 << cuts.log2_slices : 0;
  const auto run = [&](auto kernel) { return launch(context, kernel, launch_shape, args); };
  if (shape.along_k) {
    RETURN_IF_ERROR(run(aligned ? gemm_thin_depth<Tile, true> : gemm_thin_depth<Tile, false>));
  } else {
    RETURN_IF_ERROR(run(aligned ? gemm_thin_tile<Tile, true> : gemm_thin_tile<Tile, false>));
  }
  if (!partials) return MYGEMM_STATUS_SUCCESS;
  return cuda::launch_add_partials(p, cuts.splits, partials, context);
}

}  // namespace mygemm
