// The table of transpose kernels.
#include <climits>

#include "kernels/rows.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {
namespace {

// Of 1-, 2- and 4-byte elements; the plan asks transpose_tile_side() for the others.
constexpr int kSide = TransposeTile<4>::kSide;
constexpr int kShared = static_cast<int>(sizeof(TransposeStorage<16>));

// Shares of a copy, measured on an H200 with 256 MB to 2 GB; rows: elements of 1, 2, 4, 8, 16
// bytes; columns: whose rows do not begin with a sector: none, the input's, the output's, both.
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
constexpr double kShifted[][kRowCuts] = {{0.949, 0.868, 0.946, 0.778},
                                         {0.960, 0.919, 0.965, 0.769},
                                         {0.957, 0.926, 0.953, 0.919},
                                         {0.933, 0.902, 0.929, 0.810},
                                         {0.882, 0.815, 0.882, 0.695}};
constexpr double kTiled[][kRowCuts] = {{0.286, 0.285, 0.286, 0.285},
                                       {0.531, 0.529, 0.530, 0.528},
                                       {0.867, 0.814, 0.776, 0.730},
                                       {0.940, 0.920, 0.905, 0.893},
                                       {0.935, 0.935, 0.905, 0.915}};
// 3 to 63 rows or columns.
constexpr double kNarrow[][kRowCuts] = {{0.70, 0.60, 0.60, 0.60},
                                        {0.85, 0.70, 0.70, 0.70},
                                        {0.96, 0.90, 0.92, 0.92},
                                        {0.97, 0.95, 0.95, 0.95},
                                        {0.97, 0.97, 0.97, 0.97}};
constexpr double kVectorInPlace[][kRowCuts] = {{0.94, 0.90, 0.90, 0.85},
                                               {0.90, 0.88, 0.88, 0.85},
                                               {0.935, 0.90, 0.90, 0.85},
                                               {0.941, 0.90, 0.90, 0.85},
                                               {0.887, 0.87, 0.87, 0.85}};
constexpr double kSquareInPlace[][kRowCuts] = {{0.25, 0.25, 0.25, 0.24},
                                               {0.54, 0.50, 0.50, 0.45},
                                               {0.79, 0.70, 0.70, 0.60},
                                               {0.943, 0.90, 0.90, 0.85},
                                               {0.876, 0.87, 0.87, 0.85}};

// efficiency, where there are no shares, and step_seconds: measured there too (bench/results/);
// host rows on two cores.
constexpr TransposeRow kRows[] = {
    {.name = "vector",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 256,
     .blocks_per_sm = 8,
     .needs = kNeedsOutOfPlace | kNeedsPacks,
     .patches = vector_kernel,
     .shares = kVector,
     .step_seconds = 0.9e-6,
     .launch = cuda_launcher<cuda::launch_transpose_vector>()},
    {.name = "tma",
     .min_cc = 90,
     .max_cc = INT_MAX,
     .threads = 512,
     .blocks_per_sm = 8,
     .needs = kNeedsOutOfPlace | kNeedsPacks | kNeedsTensorMap,
     .patches = tma_kernel,
     .shares = kTma,
     .step_seconds = 1.2e-6,
     .launch = cuda_launcher<cuda::launch_transpose_tma>()},
    {.name = "shifted",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 256,
     .blocks_per_sm = 4,
     .needs = kNeedsOutOfPlace,
     .patches = shifted_kernel,
     .shares = kShifted,
     .step_seconds = 1.3e-6,
     .launch = cuda_launcher<cuda::launch_transpose_shifted>()},
    {.name = "narrow",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kNarrowThreads,
     .blocks_per_sm = 8,
     .needs = kNeedsOutOfPlace | kNeedsNarrow,
     .shares = kNarrow,
     .step_seconds = 0.5e-6,
     .launch = cuda_launcher<cuda::launch_transpose_narrow>()},
    {.name = "tiled",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = kShared,
     .blocks_per_sm = 8,
     .needs = kNeedsOutOfPlace,
     .block_m = kSide,
     .block_n = kSide,
     .shares = kTiled,
     .step_seconds = 1.2e-6,
     .launch = cuda_launcher<cuda::launch_transpose_tiled>()},
    {.name = "vector_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 512,
     .blocks_per_sm = 4,
     .needs = kNeedsInPlace | kNeedsSquare | kNeedsPacks,
     .patches = in_place_kernel,
     .shares = kVectorInPlace,
     .step_seconds = 2e-6,
     .launch = cuda_launcher<cuda::launch_transpose_vector_in_place>()},
    {.name = "square_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = 2 * kShared,
     .blocks_per_sm = 5,
     .needs = kNeedsInPlace | kNeedsSquare,
     .block_m = kSide,
     .block_n = kSide,
     .shares = kSquareInPlace,
     .step_seconds = 3e-6,
     .launch = cuda_launcher<cuda::launch_transpose_square_in_place>()},
    {.name = "through_workspace",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = kShared,
     .blocks_per_sm = 8,
     .needs = kNeedsInPlace | kNeedsWorkspace,
     .efficiency = 0.45,
     .step_seconds = 2e-6,
     .launch = cuda_launcher<cuda::launch_transpose_through_workspace>()},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .blocks_per_sm = 8,
     .efficiency = 0.50,
     .step_seconds = 0.4e-6,
     .launch = cuda_launcher<cuda::launch_transpose_naive>()},
    {.name = "host_blocked",
     .needs = kNeedsOutOfPlace,
     .efficiency = 0.55,
     .launch = host::transpose_blocked},
    {.name = "host_through_workspace",
     .needs = kNeedsInPlace | kNeedsWorkspace,
     .efficiency = 0.35,
     .launch = host::transpose_through_workspace},
    {.name = "host_naive", .efficiency = 0.05, .launch = host::transpose_naive},
};

}  // namespace

std::span<const TransposeRow> rows_for(const TransposeProblem&) { return kRows; }

}  // namespace mygemm
