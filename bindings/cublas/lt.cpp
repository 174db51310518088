// cublasLtMatmul under its own name: FP32 products in FP32 arithmetic are taken, with the epilogues
// of cuBLASLt, and 16-bit products with FP32 sums; others are forwarded. The algorithm that the
// caller chose is ignored where a call is taken; stream and workspace are the call's.
#include "../drop_in/call_report.h"
#include "lt_call.h"
#include "real_cublas.h"
#include "report.h"
#include "session.h"

namespace mygemm::cublas {
namespace {

struct LtResources {
  void* workspace;
  size_t workspace_bytes;
  cudaStream_t stream;
};

std::optional<cublasStatus_t> take(const LtArguments& arguments, const LtResources& resources) {
  LtCall call;
  Session session;
  Outcome outcome = known_version(kLtGetProperty) ? read_call(arguments, &call) : kUnknownCublas;
  if (outcome == kTaken) outcome = open_session(-1, &session);
  const double flop = drop_in::report_is_wanted() ? flop_of(arguments) : 0;
  if (outcome != kTaken) {
    count(kLtMatmul, outcome, flop);
    return std::nullopt;
  }
  set_up(session, resources.stream, call.scalars_on_device, call.pedantic);
  use_workspace(session, resources.workspace, resources.workspace_bytes);
  return settle(kLtMatmul, call.of_16bit ? kTaken16Bit : kTaken,
                mygemm_gemm(session.handle, &call.product), flop);
}

}  // namespace
}  // namespace mygemm::cublas

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t a_layout,
                              const void* B, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c_layout, void* D,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  if (handle) {
    const auto status = take({operation, alpha, A, a_layout, B, b_layout, beta, C, c_layout, D,
                              d_layout, workspace ? workspace_bytes : 0},
                             {workspace, workspace_bytes, stream});
    if (status) return *status;
  }
  return forward(kLtMatmul, handle, operation, alpha, A, a_layout, B, b_layout, beta, C, c_layout,
                 D, d_layout, algorithm, workspace, workspace_bytes, stream);
}

#pragma GCC visibility pop
}  // extern "C"
