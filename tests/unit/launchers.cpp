// Unit tests: the launchers that the tables of kernels point to. Nothing is launched here, so that
// the plan is tested without any kernel, and a plan that did launch would fail.
#include "host/cross_entropy.h"
#include "host/gemm.h"
#include "host/softmax.h"
#include "host/transpose.h"

namespace mygemm::host {
namespace {
Status refuse() { return fail(MYGEMM_STATUS_INTERNAL_ERROR, "unit tests launch nothing"); }
}  // namespace

using Context = LaunchContext;

Status launch_gemm_naive(const GemmProblem&, const GemmConfig&, const Context&) { return refuse(); }
Status launch_gemm_blocked(const GemmProblem&, const GemmConfig&, const Context&) {
  return refuse();
}
Status launch_gemm_cblas(const GemmProblem&, const GemmConfig&, const Context&) { return refuse(); }

Status launch_softmax_naive(const SoftmaxProblem&, const SoftmaxConfig&, const Context&) {
  return refuse();
}
Status launch_softmax_masked(const SoftmaxProblem&, const SoftmaxConfig&, const Context&) {
  return refuse();
}
Status launch_softmax_vectorised(const SoftmaxProblem&, const SoftmaxConfig&, const Context&) {
  return refuse();
}

Status launch_cross_entropy_naive(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                  const Context&) {
  return refuse();
}

Status launch_transpose_naive(const TransposeProblem&, const TransposeConfig&, const Context&) {
  return refuse();
}
Status launch_transpose_blocked(const TransposeProblem&, const TransposeConfig&, const Context&) {
  return refuse();
}
Status launch_transpose_through_workspace(const TransposeProblem&, const TransposeConfig&,
                                          const Context&) {
  return refuse();
}

}  // namespace mygemm::host
