// The table of transpose kernels, and their Configs as text.
#include <climits>
#include <iterator>

#include "host/transpose.h"
#include "kernels/config_text.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {
namespace {

// Fractions of the copy bandwidth, measured on an H200 with 256 MB to 2 GB. Lines: elements of 1,
// 2, 4, 8, 16 bytes. Columns (RowCut): the sides whose rows do not begin at sectors: none, the
// input, the output, both.
constexpr double kVector[][kRowCuts] = {{0.964, 0.92, 0.90, 0.87},
                                        {0.974, 0.92, 0.90, 0.87},
                                        {0.971, 0.92, 0.91, 0.889},
                                        {0.985, 0.92, 0.91, 0.89},
                                        {0.970, 0.92, 0.925, 0.905}};
constexpr double kTma[][kRowCuts] = {{0.954, 0.92, 0.90, 0.87},
                                     {0.971, 0.92, 0.90, 0.87},
                                     {0.967, 0.92, 0.90, 0.881},
                                     {0.939, 0.92, 0.90, 0.89},
                                     {0.93, 0.915, 0.915, 0.91}};
// Rows of the input that begin in the middle of a sector: 16 bytes from it.
constexpr double kShifted[][kRowCuts] = {{0.949, 0.868, 0.946, 0.778},
                                         {0.960, 0.919, 0.965, 0.769},
                                         {0.957, 0.926, 0.953, 0.919},
                                         {0.933, 0.902, 0.929, 0.810},
                                         {0.882, 0.815, 0.882, 0.695}};
// Elements of 16 bytes are not taken.
constexpr double kGathered[][kRowCuts] = {{0.79, 0.90, 0.83, 0.855},
                                          {0.93, 0.937, 0.935, 0.92},
                                          {0.945, 0.94, 0.935, 0.93},
                                          {0.955, 0.946, 0.95, 0.943},
                                          {1, 1, 1, 1}};
constexpr double kGatheredRuns[][kRowCuts] = {{0.78, 0.78, 0.78, 0.78},
                                              {0.91, 0.91, 0.91, 0.91},
                                              {0.955, 0.95, 0.955, 0.95},
                                              {0.945, 0.94, 0.945, 0.94},
                                              {1, 1, 1, 1}};
constexpr double kGatheredInPlace[][kRowCuts] = {{0.61, 0.61, 0.61, 0.61},
                                                 {0.75, 0.75, 0.75, 0.75},
                                                 {0.83, 0.80, 0.80, 0.80},
                                                 {0.83, 0.80, 0.80, 0.80},
                                                 {1, 1, 1, 1}};
constexpr double kTiled[][kRowCuts] = {{0.286, 0.285, 0.286, 0.285},
                                       {0.531, 0.529, 0.530, 0.528},
                                       {0.867, 0.814, 0.776, 0.730},
                                       {0.940, 0.920, 0.905, 0.893},
                                       {0.935, 0.935, 0.905, 0.915}};
// With 3 to 63 rows or columns.
constexpr double kNarrow[][kRowCuts] = {{0.70, 0.60, 0.40, 0.40},
                                        {0.85, 0.90, 0.55, 0.55},
                                        {0.96, 0.90, 0.90, 0.84},
                                        {0.97, 0.95, 0.88, 0.88},
                                        {0.97, 0.97, 0.97, 0.97}};
constexpr double kVectorInPlace[][kRowCuts] = {{0.94, 0.90, 0.90, 0.85},
                                               {0.90, 0.88, 0.88, 0.85},
                                               {0.935, 0.90, 0.90, 0.85},
                                               {0.941, 0.90, 0.90, 0.85},
                                               {0.887, 0.87, 0.87, 0.85}};
constexpr double kSquareInPlace[][kRowCuts] = {{0.25, 0.25, 0.25, 0.24},
                                               {0.54, 0.50, 0.50, 0.45},
                                               {0.79, 0.70, 0.70, 0.60},
                                               {0.943, 0.70, 0.70, 0.70},
                                               {0.876, 0.87, 0.87, 0.85}};

// Measured there too (bench/results/); kernels of the host on two cores.
constexpr TransposeKernel kKernels[] = {
    {.name = "vector",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_vector,
     .launch = cuda_launcher<cuda::launch_transpose_vector>(),
     .figures = {.shares = kVector, .block_seconds = 0.9e-6}},
    {.name = "tma",
     .min_cc = 90,
     .max_cc = INT_MAX,
     .configure = configure_transpose_tma,
     .launch = cuda_launcher<cuda::launch_transpose_tma>(),
     .figures = {.shares = kTma, .block_seconds = 1.2e-6}},
    {.name = "shifted",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_shifted,
     .launch = cuda_launcher<cuda::launch_transpose_shifted>(),
     .figures = {.shares = kShifted, .block_seconds = 1.3e-6}},
    {.name = "gathered",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_gathered,
     .launch = cuda_launcher<cuda::launch_transpose_gathered>(),
     .figures = {.shares = kGathered, .block_seconds = 0.9e-6}},
    {.name = "gathered_runs",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_gathered_runs,
     .launch = cuda_launcher<cuda::launch_transpose_gathered_runs>(),
     .figures = {.shares = kGatheredRuns, .block_seconds = 1.0e-6}},
    {.name = "narrow",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_narrow,
     .launch = cuda_launcher<cuda::launch_transpose_narrow>(),
     .figures = {.shares = kNarrow, .block_seconds = 0.5e-6}},
    {.name = "tiled",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_tiled,
     .launch = cuda_launcher<cuda::launch_transpose_tiled>(),
     .figures = {.shares = kTiled, .block_seconds = 1.2e-6}},
    {.name = "vector_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_vector_in_place,
     .launch = cuda_launcher<cuda::launch_transpose_vector_in_place>(),
     .figures = {.shares = kVectorInPlace, .block_seconds = 2e-6}},
    {.name = "gathered_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_gathered_in_place,
     .launch = cuda_launcher<cuda::launch_transpose_gathered_in_place>(),
     .figures = {.shares = kGatheredInPlace, .block_seconds = 2e-6}},
    {.name = "square_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_square_in_place,
     .launch = cuda_launcher<cuda::launch_transpose_square_in_place>(),
     .figures = {.shares = kSquareInPlace, .block_seconds = 3e-6}},
    {.name = "through_workspace",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_through_workspace,
     .launch = cuda_launcher<cuda::launch_transpose_through_workspace>(),
     .figures = {.efficiency = 0.45, .block_seconds = 2e-6}},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_transpose_naive,
     .launch = cuda_launcher<cuda::launch_transpose_naive>(),
     .figures = {.efficiency = 0.50, .block_seconds = 0.4e-6}},
    {.name = "host_blocked",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_transpose_blocked,
     .launch = host::launch_transpose_blocked,
     .figures = {.efficiency = 0.55}},
    {.name = "host_through_workspace",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_transpose_through_workspace,
     .launch = host::launch_transpose_through_workspace,
     .figures = {.efficiency = 0.35}},
    {.name = "host_naive",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_transpose_naive,
     .launch = host::launch_transpose_naive,
     .figures = {.efficiency = 0.05}},
};

