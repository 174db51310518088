// The front door: the extern "C" functions. Each builds a problem and hands it to the common path
// in call.h. No logic of its own. Nothing throws across this boundary.
#include <algorithm>
#include <cmath>
#include <new>

#include "call.h"
#include "mygemm/mygemm.h"
#include "validate.h"

namespace mygemm {
namespace {

// Runs `body`, which returns a Status, and turns what it throws (std::bad_alloc) into one.
template <class Body>
Status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(MYGEMM_STATUS_ALLOC_FAILED, "host memory ran out");
  } catch (...) {
    return fail(MYGEMM_STATUS_INTERNAL_ERROR, "an unexpected exception was thrown");
  }
}

// alpha or beta as kernels get it. What validate will refuse is not followed.
Scalar scalar(const mygemmContext& context, const float* address) {
  const bool on_device = context.pointer_mode == MYGEMM_POINTER_MODE_DEVICE && !context.on_host();
  const bool readable = address && reinterpret_cast<uintptr_t>(address) % alignof(float) == 0;
  const float value = readable && !on_device ? *address : std::nanf("");
  return {value, address, on_device};
}

struct GemmShape {
  mygemmOperation_t transa, transb;
  int64_t m, n, k;
  bool pointer_arrays = false;
};

// A product from checked enums. What depends on the handle is still to be set.
Status make_gemm(const GemmShape& shape, const GemmOperand<const float>& a,
                 const GemmOperand<const float>& b, const GemmOperand<float>& c,
                 int64_t batch_count, GemmProblem* problem) {
  if (!valid_operation("transa", shape.transa) || !valid_operation("transb", shape.transb)) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  *problem = {.transa = shape.transa != MYGEMM_OP_N,
              .transb = shape.transb != MYGEMM_OP_N,
              .m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .alpha = {1.0f, nullptr, false},
              .beta = {0.0f, nullptr, false},
              .a = a,
              .b = b,
              .c = c,
              .batch_count = batch_count,
              .pointer_arrays = shape.pointer_arrays,
              .readable_arrays = false,
              .math = MYGEMM_MATH_DEFAULT};
  return MYGEMM_STATUS_SUCCESS;
}

// The common body of the three products.
Status run_gemm(const mygemmContext* context, const GemmShape& shape, const float* alpha,
                const GemmOperand<const float>& a, const GemmOperand<const float>& b,
                const float* beta, const GemmOperand<float>& c, int64_t batch_count) {
  RETURN_IF_ERROR(need_handle(context));
  GemmProblem problem;
  RETURN_IF_ERROR(make_gemm(shape, a, b, c, batch_count, &problem));
  problem.alpha = scalar(*context, alpha);
  problem.beta = scalar(*context, beta);
  problem.readable_arrays = context->on_host();
  problem.math = context->math_mode;
  return run(*context, problem);
}

Status check_softmax_enums(const SoftmaxProblem& p) {
  const bool ok = valid_softmax_mode(p.mode) &&
                  valid_data_type(p.backward ? "ytype" : "xtype", p.in.type) &&
                  (!p.backward || valid_data_type("dytype", p.dy.type)) &&
                  valid_data_type(p.backward ? "dxtype" : "ytype", p.out.type);
  return ok ? MYGEMM_STATUS_SUCCESS : MYGEMM_STATUS_INVALID_VALUE;
}

Status run_softmax(const mygemmContext* context, const SoftmaxProblem& problem) {
  RETURN_IF_ERROR(need_handle(context));
  RETURN_IF_ERROR(check_softmax_enums(problem));
  return run(*context, problem);
}

// Problems hold inputs and outputs in the same struct; inputs are never written through it.
TypedMatrix matrix(const void* data, mygemmDataType_t type, int64_t ld) {
  return {const_cast<void*>(data), type, ld};
}

