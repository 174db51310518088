// The table of matrix-product kernels.
#include <climits>
#include <type_traits>

#include "kernels/gemm/tiles.h"
#include "kernels/rows.h"

namespace mygemm {
namespace {

// What the tile itself says; needs and the measured figures are the table's.
template <class Tile>
constexpr GemmRow tile_row(const char* name, decltype(GemmRow::launch) launch) {
  using Shared = typename Tile::SharedStorage;
  return {.name = name,
          .min_cc = 75,
          .max_cc = INT_MAX,
          .threads = Tile::kThreads,
          .shared_bytes = std::is_empty_v<Shared> ? 0 : static_cast<int>(sizeof(Shared)),
          .blocks_per_sm = Tile::kBlocksPerSm,
          .block_m = Tile::kBlockM,
          .block_n = Tile::kBlockN,
          .block_k = Tile::kBlockK,
          .fill_steps = Tile::kStages - 1,
          .launch = launch};
}

constexpr GemmRow measured(GemmRow row, double efficiency, double step_seconds) {
  row.efficiency = efficiency;
  row.step_seconds = step_seconds;
  return row;
}

constexpr GemmRow with_needs(GemmRow row, unsigned needs) {
  row.needs = needs;
  return row;
}

// measured(row, share of FFMA peak from 4096^3 on, seconds of a k step of a lone block) on an H200,
// bench/results/. Host rows: share of what the cores can do, 2048^3 on two AVX-512 cores.
constexpr GemmRow kRows[] = {
    measured(tile_row<Tile128x128>("warptiled_128x128",
                                   cuda_launcher<cuda::launch_gemm_warptiled_128x128>()),
             0.68, 0.86e-6),
    measured(
        tile_row<Tile64x64>("warptiled_64x64", cuda_launcher<cuda::launch_gemm_warptiled_64x64>()),
        0.56, 0.65e-6),
    measured(with_needs(tile_row<Tile64x64>("splitk_64x64",
                                            cuda_launcher<cuda::launch_gemm_splitk_64x64>()),
                        kNeedsWorkspace),
             0.56, 0.65e-6),
    measured(tile_row<TileShared>("tiled", cuda_launcher<cuda::launch_gemm_tiled>()), 0.125,
             1.8e-6),
    measured(tile_row<TileNaive>("naive", cuda_launcher<cuda::launch_gemm_naive>()), 0.04, 0.2e-6),
    {.name = "host_cblas", .needs = kNeedsCblas, .efficiency = 0.90, .launch = host::gemm_cblas},
    {.name = "host_blocked", .efficiency = 0.85, .launch = host::gemm_blocked},
    {.name = "host_naive", .efficiency = 0.02, .launch = host::gemm_naive},
};

}  // namespace

std::span<const GemmRow> rows_for(const GemmProblem&) { return kRows; }

}  // namespace mygemm
