// The extern "C" functions of matrix products: mygemm_gemm and its shorthands, mygemm_sgemm and its
// siblings, which build the same problem.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "api.h"
#include "api_gemm.h"
#include "gemm_steps.h"
#include "validate.h"

namespace mygemm {
namespace {

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

// Callers of the first version end before invariance.
constexpr size_t kFirstSize = offsetof(mygemmGemm_t, invariance);

// The field of a caller who knows it.
int invariance_of(const mygemmGemm_t& call) {
  return call.struct_size == kFirstSize ? MYGEMM_INVARIANCE_OF_HANDLE : call.invariance;
}

// The arguments that all products have, before their enumerations are checked.
struct GemmShape {
  int transa, transb;
  int64_t m, n, k;
  int64_t batch_count;
  bool pointer_arrays = false;
};

bool valid_operations(const GemmShape& shape) {
  return valid_operation("transa", shape.transa) && valid_operation("transb", shape.transb);
}

// D = alpha op(A) op(B) + beta D. The handle, where there is one, tells where alpha and beta are,
// the math mode and the invariance.
GemmProblem plain_product(const mygemmContext* context, const GemmShape& shape, const void* alpha,
                          const Operand& a, const Operand& b, const void* beta, const Operand& d) {
  return {.transa = shape.transa != MYGEMM_OP_N,
          .transb = shape.transb != MYGEMM_OP_N,
          .fused = false,
          .invariant = context && context->invariance == MYGEMM_INVARIANCE_BATCH,
          .m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .a = a,
          .b = b,
          .d = d,
          .epilogue = {.alpha = scalar(context, alpha), .beta = scalar(context, beta)},
          .c = d,
          .batch_count = shape.batch_count,
          .pointer_arrays = shape.pointer_arrays,
          .readable_arrays = context && context->on_host(),
          .math = context ? context->math_mode : MYGEMM_MATH_DEFAULT};
}

// Problems hold inputs and outputs in the same struct; inputs are never written through it.
Operand strided(const float* data, int64_t ld, int64_t stride) {
  return {const_cast<float*>(data), nullptr, ld, stride};
}
Operand array(const float* const* pointers, int64_t ld) {
  return {nullptr, reinterpret_cast<void* const*>(const_cast<float* const*>(pointers)), ld, 0};
}

// The common body of the shorthands.
Status run_plain(const mygemmContext* context, const GemmShape& shape, const float* alpha,
                 const Operand& a, const Operand& b, const float* beta, const Operand& c) {
  RETURN_IF_ERROR(need_handle(context));
  if (!valid_operations(shape)) return MYGEMM_STATUS_INVALID_VALUE;
  GemmProblem problem = plain_product(context, shape, alpha, a, b, beta, c);
  problem.output_is_c = true;
  return run(*context, problem);
}

// A shorthand's problem for explain calls and workspace queries: the scalars are 1 and 0.
Status make_plain(const mygemmContext* context, const GemmShape& shape, const Operand& a,
                  const Operand& b, const Operand& c, GemmProblem* problem) {
  if (!valid_operations(shape)) return MYGEMM_STATUS_INVALID_VALUE;
  *problem = plain_product(context, shape, nullptr, a, b, nullptr, c);
  problem->epilogue.alpha = {1.0f, nullptr, false};
  problem->epilogue.beta = {0.0f, nullptr, false};
  problem->output_is_c = true;
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace

Status read_call(const mygemmGemm_t* call) {
  RETURN_IF_ERROR(need_result("call", call));
  const bool first = call->struct_size == kFirstSize;
  return check_struct("call", "MYGEMM_GEMM_INIT", call, first ? kFirstSize : sizeof *call);
}

Status make_problem(const mygemmContext* context, const mygemmGemm_t& call, GemmProblem* problem) {
  const bool arrays = call.D_array != nullptr;
  const GemmShape shape{call.transa, call.transb, call.m, call.n, call.k, call.batch_count, arrays};
  if (!valid_operations(shape) || !valid_data_type("atype", call.atype) ||
      !valid_data_type("btype", call.btype) || !valid_data_type("ctype", call.ctype) ||
      !valid_data_type("dtype", call.dtype) || !valid_product_math(call.math) ||
      !valid_activation(call.activation) || !valid_sums(call.sums_of) || !valid_fill(call.fill) ||
      !valid_product_invariance(invariance_of(call))) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  const auto operand = [&](const void* data, const void* const* pointers, int64_t ld,
                           int64_t stride, int32_t type) {
    return Operand{arrays ? nullptr : const_cast<void*>(data),
                   arrays ? const_cast<void* const*>(pointers) : nullptr, ld, arrays ? 0 : stride,
                   static_cast<mygemmDataType_t>(type)};
  };
  *problem =
      plain_product(context, shape, call.alpha,
                    operand(call.A, call.A_array, call.lda, call.stride_a, call.atype),
                    operand(call.B, call.B_array, call.ldb, call.stride_b, call.btype), call.beta,
                    operand(call.D, call.D_array, call.ldd, call.stride_d, call.dtype));
  problem->epilogue.bias = call.bias;
  problem->epilogue.stride_bias = call.bias ? call.stride_bias : 0;
  problem->epilogue.activation = static_cast<mygemmActivation_t>(call.activation);
  if (call.activation != MYGEMM_ACTIVATION_NONE) problem->epilogue.aux = call.aux;
  if (problem->epilogue.has_aux()) {
    problem->epilogue.ldaux = call.ldaux;
    problem->epilogue.stride_aux = call.stride_aux;
  }
  if (call.sums_of != MYGEMM_SUMS_NONE) {
    problem->sums = {static_cast<mygemmSums_t>(call.sums_of), static_cast<float*>(call.sums),
                     call.stride_sums};
  }
  problem->fill = static_cast<mygemmFill_t>(call.fill);
  if (call.math != MYGEMM_MATH_OF_HANDLE) problem->math = static_cast<mygemmMathMode_t>(call.math);
  if (const int invariance = invariance_of(call); invariance != MYGEMM_INVARIANCE_OF_HANDLE) {
    problem->invariant = invariance == MYGEMM_INVARIANCE_BATCH;
  }
  const Operand c = operand(call.C, call.C_array, call.ldc, call.stride_c, call.ctype);
  const bool c_is_d = !c.data && !c.pointers;
  if (!c_is_d) {
    problem->c = c;
    if (call.batch_count == 1) problem->c.stride = problem->d.stride;  // one matrix has none
  }
  problem->c.type = c.type;
  problem->update_fused();
  return supported_types(*problem);
}

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
  Epilogue& epilogue = p->epilogue;
  if (epilogue.has_aux() && epilogue.ldaux == 0) {
    const int64_t rows = std::max<int64_t>(1, p->m), word = epilogue.aux_is_bits() ? 32 : 1;
    epilogue.ldaux = ceil_div(std::min(rows, INT64_MAX - word), word) * word;
  }
  p->update_fused();
  p->readable_arrays = false;  // no pointer is followed
}

}  // namespace mygemm

using namespace mygemm;

extern "C" {

mygemmStatus_t mygemm_sgemm(mygemmHandle_t handle, mygemmOperation_t transa,
                            mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                            const float* alpha, const float* A, int64_t lda, const float* B,
                            int64_t ldb, const float* beta, float* C, int64_t ldc) {
  return guarded([&] {
    return run_plain(handle, {transa, transb, m, n, k, 1}, alpha, strided(A, lda, 0),
                     strided(B, ldb, 0), beta, strided(C, ldc, 0));
  });
}

mygemmStatus_t mygemm_sgemm_strided_batched(mygemmHandle_t handle, mygemmOperation_t transa,
                                            mygemmOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* A,
                                            int64_t lda, int64_t stride_a, const float* B,
                                            int64_t ldb, int64_t stride_b, const float* beta,
                                            float* C, int64_t ldc, int64_t stride_c,
                                            int64_t batch_count) {
  return guarded([&] {
    return run_plain(handle, {transa, transb, m, n, k, batch_count}, alpha,
                     strided(A, lda, stride_a), strided(B, ldb, stride_b), beta,
                     strided(C, ldc, stride_c));
  });
}

mygemmStatus_t mygemm_sgemm_batched(mygemmHandle_t handle, mygemmOperation_t transa,
                                    mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                                    const float* alpha, const float* const A[], int64_t lda,
                                    const float* const B[], int64_t ldb, const float* beta,
                                    float* const C[], int64_t ldc, int64_t batch_count) {
  return guarded([&] {
    return run_plain(handle, {transa, transb, m, n, k, batch_count, true}, alpha, array(A, lda),
                     array(B, ldb), beta, array(C, ldc));
  });
}

mygemmStatus_t mygemm_gemm(mygemmHandle_t handle, const mygemmGemm_t* call) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    RETURN_IF_ERROR(read_call(call));
    GemmProblem problem;
    RETURN_IF_ERROR(make_problem(handle, *call, &problem));
    return run(*handle, problem, compute_steps);
  });
}

