// The extern "C" functions of grouped products: each builds a problem from the caller's two
// descriptors and passes it to the common path in call.h.
#include <cstring>

#include "api.h"
#include "api_gemm.h"
#include "grouped_sizes.h"
#include "validate.h"

namespace mygemm {
namespace {

// Makes the groups, of which it checks the enumerations, and which arrays go together. host: they
// are for the host backend, which has no other memory.
Status make_groups(bool host, const mygemmGroups_t& given, int64_t products, Groups* groups) {
  if (!valid_index_type("index_type", given.index_type) ||
      !valid_pointer_mode("location", given.location) || !valid_flag("stacked", given.stacked) ||
      !valid_flag("ends", given.ends)) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  *groups = {.m = given.m,
             .n = given.n,
             .k = given.k,
             .lda = given.lda,
             .ldb = given.ldb,
             .ldc = given.ldc,
             .ldd = given.ldd,
             .total = given.total,
             .type = static_cast<mygemmIndexType_t>(given.index_type)};
  groups->on_device = given.location == MYGEMM_POINTER_MODE_DEVICE && !host;
  if (groups->all_alike()) groups->on_device = false;
  if (!given.stacked) {
    return given.ends ? fail(MYGEMM_STATUS_INVALID_VALUE, "ends = 1, but stacked = 0")
                      : MYGEMM_STATUS_SUCCESS;
  }
  if (products == 0) return MYGEMM_STATUS_SUCCESS;  // arrays of no element may be NULL
  if ((given.m != nullptr) + (given.n != nullptr) + (given.k != nullptr) != 1) {
    return fail(MYGEMM_STATUS_INVALID_VALUE,
                "stacked = 1, but not exactly one of m, n and k of groups is an array");
  }
  if (groups->has_leading_dimensions()) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "%s of groups is an array, but stacked = 1",
                given.lda   ? "lda"
                : given.ldb ? "ldb"
                : given.ldc ? "ldc"
                            : "ldd");
  }
  groups->stacked = given.m ? Stacked::kM : given.n ? Stacked::kN : Stacked::kK;
  groups->ends = given.ends != 0;
  return MYGEMM_STATUS_SUCCESS;
}

Status make_problem(const mygemmContext* context, bool host, const mygemmGemm_t* call,
                    const mygemmGroups_t* groups, GroupedProblem* problem) {
  RETURN_IF_ERROR(read_call(call));
  RETURN_IF_ERROR(need_result("groups", groups));
  RETURN_IF_ERROR(check_struct("groups", "MYGEMM_GROUPS_INIT", groups, sizeof *groups));
  RETURN_IF_ERROR(make_problem(context, *call, &problem->most));
  RETURN_IF_ERROR(make_groups(host, *groups, call->batch_count, &problem->groups));
  GemmProblem& p = problem->most;
  // Matrices that products share have no strides.
  const Stacked stacked = problem->groups.stacked;
  if (shares_a(stacked)) p.a.stride = 0;
  if (shares_b(stacked)) p.b.stride = 0;
  if (shares_d(stacked)) p.c.stride = p.d.stride = 0;
  p.update_fused();
  const char* extra = p.epilogue.has_aux()            ? "aux"
                      : p.sums.of != MYGEMM_SUMS_NONE ? "sums_of"
                      : p.fill != MYGEMM_FILL_FULL    ? "fill"
                                                      : nullptr;
  if (extra) return fail(MYGEMM_STATUS_NOT_SUPPORTED, "grouped products have no %s", extra);
  if (p.pointer_arrays && stacked != Stacked::kNone) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "stacked = 1, but D_array is not NULL");
  }
  return MYGEMM_STATUS_SUCCESS;
}

// Matrices that products share have the leading dimension of all of them.
void complete_leading_dimensions(GroupedProblem* problem) {
  GemmProblem whole = with_total(*problem);
  complete_leading_dimensions(&whole);
  problem->most.a.ld = whole.a.ld, problem->most.b.ld = whole.b.ld;
  problem->most.c.ld = whole.c.ld, problem->most.d.ld = whole.d.ld;
  problem->most.update_fused();
}

}  // namespace
}  // namespace mygemm

using namespace mygemm;

extern "C" {

mygemmStatus_t mygemm_gemm_grouped(mygemmHandle_t handle, const mygemmGemm_t* call,
                                   const mygemmGroups_t* groups) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    GroupedProblem problem;
    RETURN_IF_ERROR(make_problem(handle, handle->on_host(), call, groups, &problem));
    return run(*handle, problem);
  });
}

mygemmStatus_t mygemm_gemm_grouped_workspace_size(mygemmHandle_t handle, const mygemmGemm_t* call,
                                                  const mygemmGroups_t* groups, size_t* bytes) {
  return guarded([&] {
    RETURN_IF_ERROR(need_handle(handle));
    GroupedProblem problem;
    RETURN_IF_ERROR(make_problem(handle, handle->on_host(), call, groups, &problem));
    complete_leading_dimensions(&problem);
    return query_workspace(*handle, problem, bytes);
  });
}

mygemmStatus_t mygemm_explain_gemm_grouped(mygemmHandle_t handle, const char* device,
                                           const mygemmGemm_t* call, const mygemmGroups_t* groups,
                                           char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    GroupedProblem problem;
    // Arrays that are said to be on the device are read for a handle on the host alone.
    const bool host = handle && handle->on_host() && (!device || std::strcmp(device, "host") == 0);
    RETURN_IF_ERROR(make_problem(handle, host, call, groups, &problem));
    complete_leading_dimensions(&problem);
    return explain_call(handle, device, problem, text, capacity, length);
  });
}

}  // extern "C"
