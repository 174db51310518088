// The extern "C" functions of matrix products. mygemm_sgemm and its siblings are shorthands: each
// fills the descriptor of the general product, and all descriptors become problems in one place.
#include <algorithm>
#include <cmath>

#include "api.h"
#include "mygemm/mygemm.h"
#include "validate.h"

namespace mygemm {
namespace {

// How a descriptor names its matrices: by one pointer each, or by arrays of pointers.
enum class Form { kStrided, kPointers };

// alpha or beta as kernels get it. A pointer that validate will refuse is not dereferenced; without
// a handle, values are in host memory.
Scalar scalar(const mygemmContext* context, const void* pointer) {
  const float* address = static_cast<const float*>(pointer);
  const bool on_device =
      context && context->pointer_mode == MYGEMM_POINTER_MODE_DEVICE && !context->on_host();
  const bool readable = address && reinterpret_cast<uintptr_t>(address) % alignof(float) == 0;
  const float value = readable && !on_device ? *address : std::nanf("");
  return {value, address, on_device};
}

// Checks the pointer to the caller's descriptor, and its struct_size.
Status read_call(const mygemmGemm_t* call) {
  RETURN_IF_ERROR(need_result("call", call));
  return check_struct("call", "MYGEMM_GEMM_INIT", call, sizeof *call);
}

Form form_of(const mygemmGemm_t& call) { return call.D_array ? Form::kPointers : Form::kStrided; }

// Makes a problem from a descriptor, of which it checks the enumerations and types only. The
// handle, where there is one, tells where alpha and beta are, and the math mode if the descriptor
// asks it to.
Status make_problem(const mygemmContext* context, const mygemmGemm_t& call, Form form,
                    GemmProblem* problem) {
  if (!valid_operation("transa", call.transa) || !valid_operation("transb", call.transb) ||
      !valid_data_type("atype", call.atype) || !valid_data_type("btype", call.btype) ||
      !valid_data_type("ctype", call.ctype) || !valid_data_type("dtype", call.dtype) ||
      !valid_product_math(call.math) || !valid_activation(call.activation)) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  const auto operand = [&](const void* data, const void* const* pointers, int64_t ld,
                           int64_t stride, int32_t type) {
    const bool strided = form == Form::kStrided;
    return Operand{strided ? const_cast<void*>(data) : nullptr,
                   strided ? nullptr : const_cast<void* const*>(pointers), ld, strided ? stride : 0,
                   static_cast<mygemmDataType_t>(type)};
  };
  const auto math = call.math == MYGEMM_MATH_OF_HANDLE
                        ? (context ? context->math_mode : MYGEMM_MATH_DEFAULT)
                        : static_cast<mygemmMathMode_t>(call.math);
  *problem = {
      .transa = call.transa != MYGEMM_OP_N,
      .transb = call.transb != MYGEMM_OP_N,
      .fused = false,  // below
      .m = call.m,
      .n = call.n,
      .k = call.k,
      .a = operand(call.A, call.A_array, call.lda, call.stride_a, call.atype),
      .b = operand(call.B, call.B_array, call.ldb, call.stride_b, call.btype),
      .d = operand(call.D, call.D_array, call.ldd, call.stride_d, call.dtype),
      .epilogue = {.alpha = scalar(context, call.alpha),
                   .beta = scalar(context, call.beta),
                   .bias = call.bias,
                   .stride_bias = call.bias ? call.stride_bias : 0,
                   .activation = static_cast<mygemmActivation_t>(call.activation)},
      .c = operand(call.C, call.C_array, call.ldc, call.stride_c, call.ctype),
      .batch_count = call.batch_count,
      .pointer_arrays = form == Form::kPointers,
      .readable_arrays = context && context->on_host(),
      .math = math,
  };
  RETURN_IF_ERROR(supported_types(*problem));
  if (call.batch_count == 1) problem->c.stride = problem->d.stride;  // one matrix has none
  if (!problem->c.data && !problem->c.pointers) problem->c = problem->d;
  problem->update_fused();
  return MYGEMM_STATUS_SUCCESS;
}

// In explain calls and workspace queries, leading dimensions of 0 mean the smallest legal ones.
void complete_leading_dimensions(GemmProblem* p) {
  const bool in_place = p->in_place();
  const auto complete = [](int64_t rows, Operand* operand) {
    if (operand->ld == 0) operand->ld = std::max<int64_t>(1, rows);
  };
  complete(p->a_rows(), &p->a);
  complete(p->b_rows(), &p->b);
  complete(p->m, &p->d);
  if (in_place) {
    p->c = p->d;
  } else {
    complete(p->m, &p->c);
  }
  p->readable_arrays = false;  // no pointer is followed
}

// The descriptor of C = alpha op(A) op(B) + beta C, without its matrices.
mygemmGemm_t plain_product(mygemmOperation_t transa, mygemmOperation_t transb, int64_t m, int64_t n,
                           int64_t k, const float* alpha, const float* beta, int64_t batch_count) {
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = transa;
  call.transb = transb;
  call.m = m;
  call.n = n;
  call.k = k;
  call.batch_count = batch_count;
  call.alpha = alpha;
  call.beta = beta;
  return call;
}

void set_matrices(const float* A, int64_t lda, int64_t stride_a, const float* B, int64_t ldb,
                  int64_t stride_b, const float* C, int64_t ldc, int64_t stride_c,
                  mygemmGemm_t* call) {
  call->A = A;
  call->lda = lda;
  call->stride_a = stride_a;
  call->B = B;
  call->ldb = ldb;
  call->stride_b = stride_b;
  call->D = const_cast<float*>(C);
  call->ldd = ldc;
  call->stride_d = stride_c;
}

// The common body of the shorthands.
Status run_plain(const mygemmContext* context, const mygemmGemm_t& call, Form form) {
  RETURN_IF_ERROR(need_handle(context));
  GemmProblem problem;
  RETURN_IF_ERROR(make_problem(context, call, form, &problem));
  problem.output_is_c = true;
  return run(*context, problem);
}

// A shorthand's problem for explain calls and workspace queries: the scalars are 1 and 0.
Status make_plain(const mygemmContext* context, const mygemmGemm_t& call, GemmProblem* problem) {
  RETURN_IF_ERROR(make_problem(context, call, Form::kStrided, problem));
  problem->epilogue.alpha = {1.0f, nullptr, false};
  problem->epilogue.beta = {0.0f, nullptr, false};
  problem->output_is_c = true;
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mygemm

using namespace mygemm;

extern "C" {

mygemmStatus_t mygemm_sgemm(mygemmHandle_t handle, mygemmOperation_t transa,
                            mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                            const float* alpha, const float* A, int64_t lda, const float* B,
                            int64_t ldb, const float* beta, float* C, int64_t ldc) {
  return mygemm_sgemm_strided_batched(handle, transa, transb, m, n, k, alpha, A, lda, 0, B, ldb, 0,
                                      beta, C, ldc, 0, 1);
}

mygemmStatus_t mygemm_sgemm_strided_batched(mygemmHandle_t handle, mygemmOperation_t transa,
                                            mygemmOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* A,
                                            int64_t lda, int64_t stride_a, const float* B,
                                            int64_t ldb, int64_t stride_b, const float* beta,
                                            float* C, int64_t ldc, int64_t stride_c,
                                            int64_t batch_count) {
  return guarded([&] {
    mygemmGemm_t call = plain_product(transa, transb, m, n, k, alpha, beta, batch_count);
    set_matrices(A, lda, stride_a, B, ldb, stride_b, C, ldc, stride_c, &call);
    return run_plain(handle, call, Form::kStrided);
  });
}

mygemmStatus_t mygemm_sgemm_batched(mygemmHandle_t handle, mygemmOperation_t transa,
                                    mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                                    const float* alpha, const float* const A[], int64_t lda,
                                    const float* const B[], int64_t ldb, const float* beta,
                                    float* const C[], int64_t ldc, int64_t batch_count) {
  return guarded([&] {
    mygemmGemm_t call = plain_product(transa, transb, m, n, k, alpha, beta, batch_count);
    set_matrices(nullptr, lda, 0, nullptr, ldb, 0, nullptr, ldc, 0, &call);
    call.A_array = reinterpret_cast<const void* const*>(A);
    call.B_array = reinterpret_cast<const void* const*>(B);
    call.D_array = reinterpret_cast<void* const*>(C);
    return run_plain(handle, call, Form::kPointers);
  });
}

mygemmStatus_t mygemm_gemm(mygemmHandle_t handle, const mygemmGemm_t* call) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    RETURN_IF_ERROR(read_call(call));
    GemmProblem problem;
    RETURN_IF_ERROR(make_problem(handle, *call, form_of(*call), &problem));
    return run(*handle, problem);
  });
}

mygemmStatus_t mygemm_sgemm_workspace_size(mygemmHandle_t handle, mygemmOperation_t transa,
                                           mygemmOperation_t transb, int64_t m, int64_t n,
                                           int64_t k, int64_t batch_count, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    GemmProblem problem;
    RETURN_IF_ERROR(make_plain(
        handle, plain_product(transa, transb, m, n, k, nullptr, nullptr, batch_count), &problem));
    complete_leading_dimensions(&problem);
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_gemm_workspace_size(mygemmHandle_t handle, const mygemmGemm_t* call,
                                          size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    RETURN_IF_ERROR(read_call(call));
    GemmProblem problem;
    RETURN_IF_ERROR(make_problem(handle, *call, form_of(*call), &problem));
    complete_leading_dimensions(&problem);
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_explain_sgemm(mygemmHandle_t handle, const char* device,
                                    mygemmOperation_t transa, mygemmOperation_t transb, int64_t m,
                                    int64_t n, int64_t k, const float* A, int64_t lda,
                                    int64_t stride_a, const float* B, int64_t ldb, int64_t stride_b,
                                    const float* C, int64_t ldc, int64_t stride_c,
                                    int64_t batch_count, char* text, size_t capacity,
                                    size_t* length) {
  return guarded([&] {
    mygemmGemm_t call = plain_product(transa, transb, m, n, k, nullptr, nullptr, batch_count);
    set_matrices(A, lda, stride_a, B, ldb, stride_b, C, ldc, stride_c, &call);
    GemmProblem problem;
    RETURN_IF_ERROR(make_plain(handle, call, &problem));
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

mygemmStatus_t mygemm_explain_gemm(mygemmHandle_t handle, const char* device,
                                   const mygemmGemm_t* call, char* text, size_t capacity,
                                   size_t* length) {
  return guarded([&] {
    RETURN_IF_ERROR(read_call(call));
    GemmProblem problem;
    RETURN_IF_ERROR(make_problem(handle, *call, form_of(*call), &problem));
    complete_leading_dimensions(&problem);
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

}  // extern "C"
