// The extern "C" functions, except those of descriptors (api_gemm.cpp, api_cross_entropy.cpp). Each
// builds a problem and passes it to the common path in call.h; there is no other logic here.
#include "api.h"

#include <algorithm>

#include "mygemm/mygemm.h"
#include "validate.h"

namespace mygemm {
namespace {

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
  handle->find_own_workspace();
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
  handle->own_workspace_bytes = 0;
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
  if (mode != MYGEMM_MATH_DEFAULT && mode != MYGEMM_MATH_STRICT && mode != MYGEMM_MATH_FAST) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "mode = %d is not a mygemmMathMode_t", mode);
  }
  handle->math_mode = mode;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_math_mode(mygemmHandle_t handle, mygemmMathMode_t* mode) {
  return get(handle, "mode", mode, handle ? handle->math_mode : MYGEMM_MATH_DEFAULT);
}

mygemmStatus_t mygemm_set_invariance(mygemmHandle_t handle, mygemmInvariance_t mode) {
  RETURN_IF_ERROR(need_handle(handle));
  if (mode != MYGEMM_INVARIANCE_NONE && mode != MYGEMM_INVARIANCE_BATCH) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "mode = %d is not a mygemmInvariance_t", mode);
  }
  handle->invariance = mode;
  return MYGEMM_STATUS_SUCCESS;
}

mygemmStatus_t mygemm_get_invariance(mygemmHandle_t handle, mygemmInvariance_t* mode) {
  return get(handle, "mode", mode, handle ? handle->invariance : MYGEMM_INVARIANCE_NONE);
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