const char* order_of(TileOrder order) {
  switch (order) {
    case TileOrder::kAlongInput: return "along the input";
    case TileOrder::kAlongOutput: return "along the output";
    case TileOrder::kTwoStreams: break;
  }
  return "along the output in two streams";
}

}  // namespace

static_assert(std::size(kKernels) <= kMostKernels);

std::span<const TransposeKernel> kernels_for(const TransposeProblem&) { return kKernels; }

std::string describe(const TransposeConfig& config) {
  if (config.threads == 0) return "no grid";
  std::string result = grid_text(config);
  if (config.patches.threads > 0) {
    const PatchGrid& grid = config.patches;
    result += text(", tile %d x %d elements", grid.step_r, grid.step_c);
    if (grid.tile.log2_matrices > 0) {
      result += text(" x %d matrices", 1 << grid.tile.log2_matrices);
    }
    result += text(", %s", order_of(grid.order));
  }
  if (config.tiled) {
    result += text(", %lld x %lld tiles a matrix", static_cast<long long>(config.tiles_r),
                   static_cast<long long>(config.tiles_c));
  }
  if (config.gathered.packs > 0) {
    const GatheredGrid& grid = config.gathered;
    result += text(", tile %d x %d elements, pitch %d bytes%s", grid.step_r, grid.step_c,
                   grid.pitch, grid.skewed ? ", skewed" : "");
    result += text(", %s", order_of(grid.order));
  }
  if (config.narrow.length > 0) {
    const bool output = config.narrow.side == NarrowGrid::Side::kOutputRuns;
    result += text(", runs of %d rows of the %s of %d matrices, %s", config.narrow.length,
                   output ? "output" : "input", config.narrow.matrices,
                   config.narrow.wide ? "vectorised" : "by elements");
  }
  if (config.streamed) result += ", streamed";
  if (config.shifted) result += ", shifted";
  if (config.workspace_bytes > 0) {
    result += text(", workspace %zu bytes", config.workspace_bytes);
    result += config.copy_blocks > 0
                  ? text(", copied by %lld blocks", static_cast<long long>(config.copy_blocks))
                  : ", copied at once";
  }
  return result;
}

// The figures by element size are those for matrices whose rows all begin at sectors.
std::string describe(const TransposeFigures& figures) {
  std::string result;
  if (figures.shares) {
    for (int log2_size = 0; log2_size < 5; ++log2_size) {
      result += text("efficiency_%d %g, ", 1 << log2_size, figures.shares[log2_size][kCutNone]);
    }
  } else {
    result = text("efficiency %g, ", figures.efficiency);
  }
  return result + text("block_us %g", figures.block_seconds * 1e6);
}

}  // namespace mygemm
