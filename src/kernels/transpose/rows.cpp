// The table of transpose kernels.
#include <climits>

#include "kernels/rows.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {
namespace {

constexpr int kSide = TransposeTile<4>::kSide;
constexpr int kShared = static_cast<int>(sizeof(TransposeStorage<16>));

// name, cc, tile (rows, columns, -), threads, shared (the largest of all element sizes), blocks
// per SM, needs, share of copy bandwidth at 8192 x 8192 fp32 and seconds of a lone tile on an H200,
// launcher.
constexpr TransposeRow kRows[] = {
    {"tiled", 75, INT_MAX, kSide, kSide, 0, kTransposeThreads, kShared, 8, kNeedsOutOfPlace, 0.80, 1.5e-6,
     cuda_launcher<cuda::launch_transpose_tiled>()},
    {"square_in_place", 75, INT_MAX, kSide, kSide, 0, kTransposeThreads, 2 * kShared, 5,
     kNeedsInPlace | kNeedsSquare, 0.70, 3e-6,
     cuda_launcher<cuda::launch_transpose_square_in_place>()},
    {"through_workspace", 75, INT_MAX, kSide, kSide, 0, kTransposeThreads, kShared, 8,
     kNeedsInPlace | kNeedsWorkspace, 0.22, 2e-6,
     cuda_launcher<cuda::launch_transpose_through_workspace>()},
    {"naive", 75, INT_MAX, 0, 0, 0, 256, 0, 8, kNeedsNothing, 0.50, 0,
     cuda_launcher<cuda::launch_transpose_naive>()},
    {"host_blocked", 0, 0, 0, 0, 0, 0, 0, 0, kNeedsOutOfPlace, 0.80, 0,
     host::transpose_blocked},
    {"host_through_workspace", 0, 0, 0, 0, 0, 0, 0, 0, kNeedsInPlace | kNeedsWorkspace, 0.40, 0,
     host::transpose_through_workspace},
    {"host_naive", 0, 0, 0, 0, 0, 0, 0, 0, kNeedsNothing, 0.05, 0, host::transpose_naive},
};

}  // namespace

std::span<const TransposeRow> rows_for(const TransposeProblem&) { return kRows; }

}  // namespace mygemm
