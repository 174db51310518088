// Cross entropy of narrow rows: a few lanes of a warp hold a row in registers. A block works on a
// bundle of rows in passes, each of as many rows as its lanes hold. What a loss takes besides the
// row's sums is done once for the rows of several passes, by a lane for each.
//
// Bundles of short rows without gaps are staged in shared memory: lanes that access a row each
// would write single elements to memory.
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/loss.cuh"
#include "kernels/launch.h"
#include "kernels/softmax/packs.cuh"
#include "kernels/softmax/runs.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// All that a row's loss is made of.
struct RowLoss {
  Target target;
  LossParts parts;
  float mean;  // the other logits' part of it, where there is label smoothing
};

// The sums of the row whose logits are at `from`, and its gradient to `to`, if there is one; both
// may be the same memory. Every lane of the warp must call, with the addresses of its first
// element; `at` says which packs are its.
template <class Format, int kPacks, int kLog2Lanes, class Place>
__device__ __forceinline__ RowLoss compute_row(const CrossEntropyProblem& p, const Scale& scale,
                                               const char* from, char* to, const Target& target,
                                               float weight, int lane, const Place& at) {
  constexpr Exp kExp = kLossExp<Format>;
  constexpr int kPack = Format::kPack, kLanes = 1 << kLog2Lanes;
  Packs<Format, kPacks> x;
  load(x, from, p.x.type, at, -INFINITY);
  float logit = 0.0f;  // the target's
  if (target.column >= 0) {
    with_type<Format>(p.x.type, [&](auto zero) {
      logit = to_float(reinterpret_cast<const decltype(zero)*>(from)[target.column - lane * kPack]);
    });
  }
  __syncwarp();  // the logit is read before its lane writes the gradient there

  // The lane's element that the target is; -1: another lane's, or none.
  const auto column = static_cast<int>(target.column), pack = column / kPack;
  const int own_element =
      column >= 0 && pack % kLanes == lane ? pack / kLanes * kPack + column % kPack : -1;
  float mean = 0.0f;
  if (p.label_smoothing > 0.0f) {
    const float share = share_of_mean(p);
    change_all(x, MYGEMM_R_32F, [&](float v, int k, int i) {
      if (k * kPack + i != own_element && at.whole(k)) mean = fmaf(v, share, mean);
      return v;
    });
    mean = warp_reduce<Sum>(mean, kLog2Lanes);
  }
  const float maximum = warp_reduce<Max>(largest(p.softmax(), x), kLog2Lanes);
  const Reference whole(scale, maximum);
  Reference reference = whole;
  subtract_once(x, reference);
  float sum[2] = {};  // of the others, in an order that does not depend on kPacks
  change_all(x, MYGEMM_R_32F, [&](float v, int k, int i) {
    const float e = exponential_of<kExp>(scale, v, reference);
    const int element = k * kPack + i;
    sum[element % 2] += element == own_element ? 0.0f : e;
    return e;
  });
  const float others = warp_reduce<Sum>(sum[0] + sum[1], kLog2Lanes);
  const float own =
      target.column < 0 ? 0.0f : exponential_of<kExp>(scale, logit - whole.shift, reference);
  const RowLoss row{target, {whole.shift, whole.power, others, own, logit}, mean};
  if (!p.has_gradient()) return row;

  const RowGradient gradient = gradient_of_row<kExp>(p, target, row.parts, weight);
  change_all(x, MYGEMM_R_32F, [&](float e, int, int) {
    const float rest =
        Format::kAccurate ? fmaf(e, gradient.low, gradient.constant) : gradient.constant;
    return fmaf(e, gradient.high, rest);
  });
  if (__any_sync(0xffffffffu, gradient.ignored)) [[unlikely]] {
    change_all(x, MYGEMM_R_32F, [&](float v, int, int) { return gradient.ignored ? 0.0f : v; });
  }
  store(x, to, p.dx.type, at);
  if (own_element >= 0 && at.inside) {
    with_type<Format>(p.dx.type, [&](auto zero) {
      using T = decltype(zero);
      reinterpret_cast<T*>(to)[column - lane * kPack] = from_float<T>(gradient.target);
    });
  }
  return row;
}

