// The extern "C" functions of mygemm_softmax_ex: each builds a problem from the caller's descriptor
// and passes it to the common path in call.h.
#include <algorithm>

#include "api.h"
#include "mygemm/mygemm.h"
#include "validate.h"

namespace mygemm {
namespace {

// A problem, and what it has more than one of mygemm_softmax, which it points to where that is
// something.
struct MaskedSoftmax {
  SoftmaxProblem problem;
  SoftmaxMasking masking;
};

TypedMatrix matrix(const void* data, int32_t type, int64_t ld) {
  return {const_cast<void*>(data), static_cast<mygemmDataType_t>(type), ld};
}

bool zero_or_one(const char* argument, int value) {
  if (value == 0 || value == 1) return true;
  fail(MYGEMM_STATUS_INVALID_VALUE, "%s = %d is neither 0 nor 1", argument, value);
  return false;
}

bool enumerations_ok(const mygemmSoftmax_t& call) {
  const bool reads_x = !call.backward || call.softcap != 0.0f;
  return valid_softmax_mode(call.mode) && zero_or_one("backward", call.backward) &&
         zero_or_one("causal", call.causal) && valid_empty_rows(call.empty_rows) &&
         (!reads_x || valid_data_type("xtype", call.xtype)) &&
         valid_data_type("ytype", call.ytype) &&
         (!call.backward ||
          (valid_data_type("dytype", call.dytype) && valid_data_type("dxtype", call.dxtype))) &&
         (call.backward || !call.mask || valid_data_type("mask_type", call.mask_type)) &&
         (!call.lengths || valid_index_type("lengths_type", call.lengths_type));
}

// Checks the descriptor's struct_size, enumerations and types, and makes a problem of it.
Status make_problem(const mygemmSoftmax_t* call, MaskedSoftmax* result) {
  RETURN_IF_ERROR(need_result("call", call));
  RETURN_IF_ERROR(check_struct("call", "MYGEMM_SOFTMAX_INIT", call, sizeof *call));
  if (!enumerations_ok(*call)) return MYGEMM_STATUS_INVALID_VALUE;
  const bool backward = call->backward == 1;
  const TypedMatrix x = matrix(call->x, call->xtype, call->ldx);
  const TypedMatrix y = matrix(call->y, call->ytype, call->ldy);
  SoftmaxMasking& m = result->masking;
  m.group_rows = call->group_rows;
  m.batch_groups = call->batch_groups;
  m.softcap = call->softcap;
  if (call->softcap != 0.0f) m.capped_scale = call->scale / call->softcap;
  if (backward && call->softcap != 0.0f) m.x = x;
  if (call->mask && !backward) {
    m.mask = call->mask;
    m.mask_type = static_cast<mygemmDataType_t>(call->mask_type);
    m.mask_strides = {call->mask_stride_batch, call->mask_stride_group, call->mask_stride_row};
    m.mask_stride_col = call->mask_stride_col;
  }
  if (call->lengths) {
    m.lengths = call->lengths;
    m.lengths_type = static_cast<mygemmIndexType_t>(call->lengths_type);
    m.lengths_strides = {call->lengths_stride_batch, call->lengths_stride_group,
                         call->lengths_stride_row};
  }
  m.causal = call->causal == 1;
  constexpr int64_t kMost = SoftmaxMasking::kMostCausalOffset;
  m.causal_offset = std::clamp(m.causal ? call->causal_offset : 0, -kMost, kMost);
  m.empty_rows_are_zero = call->empty_rows == MYGEMM_EMPTY_ROW_ZERO;
  result->problem = {.mode = static_cast<mygemmSoftmaxMode_t>(call->mode),
                     .backward = backward,
                     .rows = call->rows,
                     .cols = call->cols,
                     .scale = call->scale,
                     .in = backward ? y : x,
                     .dy = backward ? matrix(call->dy, call->dytype, call->lddy) : TypedMatrix{},
                     .out = backward ? matrix(call->dx, call->dxtype, call->lddx) : y,
                     .masking = &m};
  return MYGEMM_STATUS_SUCCESS;
}

// In explain calls and workspace queries, leading dimensions of 0 mean the smallest legal ones.
void complete_leading_dimensions(MaskedSoftmax* masked) {
  SoftmaxProblem& p = masked->problem;
  for (TypedMatrix* matrix : {&p.in, &p.dy, &p.out, &masked->masking.x}) {
    if (matrix->ld == 0) matrix->ld = std::max<int64_t>(1, p.cols);
  }
}

}  // namespace
}  // namespace mygemm

using namespace mygemm;

extern "C" {

mygemmStatus_t mygemm_softmax_ex(mygemmHandle_t handle, const mygemmSoftmax_t* call) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    MaskedSoftmax masked;
    RETURN_IF_ERROR(make_problem(call, &masked));
    return run(*handle, masked.problem);
  });
}

mygemmStatus_t mygemm_softmax_ex_workspace_size(mygemmHandle_t handle, const mygemmSoftmax_t* call,
                                                size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    MaskedSoftmax masked;
    RETURN_IF_ERROR(make_problem(call, &masked));
    complete_leading_dimensions(&masked);
    return query_workspace(*handle, masked.problem, bytes);
  });
}

mygemmStatus_t mygemm_explain_softmax_ex(mygemmHandle_t handle, const char* device,
                                         const mygemmSoftmax_t* call, char* text, size_t capacity,
                                         size_t* length) {
  return guarded([&] {
    MaskedSoftmax masked;
    RETURN_IF_ERROR(make_problem(call, &masked));
    complete_leading_dimensions(&masked);
    return explain_call(handle, device, masked.problem, text, capacity, length);
  });
}

}  // extern "C"
