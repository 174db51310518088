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

// A TMA-fed row. sm_90 alone: later ones have other registers and an FFMA of two results.
template <class Tile>
constexpr GemmRow fed_row(const char* name, unsigned needs, double efficiency,
                          decltype(GemmRow::launch) launch) {
  return {.name = name,
          .min_cc = 90,
          .max_cc = 90,
          .threads = Tile::kThreads,
          .shared_bytes = Tile::kSharedBytes,
          .blocks_per_sm = Tile::kBlocksPerSm,
          .needs = kNeedsTensorMap | needs,
          .block_m = Tile::kBlockM,
          .block_n = Tile::kBlockN,
          .block_k = Tile::kBlockK,
          .efficiency = efficiency,
          .launch = launch};
}

// A row on tensor cores. sm_90 alone: later ones have other instructions.
template <class Tile>
constexpr GemmRow tensor_row(const char* name, unsigned needs, double efficiency,
                             double transposing, double misaligned,
                             decltype(GemmRow::launch) launch) {
  GemmRow row = fed_row<Tile>(name, kNeedsTensorCores | needs, efficiency, launch);
  row.least_k = Tile::kLeastK;
  row.transposing = transposing;
  row.misaligned = misaligned;
  return row;
}

// A thin product, whichever side is thin.
template <class Tile>
constexpr GemmRow thin_row(const char* name, double efficiency, decltype(GemmRow::launch) launch) {
  return {.name = name,
          .min_cc = 75,
          .max_cc = INT_MAX,
          .threads = Tile::kThreads,
          .shared_bytes = static_cast<int>(sizeof(typename Tile::SharedStorage)),
          .blocks_per_sm = Tile::kBlocksPerSm,
          .needs = kNeedsThin,
          .block_m = Tile::kTile,
          .block_n = Tile::kThin,
          .block_k = Tile::kChunk,
          .efficiency = efficiency,
          .launch = launch};
}

template <class Tile>
constexpr GemmRow small_row(const char* name, decltype(GemmRow::launch) launch) {
  GemmRow row = tile_row<Tile>(name, launch);
  row.tiles_per_block = Tile::kTilesPerBlock;
  return row;
}

template <class Tile>
constexpr GemmRow sliced_row(const char* name, double fill_steps,
                             decltype(GemmRow::launch) launch) {
  GemmRow row = tile_row<Tile>(name, launch);
  row.fill_steps = fill_steps;
  row.most_slices = Tile::kMostSlices;
  return row;
}

constexpr GemmRow measured(GemmRow row, double efficiency, double step_seconds,
                           double misaligned = 1.0) {
  row.efficiency = efficiency;
  row.step_seconds = step_seconds;
  row.misaligned = misaligned;
  return row;
}

constexpr GemmRow with_needs(GemmRow row, unsigned needs) {
  row.needs = needs;
  return row;
}

