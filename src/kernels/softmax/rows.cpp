// The table of softmax kernels, named by where a matrix row lives while it is worked on.
#include <climits>

#include "kernels/rows.h"
#include "kernels/softmax/storage.h"

namespace mygemm {
namespace {

constexpr int kStorage = static_cast<int>(sizeof(SoftmaxStorage));

// efficiency and step_seconds: measured on an H200, 2^28 fp32 elements and single rows
// (bench/results/); host rows on two cores.
constexpr SoftmaxRow kRows[] = {
    {.name = "warp",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 128,
     .blocks_per_sm = 8,
     .warps_per_row = 1,
     .most_cols = 512,
     .reads = 1,
     .efficiency = 0.85,
     .element_flops = 150,
     .step_seconds = 0.8e-6,
     .launch = cuda_launcher<cuda::launch_softmax_warp>()},
    {.name = "block",  // its launcher takes softmax_block_threads()
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 1024,
     .shared_bytes = kStorage,
     .blocks_per_sm = 12,
     .needs = kNeedsRowInShared,
     .reads = 1,
     .efficiency = 0.83,
     .element_flops = 150,
     .step_seconds = 1.0e-6,
     .launch = cuda_launcher<cuda::launch_softmax_block>()},
    {.name = "reread",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 1024,
     .shared_bytes = kStorage,
     .blocks_per_sm = 1,
     .warps_per_row = 32,
     .reads = 2,
     .efficiency = 0.80,
     .element_flops = 150,
     .step_seconds = 4.4e-6,
     .launch = cuda_launcher<cuda::launch_softmax_reread>()},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .threads = 128,
     .blocks_per_sm = 10,
     .warps_per_row = 1,
     .reads = 3,
     .efficiency = 0.70,
     .element_flops = 210,
     .step_seconds = 1.0e-6,
     .launch = cuda_launcher<cuda::launch_softmax_naive>()},
    {.name = "host_vectorised", .reads = 1, .efficiency = 0.45, .launch = host::softmax_vectorised},
    {.name = "host_naive", .reads = 3, .efficiency = 0.04, .launch = host::softmax_naive},
};

}  // namespace

std::span<const SoftmaxRow> rows_for(const SoftmaxProblem&) { return kRows; }

}  // namespace mygemm