template <class T>
Status get(const mygemmContext* context, const char* argument, T* result, T value) {
  RETURN_IF_ERROR(need_handle(context));
  RETURN_IF_ERROR(need_result(argument, result));
  *result = value;
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mygemm

using namespace mygemm;

extern "C" {

int mygemm_version(void) {
  return 10000 * MYGEMM_VERSION_MAJOR + 100 * MYGEMM_VERSION_MINOR + MYGEMM_VERSION_PATCH;
}

const char* mygemm_status_string(mygemmStatus_t status) {
  switch (status) {
    case MYGEMM_STATUS_SUCCESS: return "success";
    case MYGEMM_STATUS_NOT_INITIALIZED: return "not initialized";
    case MYGEMM_STATUS_ALLOC_FAILED: return "allocation failed";
    case MYGEMM_STATUS_INVALID_VALUE: return "invalid value";
    case MYGEMM_STATUS_ARCH_MISMATCH: return "architecture mismatch";
    case MYGEMM_STATUS_EXECUTION_FAILED: return "execution failed";
    case MYGEMM_STATUS_INTERNAL_ERROR: return "internal error";
    case MYGEMM_STATUS_NOT_SUPPORTED: return "not supported";
  }
  return "unknown status";
}

const char* mygemm_last_error(void) { return last_error_text(); }

mygemmStatus_t mygemm_create(mygemmHandle_t* handle) {
  return mygemm_create_with_config(handle, nullptr);
}

mygemmStatus_t mygemm_create_with_config(mygemmHandle_t* handle, const mygemmConfig_t* config) {
  return guarded([&] {
    RETURN_IF_ERROR(need_result("handle", handle));
    *handle = nullptr;
    return create_context(config, handle);
  });
}

mygemmStatus_t mygemm_destroy(mygemmHandle_t handle) {
  delete handle;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_backend(mygemmHandle_t handle, mygemmBackend_t* backend) {
  return get(handle, "backend", backend,
             handle && handle->on_host() ? MYGEMM_BACKEND_HOST : MYGEMM_BACKEND_CUDA);
}

mygemmStatus_t mygemm_set_stream(mygemmHandle_t handle, mygemmStream_t stream) {
  RETURN_IF_ERROR(need_handle(handle));
  handle->stream = stream;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_stream(mygemmHandle_t handle, mygemmStream_t* stream) {
  return get(handle, "stream", stream, handle ? handle->stream : nullptr);
}

mygemmStatus_t mygemm_set_workspace(mygemmHandle_t handle, void* workspace, size_t bytes) {
  RETURN_IF_ERROR(need_handle(handle));
  if (!workspace && bytes > 0) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "workspace is NULL, but bytes = %zu", bytes);
  }
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "workspace = %p is not a multiple of 256 bytes",
                workspace);
  }
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_workspace(mygemmHandle_t handle, void** workspace, size_t* bytes) {
  RETURN_IF_ERROR(get(handle, "workspace", workspace, handle ? handle->workspace : nullptr));
  return get(handle, "bytes", bytes, handle->workspace_bytes);
}

mygemmStatus_t mygemm_set_pointer_mode(mygemmHandle_t handle, mygemmPointerMode_t mode) {
  RETURN_IF_ERROR(need_handle(handle));
  if (mode != MYGEMM_POINTER_MODE_HOST && mode != MYGEMM_POINTER_MODE_DEVICE) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "mode = %d is not a mygemmPointerMode_t", mode);
  }
  handle->pointer_mode = mode;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_pointer_mode(mygemmHandle_t handle, mygemmPointerMode_t* mode) {
  return get(handle, "mode", mode, handle ? handle->pointer_mode : MYGEMM_POINTER_MODE_HOST);
}

mygemmStatus_t mygemm_set_math_mode(mygemmHandle_t handle, mygemmMathMode_t mode) {
  RETURN_IF_ERROR(need_handle(handle));
  if (mode != MYGEMM_MATH_DEFAULT && mode != MYGEMM_MATH_STRICT) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "mode = %d is not a mygemmMathMode_t", mode);
  }
  handle->math_mode = mode;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_math_mode(mygemmHandle_t handle, mygemmMathMode_t* mode) {
  return get(handle, "mode", mode, handle ? handle->math_mode : MYGEMM_MATH_DEFAULT);
}

