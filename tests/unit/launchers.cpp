// Unit tests: what the tables of rows point to. Nothing is launched here, so that the plan is
// tested without any kernel, and a plan that did launch would fail.
#include "kernels/rows.h"

namespace mygemm::host {
namespace {
Status refuse() { return fail(MYGEMM_STATUS_INTERNAL_ERROR, "unit tests launch nothing"); }
}  // namespace

Status gemm_naive(const GemmRow&, const GemmProblem&, const LaunchContext&) { return refuse(); }
Status gemm_blocked(const GemmRow&, const GemmProblem&, const LaunchContext&) { return refuse(); }
Status gemm_cblas(const GemmRow&, const GemmProblem&, const LaunchContext&) { return refuse(); }

Status softmax_naive(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&) {
  return refuse();
}
Status softmax_vectorised(const SoftmaxRow&, const SoftmaxProblem&, const LaunchContext&) {
  return refuse();
}

Status transpose_naive(const TransposeRow&, const TransposeProblem&, const LaunchContext&) {
  return refuse();
}
Status transpose_blocked(const TransposeRow&, const TransposeProblem&, const LaunchContext&) {
  return refuse();
}
Status transpose_through_workspace(const TransposeRow&, const TransposeProblem&,
                                   const LaunchContext&) {
  return refuse();
}

}  // namespace mygemm::host
