// Softmax of short rows: the registers of a warp, or of part of one, hold a row, which is read
// once. Each lane holds kPacks packs; the last one may be missing.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/packs.cuh"

namespace mygemm {
namespace {

constexpr int kAnyLanes = -1;

// The number of lanes that share a row: 2^kLog2Lanes, or known at run time only. In the second case
// each element and each shuffle takes an instruction or two more, which matters only where elements
// take few instructions.
template <int kLog2Lanes>
struct Lanes {
  int run_time_log2;
  __device__ int log2() const { return kLog2Lanes == kAnyLanes ? run_time_log2 : kLog2Lanes; }
};

template <class Format, int kPacks, class Place>
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, const Place& at,
                                            int log2_lanes) {
  const Scale scale(p, Format::kAccurate);
  Packs<Format, kPacks> x;
  load_x(p, x, address_of<Format>(p.in, r), at);
  softmax_of_lanes(p, scale, x, log2_lanes);
  store(x, address_of<Format>(p.out, r), p.out.type, at);
}

template <class Format, int kPacks, class Place>
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, const Place& at,
                                             int log2_lanes) {
  Packs<Format, kPacks> y, dy;
  load(y, address_of<Format>(p.in, r), p.in.type, at, 0.0f);
  load(dy, address_of<Format>(p.dy, r), p.dy.type, at, 0.0f);
  gradients(p, y, dy, warp_reduce<Sum>(gradient_sum(p, y, dy), log2_lanes));
  store(dy, address_of<Format>(p.out, r), p.out.type, at);
}

// Each group of lanes works on one row at a time. A warp that loads several rows in advance is
// slower (4 rows of 32 columns: 0.95 of a copy, one row 1.00; H200).
template <class Format, int kPacks, bool kBackward, int kLog2Lanes>
__global__ void __launch_bounds__(kWarpThreads)
    softmax_warp(const SoftmaxProblem p, const Lanes<kLog2Lanes> shape) {
  const int log2_lanes = shape.log2(), lanes = 1 << log2_lanes;
  const int rows_per_block = kWarpThreads >> log2_lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int packs = static_cast<int>(p.cols) / Format::kPack;
  // All lanes of a warp stay for the shuffles; those past the last row read and write nothing.
  for (int64_t r0 = int64_t{blockIdx.x} * rows_per_block; r0 < p.rows;
       r0 += int64_t{gridDim.x} * rows_per_block) {
    const int64_t r = r0 + (static_cast<int>(threadIdx.x) >> log2_lanes);
    const WholePlace<kPacks - 1> at{lane, lanes, packs, r < p.rows};
    if constexpr (kBackward) {
      backward_row<Format, kPacks>(p, r, at, log2_lanes);
    } else {
      forward_row<Format, kPacks>(p, r, at, log2_lanes);
    }
  }
}

// Whether an instantiation for each number of lanes, 2 to 32, pays. Measured forward, with the
// number known at run time and at compile time: 16-bit packs 0.96 and 1.00 of a copy, odd widths of
// fp32 0.84 and 0.92, three packs of fp32 (20 columns) 0.85 and 0.98.
template <class Format, int kPacks>
constexpr bool fixed_lanes_pay() {
  return (std::is_same_v<Format, Packs16> && kPacks >= 2) ||
         (std::is_same_v<Format, Fp32Packs> && kPacks == 3) ||
         (std::is_same_v<Format, Fp32Elements> && kPacks >= 5);
}

template <class Format, int kPacks, int kLog2Lanes>
Status launch_lanes(const SoftmaxProblem& p, const SoftmaxConfig& config,
                    const LaunchContext& context) {
  const int log2_lanes = config.lanes.log2_lanes;
  const auto run = [&](auto kernel, auto lanes) {
    return launch(context, kernel, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p, lanes);
  };
  if constexpr (kLog2Lanes != kAnyLanes) {
    if (p.backward || log2_lanes < kLog2Lanes) {
      constexpr int kNext = kLog2Lanes > 1 && kPacks <= 8 ? kLog2Lanes - 1 : kAnyLanes;
      return launch_lanes<Format, kPacks, kNext>(p, config, context);
    }
    return run(softmax_warp<Format, kPacks, false, kLog2Lanes>, Lanes<kLog2Lanes>{log2_lanes});
  } else {
    return run(p.backward ? softmax_warp<Format, kPacks, true, kAnyLanes>
                          : softmax_warp<Format, kPacks, false, kAnyLanes>,
               Lanes<kAnyLanes>{log2_lanes});
  }
}

template <class Format, int kPacks = 1>
Status launch_packs(const SoftmaxProblem& p, const SoftmaxConfig& config,
                    const LaunchContext& context) {
  if constexpr (kPacks < most_packs_of_lane(Format::kPack > 1, Format::kWidths)) {
    if (config.lanes.packs > kPacks) {
      return launch_packs<Format, kPacks + 1>(p, config, context);
    }
  }
  constexpr int kLog2Lanes = fixed_lanes_pay<Format, kPacks>() ? 5 : kAnyLanes;
  return launch_lanes<Format, kPacks, kLog2Lanes>(p, config, context);
}

}  // namespace

Status cuda::launch_softmax_warp(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                 const LaunchContext& context) {
  const auto with_format = [&](auto format) {
    return launch_packs<decltype(format)>(p, config, context);
  };
  return config.shape.layout == Layout::kPacks ? with_packs(config.shape.widths, with_format)
                                               : with_elements(config.shape.widths, with_format);
}

}  // namespace mygemm
