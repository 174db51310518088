// The table of transpose kernels.
#include <climits>

#include "kernels/rows.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {
namespace {

// Of 1-, 2- and 4-byte elements; the plan asks transpose_tile_side() for the others.
constexpr int kSide = TransposeTile<4>::kSide;
constexpr int kShared = static_cast<int>(sizeof(TransposeStorage<16>));

// efficiency and step_seconds: measured on an H200, 8192 x 8192 fp32 and single tiles
// (bench/results/); host rows on two cores. Shared memory: of the largest elements.
constexpr TransposeRow kRows[] = {
    {.name = "tiled",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = kShared,
     .blocks_per_sm = 8,
     .needs = kNeedsOutOfPlace,
     .block_m = kSide,
     .block_n = kSide,
     .efficiency = 0.80,
     .step_seconds = 1.5e-6,
     .launch = cuda_launcher<cuda::launch_transpose_tiled>()},
    {.name = "square_in_place",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = 2 * kShared,
     .blocks_per_sm = 5,
     .needs = kNeedsInPlace | kNeedsSquare,
     .block_m = kSide,
     .block_n = kSide,
     .efficiency = 0.70,
     .step_seconds = 3e-6,
     .launch = cuda_launcher<cuda::launch_transpose_square_in_place>()},
    {.name = "through_workspace",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .shared_bytes = kShared,
     .blocks_per_sm = 8,
     .needs = kNeedsInPlace | kNeedsWorkspace,
     .block_m = kSide,
     .block_n = kSide,
     .efficiency = 0.22,
     .step_seconds = 2e-6,
     .launch = cuda_launcher<cuda::launch_transpose_through_workspace>()},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = kTransposeThreads,
     .blocks_per_sm = 8,
     .efficiency = 0.50,
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
