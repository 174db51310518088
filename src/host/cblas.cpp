// The kernel host_cblas of matrix products: the sgemm of another BLAS, found at run time
// (blas_library.h). Sizes of more than 32 bits go to host_blocked. Host backend.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <climits>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "host/blas_library.h"
#include "host/epilogue.h"
#include "host/gemm.h"
#include "host/host.h"
#include "kernels/gemm/config.h"

namespace mygemm::host {
namespace {

const BlasLibrary& blas() {
  static const BlasLibrary found = find_blas_library();
  return found;
}

// The library's threads may be OpenMP's, and GNU's waits for ever in a child of fork() for those of
// the parent, whoever used them: our own loops compute a child's products. Where it is not known
// that they are, the library is told to use one thread.
constinit std::atomic<bool> is_child{false};

[[gnu::constructor]] void watch() {
  pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

// For the duration of a call of the library: one thread where more would hang.
class ThreadsOfCall {
 public:
  ThreadsOfCall() {
#ifdef _OPENMP
    if (!is_child.load(std::memory_order_relaxed)) return;
    before_ = omp_get_max_threads();
    omp_set_num_threads(1);
#endif
  }
  ~ThreadsOfCall() {
#ifdef _OPENMP
    if (before_ > 0) omp_set_num_threads(before_);
#endif
  }
  ThreadsOfCall(const ThreadsOfCall&) = delete;
  ThreadsOfCall& operator=(const ThreadsOfCall&) = delete;

 private:
  int before_ = 0;  // 0: not changed
};

// A library may call sgemm_ by name, which a preloaded drop-in may have taken over and which then
// comes back here on the same thread.
thread_local bool inside_cblas = false;

// Products this small end before the library has woken its threads. A batch of them is distributed
// over our own threads, one matrix at a time.
constexpr double kSmallFlops = 2.0 * 128 * 128 * 128;

bool better_blocked(const GemmProblem& problem) {
  const int64_t largest =
      std::max({problem.m, problem.n, problem.k, problem.a.ld, problem.b.ld, problem.d.ld});
  if (inside_cblas || largest > INT_MAX || (is_child && blas().has_openmp_threads)) return true;
  const double flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                       static_cast<double>(problem.k);
  return problem.batch_count > 1 && flops <= kSmallFlops;
}

}  // namespace

const char* find_cblas() { return blas().sgemm ? blas().name.c_str() : nullptr; }

// The library computes alpha * op(A) * op(B) + beta * C in D; the rest is one more pass over D.
Status launch_gemm_cblas(const GemmProblem& problem, const GemmConfig& config,
                         const LaunchContext& context) {
  const Epilogue epilogue(problem);
  if (problem.scales_only()) {
    epilogue.finish_without_sums();
    return MYGEMM_STATUS_SUCCESS;
  }
  if (better_blocked(problem)) return launch_gemm_blocked(problem, config, context);
  const FortranSgemm sgemm = blas().sgemm;
  if (sgemm == nullptr) return fail(MYGEMM_STATUS_NOT_SUPPORTED, "no CBLAS on this machine");

  epilogue.copy_c_to_d();
  const auto m = static_cast<BlasInteger>(problem.m), n = static_cast<BlasInteger>(problem.n);
  const auto k = static_cast<BlasInteger>(problem.k);
  const auto lda = static_cast<BlasInteger>(problem.a.ld);
  const auto ldb = static_cast<BlasInteger>(problem.b.ld);
  const auto ldd = static_cast<BlasInteger>(problem.d.ld);
  const ThreadsOfCall threads;
  inside_cblas = true;
  for (int64_t i = 0; i < problem.batch_count; ++i) {
    sgemm(problem.transa ? "T" : "N", problem.transb ? "T" : "N", &m, &n, &k,
          &problem.epilogue.alpha.value, problem.a.matrix<const float>(i), &lda,
          problem.b.matrix<const float>(i), &ldb, &problem.epilogue.beta.value,
          problem.d.matrix<float>(i), &ldd, 1, 1);
  }
  inside_cblas = false;
  epilogue.finish_all();
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
