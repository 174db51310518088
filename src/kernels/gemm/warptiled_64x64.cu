// The warp-tiled product with 64 x 64 block tiles, alone and with k split over blocks: split
// products write partial sums to the workspace, and a second kernel adds them in a fixed order.
#include "kernels/gemm/partials.h"
#include "kernels/gemm/splitk.h"
#include "kernels/gemm/warptiled.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_warptiled_64x64(const GemmRow&, const GemmProblem& p,
                                         const LaunchContext& context) {
  return launch_warptiled<Tile64x64>(p, 1, nullptr, context);
}

Status cuda::launch_gemm_splitk_64x64(const GemmRow& row, const GemmProblem& p,
                                      const LaunchContext& context) {
  const int64_t splits =
      splitk_fitting(p, splitk_count(row, p, *context.device), context.workspace_bytes);
  float* partials = static_cast<float*>(context.workspace);
  RETURN_IF_ERROR(launch_warptiled<Tile64x64>(p, splits, partials, context));
  return cuda::launch_add_partials(p, splits, partials, context);
}

}  // namespace mygemm
