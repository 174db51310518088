// Masked softmax of short rows: the registers of a warp hold a row, which is read once, as far as
// it is not masked by the columns' numbers.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked_packed.cuh"
#include "kernels/softmax/masked_teams.cuh"

namespace mygemm {
namespace {

template <class Format, int kPacks, bool kBackward, bool kExtras>
__global__ void __launch_bounds__(kMaskedWarpThreads)
    masked_warp(const SoftmaxProblem p, const SoftmaxMasking m, const MaskedDivisors divisors,
                const int log2_lanes) {
  const int rows = kMaskedWarpThreads >> log2_lanes;
  const int thread = static_cast<int>(threadIdx.x);
  const MaskedPlace place{thread & ((1 << log2_lanes) - 1), 1 << log2_lanes};
  WarpTeam team{log2_lanes};
  // All lanes of a warp stay for the shuffles; those past the last row read and write nothing.
  for (int64_t r0 = int64_t{blockIdx.x} * rows; r0 < p.rows; r0 += int64_t{gridDim.x} * rows) {
    const int64_t r = r0 + (thread >> log2_lanes);
    MaskedRow row(p, m, divisors, r < p.rows ? r : 0);
    if (r >= p.rows) row.valid = row.cols = 0;
    if constexpr (kBackward) {
      masked_backward<Format, kPacks>(p, m, row, place, team);
    } else if constexpr (!kExtras && Format::kWidest == 2) {
      packed_forward<kPacks>(p, m, row, place, team);
    } else {
      masked_forward<Format, kPacks, kExtras>(p, m, row, place, team);
    }
  }
}

template <class Format, int kPacks>
Status launch_format(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  const auto run = [&](auto kernel) {
    return launch(context, kernel, config, p, *p.masking, MaskedDivisors(p),
                  config.masked.log2_lanes);
  };
  if (p.backward) return run(masked_warp<Format, kPacks, true, false>);
  constexpr bool kFits = Format::kWidest == 4 || kPacks <= kMaskedFewPacks;
  if (kFits && has_extras(*p.masking)) return run(masked_warp<Format, kPacks, false, kFits>);
  return run(masked_warp<Format, kPacks, false, false>);
}

}  // namespace

Status cuda::launch_softmax_masked_warp(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                        const LaunchContext& context) {
  const MaskedRows& rows = config.masked;
  if (!rows.in_packs) {
    const auto run = [&](auto kernel) {
      return launch(context, kernel, config, p, *p.masking, MaskedDivisors(p), rows.log2_lanes);
    };
    return rows.held == kMaskedFewElements
               ? run(masked_warp<MixedElements, kMaskedFewElements, true, false>)
               : run(masked_warp<MixedElements, kMaskedElements, true, false>);
  }
  return with_packs(rows.widths, [&](auto format) {
    using Format = decltype(format);
    switch (rows.held) {
      case 1: return launch_format<Format, 1>(p, config, context);
      case kMaskedFewPacks: return launch_format<Format, kMaskedFewPacks>(p, config, context);
    }
    if constexpr (Format::kWidest == 2) {
      if (rows.held == kMaskedManyPacks) {
        return launch(context, masked_warp<Format, kMaskedManyPacks, false, false>, config, p,
                      *p.masking, MaskedDivisors(p), rows.log2_lanes);
      }
    }
    return launch_format<Format, kMaskedPacks>(p, config, context);
  });
}

}  // namespace mygemm
