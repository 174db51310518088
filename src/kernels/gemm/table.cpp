// The table of matrix-product kernels.
#include <climits>
#include <iterator>

#include "host/gemm.h"
#include "kernels/gemm/bf16x6/bf16x6.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/packed.h"
#include "kernels/gemm/sliced.h"
#include "kernels/gemm/small.h"
#include "kernels/gemm/textbook.h"
#include "kernels/gemm/tensor16/split.h"
#include "kernels/gemm/tensor16/tensor16.h"
#include "kernels/gemm/tf32x3/tf32x3.h"
#include "kernels/gemm/thin.h"
#include "kernels/gemm/thin_mma.h"
#include "kernels/gemm/tile_figures.h"
#include "kernels/gemm/tma/short.h"
#include "kernels/gemm/tma/tma.h"
#include "kernels/gemm/warptiled.h"

namespace mygemm {
namespace {

// Compute capabilities: any; and Hopper alone, since later GPUs have other registers, an FFMA of
// two results and other tensor-core instructions.
constexpr int kOldest = 75, kNewest = INT_MAX, kHopper = 90;

constexpr GemmFigures with(GemmFigures figures, const GemmBound& bound,
                           const SumOrder* order = nullptr) {
  figures.bound = bound;
  figures.order = order;
  return figures;
}

template <class Tile, bool kStreamK>
constexpr GemmKernel tensor_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kHopper,
          kHopper,
          configure_tensor<Tile, kStreamK>,
          cuda_launcher<cuda::launch_gemm_tensor<Tile>>(),
          with(figures, tensor_bound<Tile, kStreamK>(figures), kStreamK ? nullptr : Tile::kOrder)};
}

template <class Tile, bool kStreamK>
constexpr GemmKernel tensor16_kernel(const char* name, GemmFigures figures) {
  figures.takes = Tile::kFp32Rows ? Takes::kMixed : Takes::k16Bit;
  return {name,
          kHopper,
          kHopper,
          configure_tensor16<Tile, kStreamK>,
          cuda_launcher<cuda::launch_gemm_tensor16<Tile, kStreamK>>(),
          with(figures, tensor16::bound<Tile, kStreamK>(figures),
               kStreamK          ? nullptr
               : Tile::kFp32Rows ? &tensor16::kMixedOrder
                                 : &tensor16::kOrder)};
}

template <class Tile>
constexpr GemmKernel tensor16_split_kernel(const char* name, GemmFigures figures) {
  figures.takes = Takes::k16Bit;
  return {name,
          kHopper,
          kHopper,
          configure_tensor16_split<Tile>,
          cuda_launcher<cuda::launch_gemm_tensor16_split<Tile>>(),
          with(figures, tensor16_split_bound<Tile>(figures))};
}

constexpr GemmKernel packed_kernel(const char* name, GemmFigures figures) {
  figures.any_order = true;
  return {name,
          kHopper,
          kHopper,
          configure_packed,
          cuda_launcher<launch_packed>(),
          with(figures, packed_bound(figures))};
}

template <class Tile, bool kStreamK>
constexpr GemmKernel tma_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kHopper,
          kHopper,
          configure_tma<Tile, kStreamK>,
          cuda_launcher<cuda::launch_gemm_tma<Tile>>(),
          with(figures, tma_bound<Tile, kStreamK>(figures), kStreamK ? nullptr : Tile::kOrder)};
}

template <class Tile>
constexpr GemmKernel short_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kHopper,
          kHopper,
          configure_short<Tile>,
          cuda_launcher<cuda::launch_gemm_short<Tile>>(),
          with(figures, short_bound<Tile>(figures), Tile::kOrder)};
}

template <class Tile>
constexpr GemmKernel thin_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_thin<Tile>,
          cuda_launcher<cuda::launch_gemm_thin<Tile>>(),
          with(figures, thin_bound<Tile>(figures))};
}

// mma.sync of 16-bit operands.
constexpr int kAmpere = 80;

