// The calls that mygemm takes: FP32 products and transposes whose handle and compute type require
// FP32 arithmetic, on a device that mygemm supports. All others are forwarded to cuBLAS.
#include "take.h"

#include <mygemm/mygemm.h>

#include <cstdlib>
#include <cstring>

#include "device.h"
#include "handles.h"
#include "real_cublas.h"
#include "report.h"

namespace mygemm::cublas {
namespace {

// mygemm's handle, with the settings of cuBLAS's.
struct Session {
  mygemmHandle_t handle;
  int device;
  Settings settings;
  Told told;
};

Outcome open_session(cublasHandle_t handle, Session* session) {
  if (!known_version()) return kUnknownCublas;
  session->device = current_device();
  if (session->device < 0) return kNoDevice;
  if (!read_settings(handle, &session->settings)) return kLeftToCublas;
  if (session->settings.sm_count_target != 0) return kFewerSms;
  session->told = told(handle);
  if (session->told.device >= 0 && session->told.device != session->device) return kOtherDevice;
  session->handle = thread_handle(session->device);
  if (!session->handle) return kNoDevice;
  mygemm_set_stream(session->handle, session->settings.stream);
  mygemm_set_pointer_mode(session->handle,
                          session->settings.pointer_mode == CUBLAS_POINTER_MODE_HOST
                              ? MYGEMM_POINTER_MODE_HOST
                              : MYGEMM_POINTER_MODE_DEVICE);
  return kTaken;
}

// cuBLAS's own environment variable: with it, default math means emulated FP32 on GPUs that have
// it.
bool emulation_is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

// Flags above the low four bits concern 16-bit types, emulated FP64 does not concern FP32; not all
// headers of CUDA 13 have the name of the latter, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH.
bool wants_fp32(cublasMath_t math) {
  constexpr int kEmulatedFp64 = 8;
  const int mode = math & 0xf;
  if (mode == CUBLAS_PEDANTIC_MATH) return true;
  return (mode == CUBLAS_DEFAULT_MATH || mode == kEmulatedFp64) && !emulation_is_wanted();
}

// Default math is mygemm's default, or strict if MYGEMM_MATH says so; pedantic is strict.
void set_math(const Session& session, cublasComputeType_t compute) {
  static const mygemmMathMode_t default_mode = [&] {
    mygemmMathMode_t mode = MYGEMM_MATH_DEFAULT;
    mygemm_get_math_mode(session.handle, &mode);
    return mode;
  }();
  const bool pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                        (session.settings.math & 0xf) == CUBLAS_PEDANTIC_MATH;
  mygemm_set_math_mode(session.handle, pedantic ? MYGEMM_MATH_STRICT : default_mode);
}

// Calls that name another algorithm are forwarded, although cuBLAS ignores it from sm_80 on.
bool any_algorithm(cublasGemmAlgo_t algorithm) {
  return algorithm == CUBLAS_GEMM_DEFAULT || algorithm == CUBLAS_GEMM_DEFAULT_TENSOR_OP;
}

Outcome judge(const GemmCall& call) {
  if (call.a.type != CUDA_R_32F || call.b.type != CUDA_R_32F || call.c.type != CUDA_R_32F) {
    return kOtherTypes;
  }
  switch (call.compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC: break;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return kReducedPrecision;
    default: return kOtherTypes;
  }
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

// Every call sets one or none: that of an earlier call may have been freed.
void use_workspace(const Session& session, void* workspace, size_t bytes) {
  if (mygemm_set_workspace(session.handle, workspace, workspace ? bytes : 0) !=
      MYGEMM_STATUS_SUCCESS) {
    mygemm_set_workspace(session.handle, nullptr, 0);
  }
}

// Runs in the workspace of cuBLAS's handle, or in one that lasts as long as the call.
mygemmStatus_t run_in_workspace(const Session& session, const GemmCall& call) {
  if (session.told.workspace) {
    use_workspace(session, session.told.workspace, session.told.workspace_bytes);
    return run(session.handle, call);
  }
  size_t wanted = 0;
  mygemm_sgemm_workspace_size(session.handle, static_cast<mygemmOperation_t>(call.transa),
                              static_cast<mygemmOperation_t>(call.transb), call.m, call.n, call.k,
                              call.batch_count, &wanted);
  const StreamMemory memory(session.device, session.settings.stream, wanted);
  use_workspace(session, memory.data(), wanted);
  return run(session.handle, call);
}

bool has_null(const GemmCall& call) {
  return !call.alpha || !call.beta || !call.a.matrix || !call.b.matrix || !call.c.matrix;
}

// A call that mygemm refused has written nothing, and cuBLAS gives its own answer to it.
std::optional<cublasStatus_t> settle(Function function, mygemmStatus_t status) {
  if (status == MYGEMM_STATUS_SUCCESS || status == MYGEMM_STATUS_EXECUTION_FAILED) {
    count(function, kTaken);
    return static_cast<cublasStatus_t>(status);
  }
  count(function, kLeftToCublas);
  return std::nullopt;
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
  Outcome outcome = judge(call);
  if (outcome == kTaken) outcome = open_session(handle, &session);
  if (outcome == kTaken && !wants_fp32(session.settings.math) &&
      call.compute != CUBLAS_COMPUTE_32F_PEDANTIC) {
    outcome = kReducedPrecision;
  }
  if (outcome != kTaken) {
    count(function, outcome);
    return std::nullopt;
  }
  set_math(session, call.compute);
  const mygemmStatus_t status = run_in_workspace(session, call);
  if (status == MYGEMM_STATUS_INVALID_VALUE && has_null(call)) {
    // The plain functions of cuBLAS refuse NULL, the others dereference it.
    count(function, kTaken);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return settle(function, status);
}

std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GeamCall& call) {
  Session session;
  Outcome outcome = call.m > 0 && call.n > 0 && call.alpha && call.beta ? kTaken : kLeftToCublas;
  if (outcome == kTaken) outcome = open_session(handle, &session);
  // Scalars in device memory cannot be read here.
  if (outcome == kTaken && session.settings.pointer_mode != CUBLAS_POINTER_MODE_HOST) {
    outcome = kNotATranspose;
  }
  const Summand a{call.transa, call.alpha, call.a, call.lda};
  const Summand b{call.transb, call.beta, call.b, call.ldb};
  const Summand* moved = outcome == kTaken ? transposed(a, b, call) : nullptr;
  if (outcome == kTaken && !moved) outcome = kNotATranspose;
  if (outcome != kTaken) {
    count(function, outcome);
    return std::nullopt;
  }
  use_workspace(session, nullptr, 0);
  // Column-major n x m into column-major m x n.
  return settle(function, mygemm_transpose(session.handle, sizeof(float), call.m, call.n,
                                           moved->matrix, moved->ld, call.c, call.ldc));
}

}  // namespace mygemm::cublas