mygemmStatus_t mygemm_sgemm(mygemmHandle_t handle, mygemmOperation_t transa,
                            mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                            const float* alpha, const float* A, int64_t lda, const float* B,
                            int64_t ldb, const float* beta, float* C, int64_t ldc) {
  return guarded([&] {
    return run_gemm(handle, {transa, transb, m, n, k}, alpha, {A, nullptr, lda, 0},
                    {B, nullptr, ldb, 0}, beta, {C, nullptr, ldc, 0}, 1);
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
    return run_gemm(handle, {transa, transb, m, n, k}, alpha, {A, nullptr, lda, stride_a},
                    {B, nullptr, ldb, stride_b}, beta, {C, nullptr, ldc, stride_c}, batch_count);
  });
}

mygemmStatus_t mygemm_sgemm_batched(mygemmHandle_t handle, mygemmOperation_t transa,
                                    mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                                    const float* alpha, const float* const A[], int64_t lda,
                                    const float* const B[], int64_t ldb, const float* beta,
                                    float* const C[], int64_t ldc, int64_t batch_count) {
  return guarded([&] {
    return run_gemm(handle, {transa, transb, m, n, k, true}, alpha, {nullptr, A, lda, 0},
                    {nullptr, B, ldb, 0}, beta, {nullptr, C, ldc, 0}, batch_count);
  });
}

mygemmStatus_t mygemm_softmax(mygemmHandle_t handle, mygemmSoftmaxMode_t mode, int64_t rows,
                              int64_t cols, float scale, const void* x, mygemmDataType_t xtype,
                              int64_t ldx, void* y, mygemmDataType_t ytype, int64_t ldy) {
  return guarded([&] {
    return run_softmax(handle, {mode, false, rows, cols, scale, matrix(x, xtype, ldx),
                                TypedMatrix{}, matrix(y, ytype, ldy)});
  });
}

mygemmStatus_t mygemm_softmax_backward(mygemmHandle_t handle, mygemmSoftmaxMode_t mode,
                                       int64_t rows, int64_t cols, float scale, const void* y,
                                       mygemmDataType_t ytype, int64_t ldy, const void* dy,
                                       mygemmDataType_t dytype, int64_t lddy, void* dx,
                                       mygemmDataType_t dxtype, int64_t lddx) {
  return guarded([&] {
    return run_softmax(handle, {mode, true, rows, cols, scale, matrix(y, ytype, ldy),
                                matrix(dy, dytype, lddy), matrix(dx, dxtype, lddx)});
  });
}

mygemmStatus_t mygemm_transpose(mygemmHandle_t handle, size_t element_size, int64_t rows,
                                int64_t cols, const void* in, int64_t ldin, void* out,
                                int64_t ldout) {
  return mygemm_transpose_strided_batched(handle, element_size, rows, cols, in, ldin, 0, out, ldout,
                                          0, 1);
}

mygemmStatus_t mygemm_transpose_strided_batched(mygemmHandle_t handle, size_t element_size,
                                                int64_t rows, int64_t cols, const void* in,
                                                int64_t ldin, int64_t stride_in, void* out,
                                                int64_t ldout, int64_t stride_out,
                                                int64_t batch_count) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    return run(*handle, TransposeProblem{static_cast<int64_t>(element_size), rows, cols, in, ldin,
                                         stride_in, out, ldout, stride_out, batch_count});
  });
}