static_assert(ThinMma16::kThin == kMostShorterSide);
template <class Tile>
constexpr GemmKernel thin_mma_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kAmpere,
          kNewest,
          configure_thin_mma<Tile>,
          cuda_launcher<cuda::launch_gemm_thin_mma<Tile>>(),
          with(figures, thin_mma_bound<Tile>(figures))};
}

template <class Tile>
constexpr GemmKernel warptiled_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_warptiled<Tile>,
          cuda_launcher<cuda::launch_gemm_warptiled<Tile>>(),
          with(figures, warptiled_bound<Tile>(figures), &kChainOrder)};
}

template <class Tile>
constexpr GemmKernel small_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_small<Tile>,
          cuda_launcher<cuda::launch_gemm_small<Tile>>(),
          with(figures, small_bound<Tile>(figures), &kChainOrder)};
}

template <class Tile>
constexpr GemmKernel sliced_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_sliced<Tile>,
          cuda_launcher<cuda::launch_gemm_sliced<Tile>>(),
          with(figures, sliced_bound<Tile>(figures), Tile::kOrder)};
}

template <class Tile>
constexpr GemmKernel splitk_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_splitk<Tile>,
          cuda_launcher<cuda::launch_gemm_warptiled<Tile>>(),
          with(figures, splitk_bound<Tile>(figures))};
}

template <class Group>
constexpr GemmKernel dots_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_dots<Group>,
          cuda_launcher<cuda::launch_gemm_dots<Group>>(),
          with(figures, dots_bound<Group>(figures))};
}

constexpr GemmKernel tiled_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_tiled,
          cuda_launcher<cuda::launch_gemm_tiled>(),
          with(figures, estimate::tile_bound<TileShared>(figures), &kChainOrder)};
}

constexpr GemmKernel naive_kernel(const char* name, const GemmFigures& figures) {
  return {name,
          kOldest,
          kNewest,
          configure_naive,
          cuda_launcher<cuda::launch_gemm_naive>(),
          with(figures, estimate::tile_bound<TileNaive>(figures), &kChainOrder)};
}

// Thin kernels take a thin operand of any type beside the elements of the long one.
constexpr Takes kThinFp32 = Takes::kFp32 | Takes::kMixed;
constexpr Takes kThin16Bit = Takes::k16Bit | Takes::kMixed;

// The peak of tensor cores over that of FFMA; what keeps products from it is in the estimate.
constexpr GemmFigures kTensor16 = {.efficiency = 16.0};
// Beside the time of splitting rows, with which products partly overlap.
constexpr GemmFigures kMixed = {.efficiency = 21.2};

