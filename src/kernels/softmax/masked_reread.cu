// Masked softmax of wide rows: a block reads a row twice, as far as it is not masked by the
// columns' numbers. Each thread has a sum of its own, against the largest element that it has seen.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// Packs or elements that a thread holds at a time.
template <class Format>
constexpr int kHeld = Format::kPack == 1   ? 8
                      : Format::kPack == 8 ? 1
                                           : 2;
template <class Format>
constexpr int kPartColumns = kMaskedRereadThreads* kHeld<Format>* Format::kPack;

template <class Format, bool kExtras>
__device__ void forward_row(const SoftmaxProblem& p, const SoftmaxMasking& m, const MaskedRow& row,
                            const MaskedPlace& place, BlockStorage& shared) {
  constexpr int kPacks = kHeld<Format>;
  float maximum = -INFINITY, sum = 0.0f;
  for (int64_t c = 0; c < row.valid; c += kPartColumns<Format>) {
    const MaskedRow part = row.part(m, c, kPartColumns<Format>);
    float t[kPacks][Format::kPack];
    const float larger = fmaxf(maximum, load_scores<Format, kExtras>(p, m, part, place, t));
    const float reference = masked_reference(larger);
    sum *= masked_exp<true>(fminf(masked_reference(maximum) - reference, 0.0f));
    sum += masked_exponentials<Format>(true, {place, part.valid}, reference, t);
    maximum = larger;
  }
  const float reference = masked_reference(block_reduce<Max>(maximum, shared.maximum));
  const float own = maximum > -INFINITY ? masked_exp<true>(maximum - reference) : 1.0f;
  const MaskedResult result(p, m, block_reduce<Sum>(sum * own, shared.sum));
  for (int64_t c = 0; c < row.cols; c += kPartColumns<Format>) {
    const MaskedRow part = row.part(m, c, kPartColumns<Format>);
    float t[kPacks][Format::kPack];
    load_scores<Format, kExtras>(p, m, part, place, t);
    masked_exponentials<Format>(p.log_mode(), {place, part.valid}, reference, t);
    store_results<Format>(p, part, place, result, reference, t);
  }
}

template <class Format>
__device__ void backward_row(const SoftmaxProblem& p, const SoftmaxMasking& m, const MaskedRow& row,
                             const MaskedPlace& place, BlockStorage& shared) {
  constexpr int kPacks = kHeld<Format>;
  MaskedGradient<Format, kPacks> gradient;
  float sum = 0.0f;
  for (int64_t c = 0; c < row.valid; c += kPartColumns<Format>) {
    const MaskedRow part = row.part(m, c, kPartColumns<Format>);
    const PartOfPlace<Format::kPack> at(place, part.valid);
    gradient.load_row(p, part, at);
    sum += gradient.sum(p, at);
  }
  sum = block_reduce<Sum>(sum, shared.sum);
  for (int64_t c = 0; c < row.cols; c += kPartColumns<Format>) {
    const MaskedRow part = row.part(m, c, kPartColumns<Format>);
    const PartOfPlace<Format::kPack> at(place, part.valid);
    gradient.load_row(p, part, at);
    gradient.finish(p, m, part, at, sum);
    store(gradient.dy, part.address<Format>(p.out), p.out.type,
          PartOfPlace<Format::kPack>(place, part.cols));
  }
}

template <class Format, bool kBackward, bool kExtras>
__global__ void __launch_bounds__(kMaskedRereadThreads, kExtras ? 1 : 2)
    masked_reread(const SoftmaxProblem p, const SoftmaxMasking m, const MaskedDivisors divisors) {
  auto& shared = shared_storage<BlockStorage>();
  const MaskedPlace place{static_cast<int>(threadIdx.x), kMaskedRereadThreads};
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const MaskedRow row(p, m, divisors, r);
    if constexpr (kBackward) {
      backward_row<Format>(p, m, row, place, shared);
    } else {
      forward_row<Format, kExtras>(p, m, row, place, shared);
    }
    if (gridDim.x < p.rows) __syncthreads();  // the parts are read before the next row's come
  }
}

}  // namespace

Status cuda::launch_softmax_masked_reread(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                          const LaunchContext& context) {
  const auto run = [&](auto format) {
    using Format = decltype(format);
    const auto with = [&](auto kernel) {
      return launch(context, kernel, config, p, *p.masking, MaskedDivisors(p));
    };
    if (p.backward) return with(masked_reread<Format, true, false>);
    if (Format::kPack == 1 || has_extras(*p.masking))
      return with(masked_reread<Format, false, true>);
    return with(masked_reread<Format, false, Format::kPack == 1>);
  };
  return config.masked.in_packs ? with_packs(config.masked.widths, run) : run(MixedElements{});
}

}  // namespace mygemm
