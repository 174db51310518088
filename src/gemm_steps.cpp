// The steps of a general product.
#include "gemm_steps.h"

#include "call.h"
#include "gemm_triangle.h"
#include "kernels/gemm/relu_bits.h"
#include "kernels/gemm/sums.h"

namespace mygemm {
namespace {

Status apply_relu(const mygemmContext& context, const GemmProblem& p) {
  if (context.on_host()) return host::launch_relu_bits(p);
  return cuda_launcher<cuda::launch_relu_bits>()(p, context.launch_context());
}

Status make_sums(const mygemmContext& context, const GemmProblem& p) {
  if (context.on_host()) return host::launch_sums(p);
  const void* ones = nullptr;
  RETURN_IF_ERROR(cuda_launcher<cuda::find_ones>()(summed_matrix(p).matrix.type, &ones));
  const char* kernel = nullptr;
  return launch_planned(context, sums_as_product(p, ones), {context.workspace_bytes}, &kernel);
}

}  // namespace

GemmProblem product_step(GemmProblem p) {
  if (p.epilogue.stores_bits()) {
    p.epilogue.activation = MYGEMM_ACTIVATION_NONE;
    p.epilogue.aux = nullptr;
    p.update_fused();
  }
  return p;
}

Status compute_steps(const mygemmContext& context, const GemmProblem& given, const char** kernel) {
  if (given.fill != MYGEMM_FILL_FULL) return compute_triangle(context, given, kernel);
  RETURN_IF_ERROR(compute(context, product_step(given), kernel));
  if (given.epilogue.stores_bits()) RETURN_IF_ERROR(apply_relu(context, given));
  return given.sums.of == MYGEMM_SUMS_NONE ? MYGEMM_STATUS_SUCCESS : make_sums(context, given);
}

}  // namespace mygemm