mygemmStatus_t mygemm_sgemm_workspace_size(mygemmHandle_t handle, mygemmOperation_t transa,
                                           mygemmOperation_t transb, int64_t m, int64_t n,
                                           int64_t k, int64_t batch_count, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    GemmProblem problem;
    RETURN_IF_ERROR(make_gemm({transa, transb, m, n, k}, {}, {}, {}, batch_count, &problem));
    problem.a.ld = std::max<int64_t>(1, problem.a_rows());
    problem.b.ld = std::max<int64_t>(1, problem.b_rows());
    problem.c.ld = std::max<int64_t>(1, m);
    problem.math = handle->math_mode;
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_softmax_workspace_size(mygemmHandle_t handle, mygemmSoftmaxMode_t mode,
                                             int64_t rows, int64_t cols, mygemmDataType_t xtype,
                                             mygemmDataType_t ytype, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    const int64_t ld = std::max<int64_t>(1, cols);
    const SoftmaxProblem problem{mode,          false,
                                 rows,          cols,
                                 1.0f,          matrix(nullptr, xtype, ld),
                                 TypedMatrix{}, matrix(nullptr, ytype, ld)};
    RETURN_IF_ERROR(check_softmax_enums(problem));
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_transpose_workspace_size(mygemmHandle_t handle, size_t element_size,
                                               int64_t rows, int64_t cols, int64_t batch_count,
                                               int in_place, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    // Only whether the addresses are equal matters to the plan.
    void* const in = nullptr;
    void* const out = in_place ? in : reinterpret_cast<void*>(uintptr_t{256});
    return query_workspace(*handle,
                           TransposeProblem{static_cast<int64_t>(element_size), rows, cols, in,
                                            std::max<int64_t>(1, cols), 0, out,
                                            std::max<int64_t>(1, rows), 0, batch_count},
                           bytes);
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
    RETURN_IF_ERROR(make_gemm(
        {transa, transb, m, n, k}, {A, nullptr, lda, stride_a}, {B, nullptr, ldb, stride_b},
        {const_cast<float*>(C), nullptr, ldc, stride_c}, batch_count, &problem));
    problem.math = handle ? handle->math_mode : MYGEMM_MATH_DEFAULT;
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

mygemmStatus_t mygemm_explain_softmax(mygemmHandle_t handle, const char* device,
                                      mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols,
                                      const void* x, mygemmDataType_t xtype, int64_t ldx,
                                      const void* y, mygemmDataType_t ytype, int64_t ldy,
                                      char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    const SoftmaxProblem problem{
        mode, false, rows, cols, 1.0f, matrix(x, xtype, ldx), TypedMatrix{}, matrix(y, ytype, ldy)};
    RETURN_IF_ERROR(check_softmax_enums(problem));
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

mygemmStatus_t mygemm_explain_softmax_backward(mygemmHandle_t handle, const char* device,
                                               mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols,
                                               const void* y, mygemmDataType_t ytype, int64_t ldy,
                                               const void* dy, mygemmDataType_t dytype,
                                               int64_t lddy, const void* dx,
                                               mygemmDataType_t dxtype, int64_t lddx, char* text,
                                               size_t capacity, size_t* length) {
  return guarded([&] {
    const SoftmaxProblem problem{mode,
                                 true,
                                 rows,
                                 cols,
                                 1.0f,
                                 matrix(y, ytype, ldy),
                                 matrix(dy, dytype, lddy),
                                 matrix(dx, dxtype, lddx)};
    RETURN_IF_ERROR(check_softmax_enums(problem));
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

mygemmStatus_t mygemm_explain_transpose(mygemmHandle_t handle, const char* device,
                                        size_t element_size, int64_t rows, int64_t cols,
                                        const void* in, int64_t ldin, int64_t stride_in,
                                        const void* out, int64_t ldout, int64_t stride_out,
                                        int64_t batch_count, char* text, size_t capacity,
                                        size_t* length) {
  return guarded([&] {
    // NULL stands for some aligned address that is not the other operand's.
    const void* const other = reinterpret_cast<const void*>(uintptr_t{256});
    const TransposeProblem problem{
        static_cast<int64_t>(element_size),         rows,  cols,       in,         ldin, stride_in,
        const_cast<void*>(out || in ? out : other), ldout, stride_out, batch_count};
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

}  // extern "C"
