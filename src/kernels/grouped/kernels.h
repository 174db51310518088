// The kernels of grouped products: their launches. Pure.
#pragma once

#include "kernels/gemm/warptiled.h"
#include "kernels/grouped/config.h"
#include "kernels/grouped/tensor16.h"

namespace mygemm {

namespace grouped {

// Shared memory of the warp-tiled kernel: that of its tile, and the block's product.
template <class Tile>
struct WarpTiledStorage {
  typename Tile::SharedStorage tile;
  GemmProblem problem;
};

}  // namespace grouped

namespace cuda {
Status launch_grouped_naive(const GroupedProblem&, const GemmConfig&, const LaunchContext&);
template <class Tile>
Status launch_grouped_warptiled(const GroupedProblem&, const GemmConfig&, const LaunchContext&);
template <class Tile>
Status launch_grouped_tensor16(const GroupedProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