template <class Format, NarrowRows kLayout, int kLog2Lanes, int kElements>
__global__ void __launch_bounds__(kNarrowLossThreads, narrow_loss_blocks(kElements))
    cross_entropy_narrow(const CrossEntropyProblem p, const NarrowLoss narrow) {
  constexpr bool kStaged = kLayout == NarrowRows::kStaged;
  constexpr int kLog2Groups = 5 - kLog2Lanes, kPack = Format::kPack;
  constexpr int kUnit = narrow_loss_unit(kLayout, Format::kWidths, kLog2Lanes, kElements);
  constexpr int kSure = (kElements - kUnit) / kPack;
  constexpr int kNone = -1, kIgnored = -2;       // rows without a class
  auto* const classes = &shared_storage<int>();  // of the bundle's rows
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % (1 << kLog2Lanes), group = thread % 32 >> kLog2Lanes;
  const int cols = static_cast<int>(p.cols);
  const Scale scale = logit_scale(p);
  for (int64_t first = int64_t{blockIdx.x} * narrow.rows(); first < p.rows;
       first += int64_t{gridDim.x} * narrow.rows()) {
    const int64_t left = p.rows - first;
    const int rows = left < narrow.rows() ? static_cast<int>(left) : narrow.rows();
    const auto run_of = [&](const TypedMatrix& matrix) {
      return Run(address_of<Format>(matrix, first),
                 reinterpret_cast<char*>(classes + narrow.rows()),
                 rows * cols * bytes_of<Format>(matrix.type));
    };
    const Run in = run_of(p.x);
    if constexpr (kStaged) in.load(bytes_of<Format>(p.x.type), thread, kNarrowLossThreads);
    for (int r = thread; r < rows; r += kNarrowLossThreads) {
      const Target target(p, p.target(first + r));
      classes[r] = target.ignored ? kIgnored : static_cast<int>(target.column);
    }
    if constexpr (kStaged) ptx::cp_async_wait_all();
    __syncthreads();  // the classes, and the logits if they are staged, are there

    for (int set = thread / 32; set < narrow.sets; set += kNarrowLossThreads / 32) {
      const int begin = set << (kLog2Groups + narrow.log2_passes);
      RowLoss kept{{-1, true}, {}, 0.0f};
#pragma unroll 1
      for (int pass = 0; pass < 1 << narrow.log2_passes; ++pass) {
        const int r = begin + (pass << kLog2Groups) + group;
        const bool inside = r < rows;
        const int64_t row = first + (inside ? r : 0);
        const int given = inside ? classes[r] : kNone;
        const auto first_of = [&](const TypedMatrix& matrix) {
          if constexpr (kStaged) {
            const int element = (inside ? r : 0) * cols + lane;
            return in.shared + element * bytes_of<Format>(matrix.type);
          } else {
            return address_of<Format>(matrix, row, lane * kPack);
          }
        };
        const WholePlace<kSure> at{0, 1 << kLog2Lanes, cols / kPack - lane, inside};
        const RowLoss now = compute_row<Format, kElements / kPack, kLog2Lanes>(
            p, scale, first_of(p.x), first_of(p.dx),
            Target(given < 0 ? -1 : given, given == kIgnored),
            p.has_gradient() ? p.weight(row) : 0.0f, lane, at);
        if (lane == pass) kept = now;
      }
      const int r = begin + (lane << kLog2Groups) + group;
      if (lane < 1 << narrow.log2_passes && r < rows) {
        store_loss(p, first + r, kept.target, kept.parts, kept.mean);
      }
    }
    if (kStaged && p.has_gradient()) {
      __syncthreads();  // the gradients of all rows are there
      run_of(p.dx).store(bytes_of<Format>(p.dx.type), thread, kNarrowLossThreads);
    }
    if (int64_t{gridDim.x} * narrow.rows() < p.rows) __syncthreads();  // before the next bundle
  }
}

// The instantiation of the Config's elements, from the most down.
template <class Format, NarrowRows kLayout, int kLog2Lanes, int kElements>
Status launch_elements(const CrossEntropyProblem& p, const CrossEntropyConfig& config,
                       const LaunchContext& context) {
  constexpr int kUnit = narrow_loss_unit(kLayout, Format::kWidths, kLog2Lanes, kElements);
  constexpr int kFewest = fewest_narrow_loss_elements(kLayout, Format::kWidths, kLog2Lanes);
  constexpr int kFewer = kElements - kUnit;
  if constexpr (kFewer >= kFewest) {
    if (config.narrow.elements <= kFewer) {
      return launch_elements<Format, kLayout, kLog2Lanes, kFewer>(p, config, context);
    }
  }
  return launch(context, cross_entropy_narrow<Format, kLayout, kLog2Lanes, kElements>, config, p,
                config.narrow);
}

// The instantiation of the Config's lanes, from 2^kLog2Lanes to 2^kMost.
template <class Format, NarrowRows kLayout, int kLog2Lanes, int kMost>
Status launch_lanes(const CrossEntropyProblem& p, const CrossEntropyConfig& config,
                    const LaunchContext& context) {
  if constexpr (kLog2Lanes < kMost) {
    if (config.narrow.log2_lanes > kLog2Lanes) {
      return launch_lanes<Format, kLayout, kLog2Lanes + 1, kMost>(p, config, context);
    }
  }
  constexpr int kElements = most_narrow_loss_elements(kLog2Lanes);
  return launch_elements<Format, kLayout, kLog2Lanes, kElements>(p, config, context);
}

// The instantiation of the Config's layout, for elements of one width.
template <class Elements, class Packs>
Status launch_layout(const CrossEntropyProblem& p, const CrossEntropyConfig& config,
                     const LaunchContext& context) {
  constexpr int kMostStaged = kMostStagedLog2Lanes;
  switch (config.narrow.layout) {
    case NarrowRows::kStaged:
      return launch_lanes<Elements, NarrowRows::kStaged, 0, kMostStaged>(p, config, context);
    case NarrowRows::kPacks:
      return launch_lanes<Packs, NarrowRows::kPacks, 1, 5>(p, config, context);
    case NarrowRows::kElements: break;
  }
  return launch_lanes<Elements, NarrowRows::kElements, 0, 5>(p, config, context);
}

}  // namespace

Status cuda::launch_cross_entropy_narrow(const CrossEntropyProblem& p,
                                         const CrossEntropyConfig& config,
                                         const LaunchContext& context) {
  using Packs16Of4 = Format<2, 2, kNarrowLossPack>;
  switch (config.shape.widths) {
    case Widths::kFp32: return launch_layout<Fp32Elements, Fp32Packs>(p, config, context);
    case Widths::k16Bit: return launch_layout<Elements16, Packs16Of4>(p, config, context);
    case Widths::kMixed: break;
  }
  return launch_lanes<MixedElements, NarrowRows::kElements, 0, 5>(p, config, context);
}

}  // namespace mygemm
