// The table of softmax kernels, named by where a matrix row lives while it is worked on.
#include <climits>

#include "kernels/rows.h"
#include "kernels/softmax/cluster.h"

namespace mygemm {
namespace {

// efficiency: share of the copy bandwidth, of what the kernel reads and writes, measured on an H200
// (bench/results/h200-softmax.json; 2^28 fp32 elements); host rows on two cores.
constexpr SoftmaxRow kRows[] = {
    {.name = "warp",  // 0.96 to 1.00 from 16 columns on
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 128,
     .needs = kNeedsWarpRow,
     .reads = 1,
     .efficiency = 0.98,
     .launch = cuda_launcher<cuda::launch_softmax_warp>()},
    {.name = "block",  // 0.97 to 1.00 up to 32768 columns of fp32
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 1024,
     .shared_bytes = 256,
     .needs = kNeedsBlockRow,
     .reads = 1,
     .efficiency = 0.97,
     .launch = cuda_launcher<cuda::launch_softmax_block>()},
    {.name = "cluster",  // 0.92 to 0.97 up to 524288 columns of fp32
     .min_cc = 90,
     .max_cc = INT_MAX,
     .threads = kClusterThreads,
     .shared_bytes = kClusterStorageBytes,
     .needs = kNeedsWideRow | kNeedsClusters,
     .reads = 1,
     .efficiency = 0.96,
     .launch = cuda_launcher<cuda::launch_softmax_cluster>()},
    {.name = "split",  // 0.5 of a copy, where a row is split over many blocks in vain
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 512,
     .shared_bytes = 8192,
     .needs = kNeedsWideRow | kNeedsWorkspace,
     .reads = 2,
     .efficiency = 0.55,
     .launch = cuda_launcher<cuda::launch_softmax_split>()},
    {.name = "reread",  // 0.65 of a copy, which is 0.97 of what it moves
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 512,
     .shared_bytes = 4096,
     .needs = kNeedsWideRow,
     .reads = 2,
     .efficiency = 0.96,
     .launch = cuda_launcher<cuda::launch_softmax_reread>()},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 128,
     .reads = 3,
     .efficiency = 0.30,
     .launch = cuda_launcher<cuda::launch_softmax_naive>()},
    {.name = "host_vectorised", .reads = 1, .efficiency = 0.45, .launch = host::softmax_vectorised},
    {.name = "host_naive", .reads = 3, .efficiency = 0.04, .launch = host::softmax_naive},
};

}  // namespace

std::span<const SoftmaxRow> rows_for(const SoftmaxProblem&) { return kRows; }

}  // namespace mygemm
