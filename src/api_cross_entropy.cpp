// The extern "C" functions of mygemm_cross_entropy: each builds a problem from the caller's
// descriptor and passes it to the common path in call.h.
#include <algorithm>

#include "api.h"
#include "mygemm/mygemm.h"
#include "validate.h"

namespace mygemm {
namespace {

// Checks the descriptor's struct_size, enumerations and types, and makes a problem of it.
Status make_problem(const mygemmCrossEntropy_t* call, CrossEntropyProblem* problem) {
  RETURN_IF_ERROR(need_result("call", call));
  RETURN_IF_ERROR(check_struct("call", "MYGEMM_CROSS_ENTROPY_INIT", call, sizeof *call));
  if (!valid_data_type("xtype", call->xtype) || !valid_data_type("dxtype", call->dxtype) ||
      !valid_index_type("target_type", call->target_type)) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  *problem = {
      .rows = call->rows,
      .cols = call->cols,
      .x = {const_cast<void*>(call->x), static_cast<mygemmDataType_t>(call->xtype), call->ldx},
      .dx = {call->dx, static_cast<mygemmDataType_t>(call->dxtype), call->lddx},
      .targets = call->targets,
      .target_type = static_cast<mygemmIndexType_t>(call->target_type),
      .ignore_index = call->ignore_index,
      .dloss = call->dloss,
      .stride_dloss = call->stride_dloss,
      .loss = call->loss,
      .lse = call->lse,
      .label_smoothing = call->label_smoothing,
      .z_loss = call->z_loss,
      .gradient_scale = call->gradient_scale};
  return MYGEMM_STATUS_SUCCESS;
}

// In explain calls and workspace queries, leading dimensions of 0 mean the smallest legal ones.
void complete_leading_dimensions(CrossEntropyProblem* p) {
  for (TypedMatrix* matrix : {&p->x, &p->dx}) {
    if (matrix->ld == 0) matrix->ld = std::max<int64_t>(1, p->cols);
  }
}

}  // namespace
}  // namespace mygemm

using namespace mygemm;

extern "C" {

mygemmStatus_t mygemm_cross_entropy(mygemmHandle_t handle, const mygemmCrossEntropy_t* call) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    CrossEntropyProblem problem;
    RETURN_IF_ERROR(make_problem(call, &problem));
    return run(*handle, problem);
  });
}

mygemmStatus_t mygemm_cross_entropy_workspace_size(mygemmHandle_t handle,
                                                   const mygemmCrossEntropy_t* call,
                                                   size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    CrossEntropyProblem problem;
    RETURN_IF_ERROR(make_problem(call, &problem));
    complete_leading_dimensions(&problem);
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_explain_cross_entropy(mygemmHandle_t handle, const char* device,
                                            const mygemmCrossEntropy_t* call, char* text,
                                            size_t capacity, size_t* length) {
  return guarded([&] {
    CrossEntropyProblem problem;
    RETURN_IF_ERROR(make_problem(call, &problem));
    complete_leading_dimensions(&problem);
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

}  // extern "C"
