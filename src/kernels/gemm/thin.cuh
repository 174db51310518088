// The launcher of thin products as a template over the tile.
#pragma once

#include <bit>

#include "kernels/gemm/partials.h"
#include "kernels/gemm/thin_depth.cuh"
#include "kernels/gemm/thin_tile.cuh"
#include "kernels/launch.h"

namespace mygemm {

template <class Tile>
ThinArgs thin_args(const GemmProblem& p, const GemmConfig& config, const LaunchContext& context) {
  const bool long_is_m = config.long_is_m, in_cluster = config.k_split == KSplit::kCluster;
  const bool in_workspace = config.k_split == KSplit::kWorkspace;
  const Operand &x = long_is_m ? p.a : p.b, &y = long_is_m ? p.b : p.a;
  const bool y_along_k = long_is_m ? !p.transb : p.transa;
  const int row_groups =
      (long_is_m ? config.block_m : config.block_n) / Tile::rows_of_group(config.k_major);
  const OperandLoad load_x = long_is_m ? config.load_a : config.load_b;
  const OperandLoad load_y = long_is_m ? config.load_b : config.load_a;
  return {.p = p,
          .long_is_m = long_is_m,
          .x = x,
          .y = y,
          .y_along_thin = y_along_k ? y.ld : 1,
          .y_along_k = y_along_k ? 1 : y.ld,
          .extent = long_is_m ? p.m : p.n,
          .thin = static_cast<int>(long_is_m ? p.n : p.m),
          .row_groups = row_groups,
          .passes = config.passes,
          .step_k = Tile::step(config.k_major, load_x == OperandLoad::kCopy16, row_groups),
          .tiles = Divisor(static_cast<unsigned>(config.tiles_m * config.tiles_n)),
          .matrices = Divisor(static_cast<unsigned>(p.batch_count)),
          .k_per_split = config.k_per_split,
          .log2_splits =
              in_cluster ? std::bit_width(static_cast<unsigned>(config.cluster_blocks)) - 1u : 0u,
          .partials = in_workspace ? static_cast<float*>(context.workspace) : nullptr,
          .y_in_quads = load_y == OperandLoad::kCopy16};
}

template <class Tile>
Status cuda::launch_gemm_thin(const GemmProblem& p, const GemmConfig& config,
                              const LaunchContext& context) {
  const ThinArgs args = thin_args<Tile>(p, config, context);
  const OperandLoad load_x = config.long_is_m ? config.load_a : config.load_b;
  const bool aligned = load_x == OperandLoad::kCopy16;
  const auto run = [&](auto of_x, auto of_y) {
    using X = decltype(of_x);
    using Y = decltype(of_y);
    if constexpr (sizeof(X) == Tile::kElementBytes) {
      const auto kernel =
          config.k_major
              ? (aligned ? gemm_thin_depth<Tile, X, Y, true> : gemm_thin_depth<Tile, X, Y, false>)
              : (aligned ? gemm_thin_tile<Tile, X, Y, true> : gemm_thin_tile<Tile, X, Y, false>);
      return launch(context, kernel, config, args);
    } else {
      return Status{MYGEMM_STATUS_INTERNAL_ERROR};
    }
  };
  RETURN_IF_ERROR(with_operand_types(args.x.type, args.y.type, run));
  return args.partials ? launch_add_partials(p, config, context) : MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
