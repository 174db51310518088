// The table of matrix-product kernels.
#include <climits>

#include "kernels/gemm/tiles.h"
#include "kernels/rows.h"

namespace mygemm {
namespace {

template <class Tile>
constexpr GemmRow tile_row(const char* name, unsigned needs, double efficiency,
                           decltype(GemmRow::launch) launch) {
  return {name, 75, INT_MAX, Tile::kBlockM, Tile::kBlockN, Tile::kBlockK, Tile::kThreads,
          static_cast<int>(sizeof(typename Tile::SharedStorage)), Tile::kBlocksPerSm, needs,
          efficiency, launch};
}

constexpr GemmRow host_row(const char* name, unsigned needs, double efficiency,
                           decltype(GemmRow::launch) launch) {
  return {name, 0, 0, 0, 0, 0, 0, 0, 0, needs, efficiency, launch};
}

// efficiency: share of FFMA peak at 4096^3 on an H200; on the host, of the peak of two AVX2 cores.
constexpr GemmRow kRows[] = {
    tile_row<Tile128x128>("warptiled_128x128", kNeedsNothing, 0.65,
                          cuda_launcher<cuda::launch_gemm_warptiled_128x128>()),
    tile_row<Tile64x64>("warptiled_64x64", kNeedsNothing, 0.50,
                        cuda_launcher<cuda::launch_gemm_warptiled_64x64>()),
    tile_row<Tile64x64>("splitk_64x64", kNeedsWorkspace, 0.50,
                        cuda_launcher<cuda::launch_gemm_splitk_64x64>()),
    tile_row<TileShared>("tiled", kNeedsNothing, 0.15, cuda_launcher<cuda::launch_gemm_tiled>()),
    {"naive", 75, INT_MAX, TileNaive::kBlockM, TileNaive::kBlockN, 1, TileNaive::kThreads, 0, 8,
     kNeedsNothing, 0.06, cuda_launcher<cuda::launch_gemm_naive>()},
    host_row("host_cblas", kNeedsCblas, 0.90, host::gemm_cblas),
    host_row("host_blocked", kNeedsNothing, 0.50, host::gemm_blocked),
    host_row("host_naive", kNeedsNothing, 0.02, host::gemm_naive),
};

}  // namespace

std::span<const GemmRow> rows_for(const GemmProblem&) { return kRows; }

}  // namespace mygemm
