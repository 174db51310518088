// Softmax of short rows that begin anywhere: a block moves a bundle of rows (bundle.h) between
// global and shared memory by whole packs, and its lanes read and write single elements there.
// Device code and launcher; bundle*.cu instantiate them for the widths of elements.
#pragma once

#include "kernels/launch.h"
#include "kernels/softmax/bundle.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/packs.cuh"
#include "kernels/softmax/runs.cuh"
#include "ptx/shared.cuh"

namespace mygemm {

// Elements of which none is computed with less than an FP32 result's accuracy: lanes hold few of
// them, so that their sums have few roundings in FP32.
template <class Format>
struct BundleFormat : Format {
  static constexpr bool kThorough = Format::kAccurate;
};

// Blocks per multiprocessor for which the compiler limits the registers.
template <Widths kWidths, int kElements, bool kBackward>
__device__ __host__ constexpr int bundle_residency() {
#if defined(__CUDA_ARCH__)
  return residency(sm_resources(__CUDA_ARCH__ / 10), 1 << log2_bundle_threads(kElements), 0,
                   bundle_blocks(kWidths, kBackward, kElements));
#else
  return 1;
#endif
}

// Calls body with the problem, whose mode the compiler then knows: with a branch for each step of a
// row it copies every exponential to another register.
template <class Body>
__device__ __forceinline__ void with_mode(const SoftmaxProblem& p, Body body) {
  SoftmaxProblem known = p;
  if (p.log_mode()) {
    known.mode = MYGEMM_LOG_SOFTMAX;
    body(known);
  } else {
    known.mode = MYGEMM_SOFTMAX;
    body(known);
  }
}

// The number within the bundle of the row that this thread works on in a pass.
template <int kLog2Threads, int kLog2Lanes>
__device__ __forceinline__ int row_of_pass(int pass, int log2_stride) {
  constexpr int kLog2Rows = 5 - kLog2Lanes;  // of a warp
  const int thread = static_cast<int>(threadIdx.x);
  const int set = (pass << (kLog2Threads - 5)) + thread / 32, group = thread % 32 >> kLog2Lanes;
  return (set >> log2_stride << (log2_stride + kLog2Rows)) + (group << log2_stride) +
         (set & ((1 << log2_stride) - 1));
}

template <class Format, int kElements, int kLog2Lanes, bool kBackward>
__global__ void __launch_bounds__(1 << log2_bundle_threads(kElements),
                                  (bundle_residency<Format::kWidths, kElements, kBackward>()))
    softmax_bundle(const SoftmaxProblem p, const SoftmaxBundle bundle) {
  char* const runs = reinterpret_cast<char*>(&shared_storage<uint4>());
  constexpr int kLog2Threads = log2_bundle_threads(kElements), kThreads = 1 << kLog2Threads;
  constexpr int kLanes = 1 << kLog2Lanes,
                kUnit = bundle_unit(Format::kWidths, kLog2Lanes, kElements);
  constexpr int kSure = kUnit == 1 ? kElements : kElements - kUnit;
  const int cols = static_cast<int>(p.cols);
  const WholePlace<kSure> at{static_cast<int>(threadIdx.x) % kLanes, kLanes, cols, true};
  const Scale scale(p, Format::kAccurate);
  const float missing = missing_x(p);
  const bool adjusts = p.scale < 0.0f || factor_of_x(p) != 1.0f;
  for (int64_t first = int64_t{blockIdx.x} * bundle.rows; first < p.rows;
       first += int64_t{gridDim.x} * bundle.rows) {
    const int rows = p.rows - first < bundle.rows ? static_cast<int>(p.rows - first) : bundle.rows;
    const auto run_of = [&](const TypedMatrix& matrix, int place) {
      return Run(address_of<Format>(matrix, first), runs + place,
                 rows * cols * bytes_of<Format>(matrix.type));
    };
    const auto in = run_of(p.in, 0);
    const int thread = static_cast<int>(threadIdx.x);
    in.load(bytes_of<Format>(p.in.type), thread, kThreads);
    char* dy_rows = nullptr;
    if constexpr (kBackward) {
      const auto run = run_of(p.dy, bundle.dy_at);
      run.load(bytes_of<Format>(p.dy.type), thread, kThreads);
      dy_rows = run.shared;
    }
    const auto out = run_of(p.out, bundle.out_at);
    ptx::cp_async_wait_all();
    __syncthreads();  // the bundle is there
    with_mode(p, [&](const SoftmaxProblem& known) {
      const int first_row = row_of_pass<kLog2Threads, kLog2Lanes>(0, bundle.log2_stride);
#pragma unroll 1
      for (int pass = 0; pass << (kLog2Threads - kLog2Lanes) < bundle.rows; ++pass) {
        // The stride of few lanes divides the number of warps.
        const int r = kLog2Lanes <= 2
                          ? first_row + (pass << (kLog2Threads - kLog2Lanes))
                          : row_of_pass<kLog2Threads, kLog2Lanes>(pass, bundle.log2_stride);
        const auto row_of = [&](char* run, mygemmDataType_t type) {
          return run + r * cols * bytes_of<Format>(type);
        };
        // Threads without a row work on what the bundle's shared memory holds there: all lanes of a
        // warp stay for the shuffles.
        Packs<Format, kElements> x;
        if constexpr (kBackward) {
          Packs<Format, kElements> y;
          load(y, row_of(in.shared, p.in.type), p.in.type, at, 0.0f);
          load(x, row_of(dy_rows, p.dy.type), p.dy.type, at, 0.0f);
          gradients(known, y, x, warp_reduce<Sum>(gradient_sum(known, y, x), kLog2Lanes));
        } else {
          if constexpr (kElements > kBundleFewElements) {  // no registers to spare
            load_x(known, x, row_of(in.shared, p.in.type), at);
          } else {
            load(x, row_of(in.shared, p.in.type), p.in.type, at, missing);
            if (adjusts) [[unlikely]]
              adjust_x(known, x, at);
          }
          softmax_of_lanes(known, scale, x, kLog2Lanes);
        }
        if (r < rows) store(x, row_of(out.shared, p.out.type), p.out.type, at);
      }
    });
    __syncthreads();  // the results of all rows are there
    out.store(bytes_of<Format>(p.out.type), thread, kThreads);
    if (int64_t{gridDim.x} * bundle.rows < p.rows) __syncthreads();  // and stored
  }
}

// The instantiation of the Config's lanes, from the most elements down.
template <class Format, int kLog2Lanes, bool kBackward, int kElements>
Status launch_bundle_elements(const SoftmaxProblem& p, const SoftmaxConfig& config,
                              const LaunchContext& context) {
  constexpr int kFewer = kElements - bundle_unit(Format::kWidths, kLog2Lanes, kElements);
  constexpr int kFewest = kLog2Lanes == 0 ? 1 : kBundleFewElements / 2 + 1;
  if constexpr (kFewer >= kFewest) {
    if (config.lanes.packs < kElements) {
      return launch_bundle_elements<Format, kLog2Lanes, kBackward, kFewer>(p, config, context);
    }
  }
  if constexpr (has_bundle(Format::kWidths, kBackward, kLog2Lanes, kElements)) {
    return launch(context, softmax_bundle<BundleFormat<Format>, kElements, kLog2Lanes, kBackward>,
                  static_cast<unsigned>(config.blocks), config.threads, config.shared_bytes, p,
                  config.bundle);
  }
  return MYGEMM_STATUS_INTERNAL_ERROR;  // not a shape of bundles
}

template <class Format, int kLog2Lanes = 0>
Status launch_bundle(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  if constexpr (kLog2Lanes < 5) {
    if (config.lanes.log2_lanes > kLog2Lanes) {
      return launch_bundle<Format, kLog2Lanes + 1>(p, config, context);
    }
  }
  constexpr int kMost = kLog2Lanes < 5 ? kBundleFewElements : kBundleManyElements;
  return p.backward ? launch_bundle_elements<Format, kLog2Lanes, true, kMost>(p, config, context)
                    : launch_bundle_elements<Format, kLog2Lanes, false, kMost>(p, config, context);
}

}  // namespace mygemm
