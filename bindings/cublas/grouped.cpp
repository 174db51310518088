// cublasSgemmGroupedBatched under cuBLAS's name: a batch of mygemm for each group, where the groups
// are few or large. cuBLAS computes all groups in one launch, with FFMA.
#include "handle_session.h"
#include "report.h"
#include "take_or_forward.h"

namespace mygemm::cublas {
namespace {

template <class Int>
constexpr auto grouped = [](auto... arguments) { return GroupedCall<Int>{arguments...}; };

template <class Int>
double flop_of(const GroupedCall<Int>& call, Int group) {
  return 2.0 * static_cast<double>(call.m[group]) * static_cast<double>(call.n[group]) *
         static_cast<double>(call.k[group]) * static_cast<double>(call.group_size[group]);
}

// Arguments that are read here, on the host, are there; and there is something to read.
template <class Int>
bool is_readable(const GroupedCall<Int>& call) {
  return call.group_count > 0 && call.transa && call.transb && call.m && call.n && call.k &&
         call.alpha && call.a && call.lda && call.b && call.ldb && call.beta && call.c &&
         call.ldc && call.group_size;
}

// A launch for each of more than kFewGroups groups is worth it from kLargeGroup on, on average:
// 8 groups of 1024 x 512 x 1024 (1.1 GFLOP each) take as long as cuBLAS's launch, 6 of 12 GFLOP
// half as long; a launch costs 6 us, cuBLAS's 20 us for any number of groups (H200).
constexpr int64_t kFewGroups = 3;
constexpr double kLargeGroup = 2e9;

// The product of a group; `first`: the number of its first matrices in the arrays.
template <class Int>
mygemmGemm_t product(const GroupedCall<Int>& call, Int group, int64_t first) {
  const auto operation = [](cublasOperation_t given) { return static_cast<int32_t>(given); };
  mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
  gemm.transa = operation(call.transa[group]), gemm.transb = operation(call.transb[group]);
  gemm.m = call.m[group], gemm.n = call.n[group], gemm.k = call.k[group];
  gemm.batch_count = call.group_size[group];
  gemm.alpha = call.alpha + group, gemm.beta = call.beta + group;
  gemm.A_array = reinterpret_cast<const void* const*>(call.a + first);
  gemm.B_array = reinterpret_cast<const void* const*>(call.b + first);
  gemm.D_array = reinterpret_cast<void* const*>(const_cast<float**>(call.c + first));
  gemm.lda = call.lda[group], gemm.ldb = call.ldb[group], gemm.ldd = call.ldc[group];
  return gemm;
}

// Calls f(product) for each group, until one returns another status than success.
template <class Int, class F>
mygemmStatus_t for_groups(const GroupedCall<Int>& call, const F& f) {
  int64_t first = 0;
  for (Int group = 0; group < call.group_count; ++group) {
    const mygemmStatus_t status = f(product(call, group, first));
    if (status != MYGEMM_STATUS_SUCCESS) return status;
    first += call.group_size[group];
  }
  return MYGEMM_STATUS_SUCCESS;
}

// The workspace that the group wants that wants most. Not success where a group breaks a rule: a
// group must not have been computed when cuBLAS is to refuse the call.
template <class Int>
mygemmStatus_t check(const Session& session, const GroupedCall<Int>& call, size_t* bytes) {
  return for_groups(call, [&](const mygemmGemm_t& gemm) {
    size_t wanted = 0;
    if (gemm.lda == 0 || gemm.ldb == 0 || gemm.ldd == 0) return MYGEMM_STATUS_INVALID_VALUE;
    const mygemmStatus_t status = mygemm_gemm_workspace_size(session.handle, &gemm, &wanted);
    *bytes = *bytes < wanted ? wanted : *bytes;
    return status;
  });
}

}  // namespace

template <class Int>
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle,
                                   const GroupedCall<Int>& call) {
  Session session;
  HandleSettings of;
  double flop = 0;
  Outcome outcome = is_readable(call) ? kTaken : kLeftToCublas;
  for (Int group = 0; outcome == kTaken && group < call.group_count; ++group) {
    flop += flop_of(call, group);
  }
  const bool small = flop < kLargeGroup * static_cast<double>(call.group_count);
  if (outcome == kTaken && call.group_count > kFewGroups && small) outcome = kSmallGroups;
  if (outcome == kTaken) outcome = open(handle, CUBLAS_COMPUTE_32F, &session, &of);
  size_t bytes = 0;
  if (outcome == kTaken && check(session, call, &bytes) != MYGEMM_STATUS_SUCCESS) {
    outcome = kLeftToCublas;
  }
  if (outcome != kTaken) {
    count(function, outcome, flop);
    return std::nullopt;
  }
  set_up(session, of.settings, CUBLAS_COMPUTE_32F);
  const mygemmStatus_t status = in_workspace(
      session, of, [&] { return bytes; },
      [&] {
        return for_groups(
            call, [&](const mygemmGemm_t& gemm) { return mygemm_gemm(session.handle, &gemm); });
      });
  return settle(function, kTaken, status, flop);
}

}  // namespace mygemm::cublas

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasSgemmGroupedBatched(cublasHandle_t handle, const cublasOperation_t transa[],
                                         const cublasOperation_t transb[], const int m[],
                                         const int n[], const int k[], const float alpha[],
                                         const float* const A[], const int lda[],
                                         const float* const B[], const int ldb[],
                                         const float beta[], float* const C[], const int ldc[],
                                         int group_count, const int group_size[]) {
  return take_or_forward(kSgemmGroupedBatched, grouped<int>, handle, transa, transb, m, n, k, alpha,
                         A, lda, B, ldb, beta, C, ldc, group_count, group_size);
}

cublasStatus_t cublasSgemmGroupedBatched_64(cublasHandle_t handle, const cublasOperation_t transa[],
                                            const cublasOperation_t transb[], const int64_t m[],
                                            const int64_t n[], const int64_t k[],
                                            const float alpha[], const float* const A[],
                                            const int64_t lda[], const float* const B[],
                                            const int64_t ldb[], const float beta[],
                                            float* const C[], const int64_t ldc[],
                                            int64_t group_count, const int64_t group_size[]) {
  return take_or_forward(kSgemmGroupedBatched64, grouped<int64_t>, handle, transa, transb, m, n, k,
                         alpha, A, lda, B, ldb, beta, C, ldc, group_count, group_size);
}

#pragma GCC visibility pop
}  // extern "C"