mygemmStatus_t mygemm_sgemm_workspace_size(mygemmHandle_t handle, mygemmOperation_t transa,
                                           mygemmOperation_t transb, int64_t m, int64_t n,
                                           int64_t k, int64_t batch_count, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    GemmProblem problem;
    RETURN_IF_ERROR(
        make_plain(handle, {transa, transb, m, n, k, batch_count}, {}, {}, {}, &problem));
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
    RETURN_IF_ERROR(make_problem(handle, *call, &problem));
    complete_leading_dimensions(&problem);
    return query_workspace(*handle, product_step(problem), bytes);
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
    GemmProblem problem;
    RETURN_IF_ERROR(make_plain(handle, {transa, transb, m, n, k, batch_count},
                               strided(A, lda, stride_a), strided(B, ldb, stride_b),
                               strided(C, ldc, stride_c), &problem));
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

mygemmStatus_t mygemm_explain_gemm(mygemmHandle_t handle, const char* device,
                                   const mygemmGemm_t* call, char* text, size_t capacity,
                                   size_t* length) {
  return guarded([&] {
    RETURN_IF_ERROR(read_call(call));
    GemmProblem problem;
    RETURN_IF_ERROR(make_problem(handle, *call, &problem));
    complete_leading_dimensions(&problem);
    return explain_call(handle, device, product_step(problem), text, capacity, length);
  });
}

}  // extern "C"
