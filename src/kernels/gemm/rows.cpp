// The table of matrix-product kernels.
#include <climits>

#include "kernels/gemm/tiles.h"
#include "kernels/rows.h"

namespace mygemm {
namespace {

template <class Tile>
constexpr GemmRow tile_row(const char* name, unsigned needs, double efficiency,
                           double step_seconds, decltype(GemmRow::launch) launch) {
  return {name, 75, INT_MAX, Tile::kBlockM, Tile::kBlockN, Tile::kBlockK, Tile::kThreads,
          static_cast<int>(sizeof(typename Tile::SharedStorage)), Tile::kBlocksPerSm, needs,
          efficiency, step_seconds, launch};
}

constexpr GemmRow host_row(const char* name, unsigned needs, double efficiency,
                           decltype(GemmRow::launch) launch) {
  return {name, 0, 0, 0, 0, 0, 0, 0, 0, needs, efficiency, 0, launch};
}

// efficiency, step_seconds: measured on an H200 (bench/results/), share of FFMA peak at 4096^3 to
// 16384^3 and products of one tile per multiprocessor; host rows: share of what two AVX2 cores can.
constexpr GemmRow kRows[] = {
    tile_row<Tile128x128>("warptiled_128x128", kNeedsNothing, 0.68, 0.86e-6,
                          cuda_launcher<cuda::launch_gemm_warptiled_128x128>()),
    tile_row<Tile64x64>("warptiled_64x64", kNeedsNothing, 0.56, 0.65e-6,
                        cuda_launcher<cuda::launch_gemm_warptiled_64x64>()),
    tile_row<Tile64x64>("splitk_64x64", kNeedsWorkspace, 0.56, 0.65e-6,
                        cuda_launcher<cuda::launch_gemm_splitk_64x64>()),
    tile_row<TileShared>("tiled", kNeedsNothing, 0.125, 1.8e-6,
                         cuda_launcher<cuda::launch_gemm_tiled>()),
    {"naive", 75, INT_MAX, TileNaive::kBlockM, TileNaive::kBlockN, 1, TileNaive::kThreads, 0, 8,
     kNeedsNothing, 0.04, 0.2e-6, cuda_launcher<cuda::launch_gemm_naive>()},
    host_row("host_cblas", kNeedsCblas, 0.90, host::gemm_cblas),
    host_row("host_blocked", kNeedsNothing, 0.50, host::gemm_blocked),
    host_row("host_naive", kNeedsNothing, 0.02, host::gemm_naive),
};

}  // namespace

std::span<const GemmRow> rows_for(const GemmProblem&) { return kRows; }

}  // namespace mygemm
