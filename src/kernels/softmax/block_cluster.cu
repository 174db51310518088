// Softmax of few rows of medium length: the registers of a cluster of blocks hold a row, as those
// of one block would (block.cu): the same threads with the same elements, in order, on more
// multiprocessors.
#include "kernels/launch.h"
#include "kernels/softmax/block.cuh"
#include "kernels/softmax/exchange.cuh"
#include "kernels/softmax/kernels.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// The last blocks of a cluster may have warps that are none of the row's.
template <class Format, bool kRagged>
__global__ void __launch_bounds__(kBlockClusterThreads)
    softmax_block_cluster(const SoftmaxProblem p, const SoftmaxBlock row) {
  constexpr int kPacks = kBlockManyPacks;
  auto& shared = shared_storage<BlockClusterStorage>();
  begin_exchange(shared);
  const auto thread = static_cast<int>(ptx::cluster_rank() * blockDim.x + threadIdx.x);
  const int lane = thread % 32, warp = thread / 32, warps = row.threads / 32;
  const int64_t r = ptx::cluster_number();
  const int cols = static_cast<int>(p.cols);
  const bool inside = thread < row.threads;
  const auto merge = [&](const Scale& scale, const MaxSum& part) {
    const auto of_warp = warp_merge<typename Format::Total>(scale, part);
    exchange(shared, warps, warp, {of_warp.maximum, static_cast<float>(of_warp.sum)});
    return warp_merge<typename Format::Total>(
        scale, lane < warps ? shared.part[lane] : MaxSum{-INFINITY, 0.0f});
  };
  if constexpr (kRagged) {
    const int shift = shift_of<Format>(p.out, r);
    const RaggedPlace<Format::kPack> at{thread, row.threads, shift, inside ? shift + cols : 0};
    forward_row<Format, kPacks>(p, r, at, shift, merge);
  } else {
    const WholePlace<kPacks - 1> at{thread, row.threads, cols / Format::kPack, inside};
    forward_row<Format, kPacks>(p, r, at, 0, merge);
  }
}

}  // namespace

Status cuda::launch_softmax_block_cluster(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                          const LaunchContext& context) {
  return with_packs(config.shape.widths, [&](auto format) {
    using Format = decltype(format);
    return launch(context,
                  config.shape.layout == Layout::kPacks ? softmax_block_cluster<Format, false>
                                                        : softmax_block_cluster<Format, true>,
                  config, p, config.block);
  });
}

}  // namespace mygemm
