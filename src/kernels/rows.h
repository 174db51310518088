// The launchers that the tables of rows name, one per kernel file. Host rows are in src/host/.
// A build without CUDA has the tables too (plans can be explained anywhere); their CUDA launchers
// are then nullptr.
#pragma once

#include "plan/plan.h"

namespace mygemm {

#if defined(MYGEMM_WITH_CUDA)
inline constexpr bool kWithCuda = true;
#else
inline constexpr bool kWithCuda = false;
#endif

// `launch` where this build has CUDA, else nullptr without a reference to it.
template <auto launch>
constexpr decltype(launch) cuda_launcher() {
  if constexpr (kWithCuda) return launch;
  return nullptr;
}

namespace cuda {
Status launch_gemm_naive(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tiled(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_warptiled_128x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_warptiled_128x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_warptiled_64x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_splitk_64x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_thin_1(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_thin_4(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_thin_16(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_small_16x16(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_small_32x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_small_64x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_sliced_32x16(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_sliced_32x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_sliced_64x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tma_256x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tma_128x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tma_128x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tma_64x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tma_32x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_streamk_256x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_streamk_128x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_streamk_128x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_streamk_64x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_streamk_32x32(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tf32x3_128x192(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tf32x3_128x128(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tf32x3_128x64(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tf32x3_streamk_128x192(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status launch_gemm_tf32x3_streamk_128x128(const GemmRow&, const GemmProblem&, const LaunchContext&);

Status launch_softmax_naive(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status launch_softmax_warp(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status launch_softmax_block(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status launch_softmax_cluster(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status launch_softmax_split(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status launch_softmax_reread(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);

Status launch_transpose_naive(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_tiled(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_vector(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_shifted(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_tma(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_narrow(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status launch_transpose_vector_in_place(const TransposeRow&, const TransposeProblem&,
                                        const LaunchContext&);
Status launch_transpose_square_in_place(const TransposeRow&, const TransposeProblem&,
                                        const LaunchContext&);
Status launch_transpose_through_workspace(const TransposeRow&, const TransposeProblem&,
                                          const LaunchContext&);
}  // namespace cuda

namespace host {
Status gemm_naive(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status gemm_blocked(const GemmRow&, const GemmProblem&, const LaunchContext&);
Status gemm_cblas(const GemmRow&, const GemmProblem&, const LaunchContext&);

Status softmax_naive(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);
Status softmax_vectorised(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&);

Status transpose_naive(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status transpose_blocked(const TransposeRow&, const TransposeProblem&, const LaunchContext&);
Status transpose_through_workspace(const TransposeRow&, const TransposeProblem&,
                                   const LaunchContext&);

// Finds a CBLAS with dlopen on first use; nullptr, or its file name. See host/cblas.cpp.
const char* find_cblas();
// Threads that the host rows use.
int num_threads();
}  // namespace host

}  // namespace mygemm
