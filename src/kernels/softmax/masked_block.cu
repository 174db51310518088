// Masked softmax of rows of medium length: the registers of a block hold a row, which is read once,
// as far as it is not masked by the columns' numbers.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked_packed.cuh"
#include "kernels/softmax/masked_teams.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// Blocks per multiprocessor for which the compiler limits the registers.
template <class Format, int kPacks, bool kBackward, bool kExtras, int kMostThreads>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__)
  constexpr bool kFew = kPacks <= kMaskedFewPacks, kLight = !kBackward && !kExtras;
  constexpr bool kAnyWidths = Format::kWidths == Widths::kMixed || Format::kPack == 1;
  // Where masks are added, these blocks fit without spills on sm_90 only. With two blocks of 512
  // threads in place of one, 8192 columns of BF16 with a BF16 mask took 0.64 of the time (H200).
  constexpr bool kSm90 = __CUDA_ARCH__ == 900, kOf16Bits = Format::kWidest == 2;
  constexpr int kOfExtras = !kSm90 ? 2 : kOf16Bits ? 4 : kFew || !kAnyWidths ? 3 : 2;
  constexpr int kOfGradients = kFew ? 4 : kAnyWidths ? 2 : 3;
  constexpr int kOfFewThreads = kLight ? 5 : kExtras ? kOfExtras : kOfGradients;
  constexpr int kOfManyThreads = kLight || (kExtras && kSm90 && kOf16Bits) ? 2 : 1;
  constexpr int kBlocks = kMostThreads == kMaskedFewThreads ? kOfFewThreads : kOfManyThreads;
  return residency(sm_resources(__CUDA_ARCH__ / 10), kMostThreads,
                   static_cast<int>(sizeof(BlockStorage)), kBlocks);
#else
  return 1;
#endif
}

template <class Format, int kPacks, bool kBackward, bool kExtras, int kMostThreads>
__global__ void __launch_bounds__(
    kMostThreads, (blocks_per_sm<Format, kPacks, kBackward, kExtras, kMostThreads>()))
    masked_block(const SoftmaxProblem p, const SoftmaxMasking m, const MaskedDivisors divisors) {
  BlockTeam team{shared_storage<BlockStorage>()};
  const MaskedPlace place{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const MaskedRow row(p, m, divisors, r);
    if constexpr (kBackward) {
      masked_backward<Format, kPacks>(p, m, row, place, team);
    } else if constexpr (!kExtras && Format::kWidest == 2) {
      packed_forward<kPacks>(p, m, row, place, team);
    } else {
      masked_forward<Format, kPacks, kExtras>(p, m, row, place, team);
    }
    if (gridDim.x < p.rows) __syncthreads();  // the parts are read before the next row's come
  }
}

template <class Format, int kPacks, bool kBackward, bool kExtras>
Status launch_threads(const SoftmaxProblem& p, const SoftmaxConfig& config,
                      const LaunchContext& context) {
  const auto run = [&](auto kernel) {
    return launch(context, kernel, config, p, *p.masking, MaskedDivisors(p));
  };
  if (config.threads <= kMaskedFewThreads) {
    return run(masked_block<Format, kPacks, kBackward, kExtras, kMaskedFewThreads>);
  }
  return run(masked_block<Format, kPacks, kBackward, kExtras, kMaskedBlockThreads>);
}

template <class Format, int kPacks>
Status launch_format(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  if (p.backward) return launch_threads<Format, kPacks, true, false>(p, config, context);
  constexpr bool kFits = Format::kWidest == 4 || kPacks <= kMaskedFewPacks;
  if (kFits && has_extras(*p.masking)) {
    return launch_threads<Format, kPacks, false, kFits>(p, config, context);
  }
  return launch_threads<Format, kPacks, false, false>(p, config, context);
}

}  // namespace

Status cuda::launch_softmax_masked_block(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                         const LaunchContext& context) {
  const MaskedRows& rows = config.masked;
  if (!rows.in_packs) {
    return launch_threads<MixedElements, kMaskedElements, true, false>(p, config, context);
  }
  return with_packs(rows.widths, [&](auto format) {
    using Format = decltype(format);
    return rows.held == kMaskedFewPacks ? launch_format<Format, kMaskedFewPacks>(p, config, context)
                                        : launch_format<Format, kMaskedPacks>(p, config, context);
  });
}

}  // namespace mygemm