// measured(row, share of FFMA peak from 4096^3 on, seconds of a k step of a lone block, how many
// times as long that takes where operands are not aligned) on an H200, bench/results/. Host rows:
// share of what the cores can do, 2048^3 on two AVX-512 cores. Fed rows: share of FFMA peak of a k
// step; those on tensor cores: how many times as long it takes where B is transposed, and where
// operands have no tensor map. Cut tiles keep all multiprocessors busy, at 700 W and lower clocks:
// for as long, whole ones are as fast or faster (3072^3: 1.10 times, 8192^3: 1.01). Thin rows:
// share of the copy bandwidth. Sliced rows: how many steps beginning and ending take.
constexpr GemmRow kRows[] = {
    tensor_row<Tensor128x192>("tf32x3_128x192", kNeedsNothing, 2.08, 1.05, 1.45,
                              cuda_launcher<cuda::launch_gemm_tf32x3_128x192>()),
    tensor_row<Tensor128x192>("tf32x3_streamk_128x192", kNeedsPieces, 2.06, 1.05, 1.45,
                              cuda_launcher<cuda::launch_gemm_tf32x3_streamk_128x192>()),
    tensor_row<Tensor128x128>("tf32x3_128x128", kNeedsNothing, 1.90, 1.03, 1.32,
                              cuda_launcher<cuda::launch_gemm_tf32x3_128x128>()),
    tensor_row<Tensor128x128>("tf32x3_streamk_128x128", kNeedsPieces, 1.88, 1.03, 1.32,
                              cuda_launcher<cuda::launch_gemm_tf32x3_streamk_128x128>()),
    tensor_row<Tensor128x64>("tf32x3_128x64", kNeedsNothing, 1.50, 1.05, 1.52,
                             cuda_launcher<cuda::launch_gemm_tf32x3_128x64>()),
    fed_row<Fed256x128>("tma_256x128", kNeedsNothing, 0.84,
                        cuda_launcher<cuda::launch_gemm_tma_256x128>()),
    fed_row<Fed256x128>("streamk_256x128", kNeedsPieces, 0.84,
                        cuda_launcher<cuda::launch_gemm_streamk_256x128>()),
    fed_row<Fed128x128>("tma_128x128", kNeedsNothing, 0.765,
                        cuda_launcher<cuda::launch_gemm_tma_128x128>()),
    fed_row<Fed128x128>("streamk_128x128", kNeedsPieces, 0.765,
                        cuda_launcher<cuda::launch_gemm_streamk_128x128>()),
    fed_row<Fed128x64>("tma_128x64", kNeedsNothing, 0.765,
                       cuda_launcher<cuda::launch_gemm_tma_128x64>()),
    fed_row<Fed128x64>("streamk_128x64", kNeedsPieces, 0.765,
                       cuda_launcher<cuda::launch_gemm_streamk_128x64>()),
    fed_row<Fed64x32>("tma_64x32", kNeedsNothing, 0.71,
                      cuda_launcher<cuda::launch_gemm_tma_64x32>()),
    fed_row<Fed64x32>("streamk_64x32", kNeedsPieces, 0.66,
                      cuda_launcher<cuda::launch_gemm_streamk_64x32>()),
    fed_row<Fed32x32>("tma_32x32", kNeedsNothing, 0.61,
                      cuda_launcher<cuda::launch_gemm_tma_32x32>()),
    fed_row<Fed32x32>("streamk_32x32", kNeedsPieces, 0.61,
                      cuda_launcher<cuda::launch_gemm_streamk_32x32>()),
    thin_row<Thin1>("thin_1", 0.85, cuda_launcher<cuda::launch_gemm_thin_1>()),
    thin_row<Thin4>("thin_4", 0.85, cuda_launcher<cuda::launch_gemm_thin_4>()),
    thin_row<Thin16>("thin_16", 0.75, cuda_launcher<cuda::launch_gemm_thin_16>()),
    measured(tile_row<Tile128x128>("warptiled_128x128",
                                   cuda_launcher<cuda::launch_gemm_warptiled_128x128>()),
             0.68, 0.86e-6, 1.25),
    measured(tile_row<Tile128x64>("warptiled_128x64",
                                  cuda_launcher<cuda::launch_gemm_warptiled_128x64>()),
             0.575, 0.48e-6, 1.3),
    measured(
        tile_row<Tile64x64>("warptiled_64x64", cuda_launcher<cuda::launch_gemm_warptiled_64x64>()),
        0.56, 0.75e-6, 1.1),
    measured(small_row<Tile64x32>("small_64x32", cuda_launcher<cuda::launch_gemm_small_64x32>()),
             0.595, 1.03e-6, 1.8),
    measured(small_row<Tile32x32>("small_32x32", cuda_launcher<cuda::launch_gemm_small_32x32>()),
             0.585, 0.7e-6, 1.75),
    measured(small_row<Tile16x16>("small_16x16", cuda_launcher<cuda::launch_gemm_small_16x16>()),
             0.20, 0.55e-6),
    measured(sliced_row<Sliced64x64>("sliced_64x64", 1.1,
                                     cuda_launcher<cuda::launch_gemm_sliced_64x64>()),
             0.49, 1.45e-6),
    measured(sliced_row<Sliced32x32>("sliced_32x32", 0.75,
                                     cuda_launcher<cuda::launch_gemm_sliced_32x32>()),
             0.37, 1.17e-6),
    measured(sliced_row<Sliced32x16>("sliced_32x16", 0.8,
                                     cuda_launcher<cuda::launch_gemm_sliced_32x16>()),
             0.255, 1.05e-6),
    measured(with_needs(tile_row<Tile64x64>("splitk_64x64",
                                            cuda_launcher<cuda::launch_gemm_splitk_64x64>()),
                        kNeedsWorkspace),
             0.49, 0.75e-6),
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
