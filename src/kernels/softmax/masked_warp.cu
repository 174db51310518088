// Masked softmax of short rows: the registers of a warp hold a row, which is read once, as far as it
// is not masked by the columns' numbers.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked.cuh"

namespace mygemm {
namespace {

struct WarpTeam {
  template <class Operation>
  __device__ __forceinline__ float reduce(float value) {
    return warp_reduce<Operation>(value);
  }
};

template <class Format, int kPacks, bool kBackward, bool kMask>
__global__ void __launch_bounds__(kMaskedWarpThreads)
    masked_warp(const SoftmaxProblem p, const SoftmaxMasking m) {
  constexpr int kRows = kMaskedWarpThreads / 32;
  const MaskedPlace place{static_cast<int>(threadIdx.x) % 32, 32};
  WarpTeam team;
  for (int64_t r = int64_t{blockIdx.x} * kRows + threadIdx.x / 32; r < p.rows;
       r += int64_t{gridDim.x} * kRows) {
    const MaskedRow row(p, m, r);
    if constexpr (kBackward) {
      masked_backward<Format, kPacks>(p, m, row, place, team);
    } else {
      masked_forward<Format, kPacks, kMask>(p, m, row, place, team);
    }
  }
}

template <class Format, int kPacks>
Status launch_format(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  const auto run = [&](auto kernel) { return launch(context, kernel, config, p, *p.masking); };
  if (p.backward) return run(masked_warp<Format, kPacks, true, false>);
  if (Format::kPack == 1 || p.masking->mask) return run(masked_warp<Format, kPacks, false, true>);
  return run(masked_warp<Format, kPacks, false, Format::kPack == 1>);
}

}  // namespace

Status cuda::launch_softmax_masked_warp(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                        const LaunchContext& context) {
  const MaskedRows& rows = config.masked;
  if (!rows.in_packs) return launch_format<MixedElements, kMaskedElements>(p, config, context);
  return with_packs(rows.widths, [&](auto format) {
    using Format = decltype(format);
    switch (rows.held) {
      case 1: return launch_format<Format, 1>(p, config, context);
      case 2: return launch_format<Format, 2>(p, config, context);
    }
    return launch_format<Format, kMaskedPacks>(p, config, context);
  });
}

}  // namespace mygemm
