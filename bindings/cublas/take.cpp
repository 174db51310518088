// The calls that mygemm takes: FP32 products and transposes whose handle and compute type require
// FP32 arithmetic, on a device that mygemm supports. All others are forwarded to cuBLAS.
#include "take.h"

#include "handle_session.h"
#include "report.h"

namespace mygemm::cublas {
namespace {

// Calls that name another algorithm are forwarded, although cuBLAS ignores it from sm_80 on.
bool any_algorithm(cublasGemmAlgo_t algorithm) {
  return algorithm == CUBLAS_GEMM_DEFAULT || algorithm == CUBLAS_GEMM_DEFAULT_TENSOR_OP;
}

Outcome judge(const GemmCall& call) {
  if (call.a.type != CUDA_R_32F || call.b.type != CUDA_R_32F || call.c.type != CUDA_R_32F) {
    return kOtherTypes;
  }
  const Outcome arithmetic = judge_arithmetic(call.compute);
  if (arithmetic != kTaken) return arithmetic;
  if (!any_algorithm(call.algorithm)) return kGivenAlgorithm;
  const bool work = call.m > 0 && call.n > 0 && call.batch_count > 0;
  return work ? kTaken : kLeftToCublas;
}

mygemmStatus_t run(mygemmHandle_t handle, const GemmCall& call) {
  const auto transa = static_cast<mygemmOperation_t>(call.transa);
  const auto transb = static_cast<mygemmOperation_t>(call.transb);
  const auto* alpha = static_cast<const float*>(call.alpha);
  const auto* beta = static_cast<const float*>(call.beta);
  auto* c = const_cast<void*>(call.c.matrix);
  if (call.batch == Batch::kPointers) {
    return mygemm_sgemm_batched(handle, transa, transb, call.m, call.n, call.k, alpha,
                                static_cast<const float* const*>(call.a.matrix), call.a.ld,
                                static_cast<const float* const*>(call.b.matrix), call.b.ld, beta,
                                static_cast<float* const*>(c), call.c.ld, call.batch_count);
  }
  const auto* a = static_cast<const float*>(call.a.matrix);
  const auto* b = static_cast<const float*>(call.b.matrix);
  if (call.batch == Batch::kStrided) {
    return mygemm_sgemm_strided_batched(handle, transa, transb, call.m, call.n, call.k, alpha, a,
                                        call.a.ld, call.a.stride, b, call.b.ld, call.b.stride, beta,
                                        static_cast<float*>(c), call.c.ld, call.c.stride,
                                        call.batch_count);
  }
  return mygemm_sgemm(handle, transa, transb, call.m, call.n, call.k, alpha, a, call.a.ld, b,
                      call.b.ld, beta, static_cast<float*>(c), call.c.ld);
}

mygemmStatus_t run_in_workspace(const Session& session, const HandleSettings& of,
                                const GemmCall& call) {
  const auto wanted = [&] {
    size_t bytes = 0;
    mygemm_sgemm_workspace_size(session.handle, static_cast<mygemmOperation_t>(call.transa),
                                static_cast<mygemmOperation_t>(call.transb), call.m, call.n, call.k,
                                call.batch_count, &bytes);
    return bytes;
  };
  return in_workspace(session, of, wanted, [&] { return run(session.handle, call); });
}

bool has_null(const GemmCall& call) {
  return !call.alpha || !call.beta || !call.a.matrix || !call.b.matrix || !call.c.matrix;
}

double flop_of(const GemmCall& call) {
  return 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) *
         static_cast<double>(call.k) * static_cast<double>(call.batch_count);
}

bool is_operation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

// One of the two summands of a geam.
struct Summand {
  cublasOperation_t trans;
  const float* scale;
  const float* matrix;
  int64_t ld;
};

bool has_legal_ld(const Summand& x, const GeamCall& call) {
  return is_operation(x.trans) && x.ld >= (x.trans == CUBLAS_OP_N ? call.m : call.n);
}

// The summand that is transposed into C, or nullptr.
const Summand* transposed(const Summand& a, const Summand& b, const GeamCall& call) {
  if (!has_legal_ld(a, call) || !has_legal_ld(b, call)) return nullptr;
  const Summand* kept = *b.scale == 0.0f ? &a : *a.scale == 0.0f ? &b : nullptr;
  const bool moves = kept && *kept->scale == 1.0f && kept->trans != CUBLAS_OP_N;
  return moves && kept->matrix != call.c ? kept : nullptr;
}

}  // namespace

std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GemmCall& call) {
  Session session;
  HandleSettings of;
  const double flop = flop_of(call);
  Outcome outcome = judge(call);
  if (outcome == kTaken) outcome = open(handle, call.compute, &session, &of);
  if (outcome != kTaken) {
    count(function, outcome, flop);
    return std::nullopt;
  }
  set_up(session, of.settings, call.compute);
  const mygemmStatus_t status = run_in_workspace(session, of, call);
  return has_null(call) ? settle_with_null(function, status, flop) : settle(function, status, flop);
}

std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GeamCall& call) {
  Session session;
  HandleSettings of;
  Outcome outcome = call.m > 0 && call.n > 0 && call.alpha && call.beta ? kTaken : kLeftToCublas;
  if (outcome == kTaken) outcome = open(handle, &session, &of);
  // Scalars in device memory cannot be read here.
  if (outcome == kTaken && of.settings.pointer_mode != CUBLAS_POINTER_MODE_HOST) {
    outcome = kNotATranspose;
  }
  const Summand a{call.transa, call.alpha, call.a, call.lda};
  const Summand b{call.transb, call.beta, call.b, call.ldb};
  const Summand* moved = outcome == kTaken ? transposed(a, b, call) : nullptr;
  if (outcome == kTaken && !moved) outcome = kNotATranspose;
  if (outcome != kTaken) {
    count(function, outcome, 0);
    return std::nullopt;
  }
  set_up(session, of.settings, CUBLAS_COMPUTE_32F);
  use_workspace(session, nullptr, 0);
  // Column-major n x m into column-major m x n.
  return settle(function,
                mygemm_transpose(session.handle, sizeof(float), call.m, call.n, moved->matrix,
                                 moved->ld, call.c, call.ldc),
                0);
}

}  // namespace mygemm::cublas
