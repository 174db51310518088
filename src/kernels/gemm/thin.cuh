// The launcher of thin products as a template over the tile.
#pragma once

#include <bit>

#include "kernels/gemm/partials.h"
#include "kernels/gemm/thin_depth.cuh"
#include "kernels/gemm/thin_tile.cuh"
#include "kernels/launch.h"

namespace mygemm {

template <class Tile>
Status cuda::launch_gemm_thin(const GemmProblem& p, const GemmConfig& config,
                              const LaunchContext& context) {
  const bool long_is_m = config.long_is_m, in_cluster = config.k_split == KSplit::kCluster;
  const bool in_workspace = config.k_split == KSplit::kWorkspace;
  const Operand &x = long_is_m ? p.a : p.b, &y = long_is_m ? p.b : p.a;
  const bool y_along_k = long_is_m ? !p.transb : p.transa;
  const int64_t row_groups = (long_is_m ? config.block_m : config.block_n) / Tile::kRows;
  const ThinArgs args{
      .p = p,
      .long_is_m = long_is_m,
      .x = x,
      .y = y,
      .y_along_thin = y_along_k ? y.ld : 1,
      .y_along_k = y_along_k ? 1 : y.ld,
      .extent = long_is_m ? p.m : p.n,
      .thin = static_cast<int>(long_is_m ? p.n : p.m),
      .row_groups = row_groups,
      .passes = config.passes,
      .step_k = static_cast<int>(config.k_major ? Tile::kWarps / row_groups * Tile::kStride
                                                : Tile::kThreads / row_groups * Tile::kBatch),
      .tiles = Divisor(static_cast<unsigned>(config.tiles_m * config.tiles_n)),
      .matrices = Divisor(static_cast<unsigned>(p.batch_count)),
      .k_per_split = config.k_per_split,
      .log2_splits =
          in_cluster ? std::bit_width(static_cast<unsigned>(config.cluster_blocks)) - 1u : 0u,
      .partials = in_workspace ? static_cast<float*>(context.workspace) : nullptr};
  const bool aligned = config.load_a == OperandLoad::kCopy16;
  const auto run = [&](auto kernel) { return launch(context, kernel, config, args); };
  if (config.k_major) {
    RETURN_IF_ERROR(run(aligned ? gemm_thin_depth<Tile, true> : gemm_thin_depth<Tile, false>));
  } else {
    RETURN_IF_ERROR(run(aligned ? gemm_thin_tile<Tile, true> : gemm_thin_tile<Tile, false>));
  }
  return in_workspace ? launch_add_partials(p, config, context) : MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
