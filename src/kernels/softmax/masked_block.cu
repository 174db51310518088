// Masked softmax of rows of medium length: the registers of a block hold a row, which is read once,
// as far as it is not masked by the columns' numbers.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// The two reductions of a row have memory of their own.
struct BlockTeam {
  BlockStorage& shared;

  template <class Operation>
  __device__ __forceinline__ float reduce(float value) {
    return block_reduce<Operation>(
        value, std::is_same_v<Operation, Max> ? shared.maximum : shared.sum);
  }
};

template <class Format, int kPacks, bool kBackward, bool kMask>
__global__ void __launch_bounds__(kMaskedBlockThreads, kPacks == kMaskedFewPacks && !kMask ? 2 : 1)
    masked_block(const SoftmaxProblem p, const SoftmaxMasking m) {
  BlockTeam team{shared_storage<BlockStorage>()};
  const MaskedPlace place{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const MaskedRow row(p, m, r);
    if constexpr (kBackward) {
      masked_backward<Format, kPacks>(p, m, row, place, team);
    } else {
      masked_forward<Format, kPacks, kMask>(p, m, row, place, team);
    }
    if (gridDim.x < p.rows) __syncthreads();  // the parts are read before the next row's come
  }
}

template <class Format, int kPacks>
Status launch_format(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  const auto run = [&](auto kernel) { return launch(context, kernel, config, p, *p.masking); };
  if (p.backward) return run(masked_block<Format, kPacks, true, false>);
  if (Format::kPack == 1 || p.masking->mask) return run(masked_block<Format, kPacks, false, true>);
  return run(masked_block<Format, kPacks, false, Format::kPack == 1>);
}

}  // namespace

Status cuda::launch_softmax_masked_block(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                         const LaunchContext& context) {
  const MaskedRows& rows = config.masked;
  if (!rows.in_packs) return launch_format<MixedElements, kMaskedElements>(p, config, context);
  return with_packs(rows.widths, [&](auto format) {
    using Format = decltype(format);
    return rows.held == kMaskedFewPacks ? launch_format<Format, kMaskedFewPacks>(p, config, context)
                                        : launch_format<Format, kMaskedPacks>(p, config, context);
  });
}

}  // namespace mygemm
