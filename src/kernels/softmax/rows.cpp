// The table of softmax kernels, named by where a matrix row lives while it is worked on.
#include <climits>

#include "kernels/rows.h"
#include "kernels/softmax/storage.h"

namespace mygemm {
namespace {

constexpr int kStorage = static_cast<int>(sizeof(SoftmaxStorage));

// name, cc, (warps per row, most columns, reads of the input), threads, shared, blocks per SM,
// needs, share of copy bandwidth, seconds of a lone row, launcher. Measured on an H200 at 2^28
// elements, fp32 (bench/results/). Threads of `block` are softmax_block_threads; here the most.
constexpr SoftmaxRow kRows[] = {
    {"warp", 75, INT_MAX, 1, 512, 1, 128, 0, 8, kNeedsNothing, 0.85, 0.8e-6,
     cuda_launcher<cuda::launch_softmax_warp>()},
    {"block", 75, INT_MAX, 0, 0, 1, 1024, kStorage, 12, kNeedsRowInShared, 0.83, 1.0e-6,
     cuda_launcher<cuda::launch_softmax_block>()},
    {"reread", 75, INT_MAX, 32, 0, 2, 1024, kStorage, 1, kNeedsNothing, 0.80, 4.4e-6,
     cuda_launcher<cuda::launch_softmax_reread>()},
    {"naive", 75, INT_MAX, 1, 0, 3, 128, 0, 10, kNeedsNothing, 0.70, 1.0e-6,
     cuda_launcher<cuda::launch_softmax_naive>()},
    {"host_vectorised", 0, 0, 0, 0, 1, 0, 0, 0, kNeedsNothing, 0.80, 0,
     host::softmax_vectorised},
    {"host_naive", 0, 0, 0, 0, 3, 0, 0, 0, kNeedsNothing, 0.10, 0, host::softmax_naive},
};

}  // namespace

std::span<const SoftmaxRow> rows_for(const SoftmaxProblem&) { return kRows; }

}  // namespace mygemm
