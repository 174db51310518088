// The calls that mygemm takes: FP32 products and transposes whose handle and compute type require
// FP32 arithmetic, and products of 16-bit matrices with FP32 sums, on a device that mygemm
// supports. All others are forwarded to cuBLAS.
#include "take.h"

#include <algorithm>
#include <cstddef>

#include "handle_session.h"
#include "report.h"
#include "sixteen_bit.h"

namespace mygemm::cublas {
namespace {

// Calls that name another algorithm are forwarded, although cuBLAS ignores it from sm_80 on.
bool any_algorithm(cublasGemmAlgo_t algorithm) {
  return algorithm == CUBLAS_GEMM_DEFAULT || algorithm == CUBLAS_GEMM_DEFAULT_TENSOR_OP;
}

// A product's own workspace at most: the rest of the device's memory is the program's. Packed ones
// would like more, and are nearly as fast in parts.
constexpr size_t kMostWorkspace = size_t{128} << 20;

// Where beta is in device memory, C may be read.
ProductForm form_of(const GemmCall& call, const HandleSettings& of) {
  const auto aligned = [&](const Operand& x) {
    return is_aligned(x.type, x.matrix, x.ld, x.stride, call.batch_count);
  };
  const bool on_host = of.settings.pointer_mode == CUBLAS_POINTER_MODE_HOST && call.beta;
  return {.strided = call.batch != Batch::kPointers,
          .aligned = aligned(call.a) && aligned(call.b) && aligned(call.c),
          .plain = on_host && *static_cast<const float*>(call.beta) == 0.0f,
          .workspace_bytes = of.told.workspace ? of.told.workspace_bytes : kMostWorkspace};
}

ProductSizes sizes_of(const GemmCall& call) { return {call.m, call.n, call.k, call.batch_count}; }

Outcome judge(const GemmCall& call) {
  const Outcome types = judge_types(call.a.type, call.b.type, call.c.type);
  if (types != kTaken) return types;
  const Outcome arithmetic = judge_arithmetic(call.compute);
  if (arithmetic != kTaken) return arithmetic;
  if (!any_algorithm(call.algorithm)) return kGivenAlgorithm;
  // mygemm_gemm() takes a leading dimension of 0 for the smallest one.
  const bool lds = call.a.ld != 0 && call.b.ld != 0 && call.c.ld != 0;
  const bool work = call.m > 0 && call.n > 0 && call.batch_count > 0;
  if (!work || !lds) return kLeftToCublas;
  return is_16bit(call.a.type) ? judge_16bit(sizes_of(call)) : kTaken;
}

mygemmGemm_t product(const GemmCall& call) {
  mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
  gemm.transa = static_cast<int32_t>(call.transa), gemm.transb = static_cast<int32_t>(call.transb);
  gemm.m = call.m, gemm.n = call.n, gemm.k = call.k;
  gemm.batch_count = call.batch_count;
  gemm.atype = static_cast<int32_t>(call.a.type), gemm.btype = static_cast<int32_t>(call.b.type);
  gemm.ctype = gemm.dtype = static_cast<int32_t>(call.c.type);
  gemm.alpha = call.alpha, gemm.beta = call.beta;
  gemm.lda = call.a.ld, gemm.ldb = call.b.ld, gemm.ldd = call.c.ld;
  auto* c = const_cast<void*>(call.c.matrix);
  if (call.batch == Batch::kPointers) {
    gemm.A_array = static_cast<const void* const*>(call.a.matrix);
    gemm.B_array = static_cast<const void* const*>(call.b.matrix);
    gemm.D_array = static_cast<void* const*>(c);
  } else {
    gemm.A = call.a.matrix, gemm.stride_a = call.a.stride;
    gemm.B = call.b.matrix, gemm.stride_b = call.b.stride;
    gemm.D = c, gemm.stride_d = call.c.stride;
  }
  return gemm;
}

mygemmStatus_t run(const Session& session, const HandleSettings& of, const GemmCall& call) {
  const mygemmGemm_t gemm = product(call);
  const auto wanted = [&] {
    size_t bytes = 0;
    mygemm_gemm_workspace_size(session.handle, &gemm, &bytes);
    return std::min(bytes, kMostWorkspace);
  };
  return in_workspace(session, of, wanted, [&] { return mygemm_gemm(session.handle, &gemm); });
}

bool has_null(const GemmCall& call) {
  return !call.alpha || !call.beta || !call.a.matrix || !call.b.matrix || !call.c.matrix;
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
  const double flop = flop_of(sizes_of(call));
  Outcome outcome = judge(call);
  // No math mode asks for less than FP32 sums of 16-bit matrices.
  const bool of_16bit = is_16bit(call.a.type);
  if (outcome == kTaken) {
    outcome = of_16bit ? open(handle, &session, &of) : open(handle, call.compute, &session, &of);
  }
  if (outcome == kTaken && of_16bit) {
    outcome = judge_16bit(sizes_of(call), form_of(call, of));
  }
  if (outcome != kTaken) {
    count(function, outcome, flop);
    return std::nullopt;
  }
  set_up(session, of.settings, call.compute);
  const mygemmStatus_t status = run(session, of, call);
  const Outcome taken = of_16bit ? kTaken16Bit : kTaken;
  return has_null(call) ? settle_with_null(function, taken, status, flop)
                        : settle(function, taken, status, flop);
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
  return settle(function, kTaken,
                mygemm_transpose(session.handle, sizeof(float), call.m, call.n, moved->matrix,
                                 moved->ld, call.c, call.ldc),
                0);
}

}  // namespace mygemm::cublas