// Figures: GemmFigures. Stream-K keeps all multiprocessors busy, at 700 W and lower clocks; over
// the same time data-parallel tiles are as fast or faster (3072^3: 1.10 times, 8192^3: 1.01), hence
// the smaller efficiency.
constexpr GemmKernel kKernels[] = {
    tensor_kernel<Tensor128x192, false>(
        "tf32x3_128x192", {.efficiency = 2.08, .misaligned = 1.45, .transposing = 1.05}),
    tensor_kernel<Tensor128x192, true>(
        "tf32x3_streamk_128x192", {.efficiency = 2.06, .misaligned = 1.45, .transposing = 1.05}),
    tensor_kernel<Tensor128x128, false>(
        "tf32x3_128x128", {.efficiency = 1.90, .misaligned = 1.32, .transposing = 1.03}),
    tensor_kernel<Tensor128x128, true>(
        "tf32x3_streamk_128x128", {.efficiency = 1.88, .misaligned = 1.32, .transposing = 1.03}),
    // Never the fastest as stream-K (144 shapes on an H200).
    tensor_kernel<Tensor128x64, false>(
        "tf32x3_128x64", {.efficiency = 1.50, .misaligned = 1.52, .transposing = 1.05}),
    tensor_kernel<Bf16x6_128x128, false>("bf16x6_128x128", {.efficiency = 1.88,
                                                            .misaligned = 1.53,
                                                            .shifted = 1.12,
                                                            .shifted_tn = 1.25,
                                                            .transposing = 1.04}),
    tensor_kernel<Bf16x6_128x128, true>("bf16x6_streamk_128x128", {.efficiency = 1.86,
                                                                   .misaligned = 1.53,
                                                                   .shifted = 1.12,
                                                                   .shifted_tn = 1.25,
                                                                   .transposing = 1.04}),
    tensor_kernel<Bf16x6_128x64, false>("bf16x6_128x64", {.efficiency = 1.38,
                                                          .misaligned = 1.5,
                                                          .shifted = 1.12,
                                                          .shifted_tn = 1.4,
                                                          .transposing = 1.02}),
    // Where the plan takes it, 1.16 times as fast as the kernel that has the next shortest
    // estimate, and 1.08 times as the fastest of six others (32 of 108 products that have fewer
    // than 264 such tiles, on an H200).
    tensor_kernel<Bf16x6_128x64, true>("bf16x6_streamk_128x64", {.efficiency = 1.37,
                                                                 .misaligned = 1.5,
                                                                 .shifted = 1.12,
                                                                 .shifted_tn = 1.4,
                                                                 .transposing = 1.02}),
    tensor16_kernel<Tensor16_256x128_2x1, false>("tensor16_256x128_2x1", kTensor16),
    tensor16_kernel<Tensor16_224x128_2x1, false>("tensor16_224x128_2x1", kTensor16),
    tensor16_kernel<Tensor16_224x128_2x1, true>("tensor16_streamk_224x128_2x1", kTensor16),
    tensor16_kernel<Tensor16_208x128_2x1, false>("tensor16_208x128_2x1", kTensor16),
    tensor16_kernel<Tensor16_192x128_4x1, false>("tensor16_192x128_4x1", kTensor16),
    tensor16_kernel<Tensor16_192x128_4x1, true>("tensor16_streamk_192x128_4x1", kTensor16),
    tensor16_kernel<Tensor16_160x128_2x2, false>("tensor16_160x128_2x2", kTensor16),
    tensor16_kernel<Tensor16_160x128_2x2, true>("tensor16_streamk_160x128_2x2", kTensor16),
    tensor16_kernel<Tensor16_96x128_4x1, false>("tensor16_96x128_4x1", kTensor16),
    tensor16_kernel<Tensor16_96x128_4x1, true>("tensor16_streamk_96x128_4x1", kTensor16),
    tensor16_kernel<Tensor16_48x128_1x4, false>("tensor16_48x128_1x4", kTensor16),
    tensor16_kernel<Tensor16_256x128, false>("tensor16_256x128", kTensor16),
    tensor16_kernel<Tensor16_256x128, true>("tensor16_streamk_256x128", kTensor16),
    tensor16_kernel<Tensor16_192x128, false>("tensor16_192x128", kTensor16),
    tensor16_kernel<Tensor16_144x128, false>("tensor16_144x128", kTensor16),
    tensor16_kernel<Tensor16_128x128, false>("tensor16_128x128", kTensor16),
    tensor16_kernel<Tensor16_64x128, false>("tensor16_64x128", kTensor16),
    tensor16_kernel<Tensor16_32x128, false>("tensor16_32x128", kTensor16),
    tensor16_kernel<Tensor16_256x64_2x1, false>("tensor16_256x64_2x1", kTensor16),
    tensor16_kernel<Tensor16_176x64_2x1, false>("tensor16_176x64_2x1", kTensor16),
    tensor16_kernel<Tensor16_160x64_4x1, false>("tensor16_160x64_4x1", kTensor16),
    tensor16_kernel<Tensor16_144x64_1x2, false>("tensor16_144x64_1x2", kTensor16),
    tensor16_kernel<Tensor16_112x64_2x1, false>("tensor16_112x64_2x1", kTensor16),
    tensor16_kernel<Tensor16_64x64_4x1, false>("tensor16_64x64_4x1", kTensor16),
    tensor16_split_kernel<Tensor16Split_128x128>("tensor16_split_128x128", {.efficiency = 14.0}),
    tensor16_split_kernel<Tensor16Split_128x64>("tensor16_split_128x64", {.efficiency = 14.0}),
    tensor16_kernel<Tensor16Lines_128x128, false>("tensor16_lines_128x128", {.efficiency = 2.2}),
    tensor16_kernel<Tensor16Lines_128x128, true>("tensor16_lines_streamk_128x128",
                                                 {.efficiency = 2.2}),
    tensor16_kernel<Mixed_128x128, false>("mixed_128x128", kMixed),
    tensor16_kernel<Mixed_64x128, false>("mixed_64x128", kMixed),
    tensor16_kernel<Mixed_32x128, false>("mixed_32x128", kMixed),
    tensor16_kernel<Mixed_128x128, true>("mixed_streamk_128x128", kMixed),
    tensor16_kernel<Mixed_64x128, true>("mixed_streamk_64x128", kMixed),
    tensor16_kernel<MixedLines_64x128, false>("mixed_lines_64x128", {.efficiency = 1.63}),
    tensor16_kernel<MixedLines_64x128, true>("mixed_lines_streamk_64x128", {.efficiency = 1.63}),
    // The efficiency of the fastest kernel that multiplies packed operands.
    packed_kernel("packed", {.efficiency = 2.08, .misaligned = 1.08}),
    packed_kernel("packed16", {.takes = Takes::k16Bit, .efficiency = 16.0}),
    packed_kernel("packed_mixed", {.takes = Takes::kMixed, .efficiency = 21.2}),
    tma_kernel<Tma256x128, false>("tma_256x128", {.efficiency = 0.872}),
    tma_kernel<Tma256x128, true>("streamk_256x128", {.efficiency = 0.858}),
    tma_kernel<Tma128x128, false>("tma_128x128", {.efficiency = 0.855}),
    tma_kernel<Tma128x128, true>("streamk_128x128", {.efficiency = 0.851}),
    tma_kernel<Tma128x64, false>("tma_128x64", {.efficiency = 0.834, .store_seconds = 0.2e-10}),
    tma_kernel<Tma128x64, true>("streamk_128x64", {.efficiency = 0.833, .store_seconds = 0.2e-10}),
    tma_kernel<Tma64x128, false>("tma_64x128", {.efficiency = 0.832, .store_seconds = 0.2e-10}),
    tma_kernel<Tma64x128, true>("streamk_64x128", {.efficiency = 0.831, .store_seconds = 0.2e-10}),
    tma_kernel<Tma128x32, false>("tma_128x32", {.efficiency = 0.81, .store_seconds = 1e-10}),
    tma_kernel<Tma128x32, true>("streamk_128x32", {.efficiency = 0.818, .store_seconds = 1e-10}),
    tma_kernel<Tma32x128, false>("tma_32x128", {.efficiency = 0.821, .store_seconds = 1.8e-10}),
    tma_kernel<Tma32x128, true>("streamk_32x128", {.efficiency = 0.827, .store_seconds = 1.8e-10}),
    tma_kernel<Tma64x32, false>("tma_64x32", {.efficiency = 0.715, .store_seconds = 1.5e-10}),
    tma_kernel<Tma64x32, true>("streamk_64x32", {.efficiency = 0.694, .store_seconds = 1.5e-10}),
    tma_kernel<Tma32x32, false>("tma_32x32", {.efficiency = 0.646, .store_seconds = 0.25e-10}),
    tma_kernel<Tma32x32, true>("streamk_32x32", {.efficiency = 0.672, .store_seconds = 0.25e-10}),
    short_kernel<Short256x128>("short_256x128", {.efficiency = 0.84}),
    short_kernel<Short128x128>("short_128x128", {.efficiency = 0.84}),
    thin_kernel<Thin1>("thin_1", {.takes = kThinFp32, .efficiency = 0.96}),
    thin_kernel<Thin4>("thin_4", {.takes = kThinFp32, .efficiency = 0.95}),
    thin_kernel<Thin8>("thin_8", {.takes = kThinFp32, .efficiency = 0.95}),
    thin_kernel<Thin16>("thin_16", {.takes = kThinFp32, .efficiency = 0.75}),
    thin_kernel<Thin1Of16Bit>("thin16_1", {.takes = kThin16Bit, .efficiency = 0.85}),
    thin_kernel<Thin4Of16Bit>("thin16_4", {.takes = kThin16Bit, .efficiency = 0.80}),
    thin_kernel<Thin16Of16Bit>("thin16_16", {.takes = kThin16Bit, .efficiency = 0.30}),
    thin_mma_kernel<ThinMma8>("thin16_mma_8", {.takes = Takes::k16Bit, .efficiency = 0.85}),
    thin_mma_kernel<ThinMma16>("thin16_mma_16", {.takes = Takes::k16Bit, .efficiency = 0.85}),
    warptiled_kernel<Tile128x128>("warptiled_128x128", tile_figures::kWarptiled128x128),
    warptiled_kernel<Tile128x64>("warptiled_128x64", tile_figures::kWarptiled128x64),
    warptiled_kernel<Tile64x64>("warptiled_64x64", tile_figures::kWarptiled64x64),
    warptiled_kernel<Tile64x32>("warptiled_64x32", tile_figures::kWarptiled64x32),
    warptiled_kernel<Tile32x64>("warptiled_32x64", tile_figures::kWarptiled32x64),
    warptiled_kernel<Tile32x32>("warptiled_32x32", tile_figures::kWarptiled32x32),
    small_kernel<Small64x32>("small_64x32", tile_figures::kSmall64x32),
    small_kernel<Small32x32>("small_32x32", tile_figures::kSmall32x32),
    small_kernel<Small16x16>("small_16x16", tile_figures::kSmall16x16),
    sliced_kernel<Sliced64x64>("sliced_64x64", tile_figures::kSliced64x64),
    sliced_kernel<Sliced32x32>("sliced_32x32", tile_figures::kSliced32x32),
    sliced_kernel<Sliced32x16>("sliced_32x16", tile_figures::kSliced32x16),
    splitk_kernel<Tile64x64>("splitk_64x64", tile_figures::kSplitk64x64),
    splitk_kernel<Tile64x32>("splitk_64x32", tile_figures::kSplitk64x32),
    splitk_kernel<Tile32x64>("splitk_32x64", tile_figures::kSplitk32x64),
    splitk_kernel<Tile32x32>("splitk_32x32", tile_figures::kSplitk32x32),
    dots_kernel<Dots1>("dots", {.takes = Takes::kAny, .efficiency = 0.0583}),
    dots_kernel<Dots4>("dots_4", {.takes = Takes::kAny, .efficiency = 0.0962}),
    tiled_kernel("tiled", tile_figures::kTiled),
    naive_kernel("naive", tile_figures::kNaive),
    {"host_cblas", 0, 0, host::configure_gemm_cblas, host::launch_gemm_cblas, {.efficiency = 0.90}},
    {"host_blocked",
     0,
     0,
     host::configure_gemm_blocked,
     host::launch_gemm_blocked,
     {.takes = Takes::kAny, .efficiency = 0.85, .order = &host::kOrder}},
    {"host_naive",
     0,
     0,
     host::configure_gemm_naive,
     host::launch_gemm_naive,
     {.takes = Takes::kAny, .efficiency = 0.02, .triangles = true}},
};

}  // namespace

static_assert(std::size(kKernels) <= kMostKernels);

std::span<const GemmKernel> kernels_for(const GemmProblem&) { return kKernels; }

const SumOrder* order_to_keep(const GemmProblem& p, const DeviceTraits& device) {
  const Takes operands = operands_of(p);
  for (const GemmKernel& kernel : kKernels) {
    const SumOrder* order = kernel.figures.order;
    const bool of_device = kernel.min_cc <= device.cc && device.cc <= kernel.max_cc;
    if (order && of_device && takes(kernel, operands) && order->serves(freedom_of(p.math), p.k)) {
      return order;
    }
  }
  return nullptr;
}

double least_seconds(const GemmProblem& p, const DeviceTraits& device) {
  const GemmFacts facts(p, device);
  double least = GemmBound::kNoLimit;
  for (const GemmKernel& kernel : kKernels) {
    const bool of_device = kernel.min_cc <= device.cc && device.cc <= kernel.max_cc;
    if (of_device && !refusal_of(kernel.figures, facts)) {
      least = std::min(least, least_seconds(kernel.figures.bound, facts));
    }
  }
  return least;
}

}  // namespace mygemm
