// The kernel host_cblas of matrix products: a CBLAS that the machine has, found at run time. Host
// backend.
//
// The libraries are tried in this order, the first with a usable cblas_sgemm wins:
//   libopenblas.so.0  OpenBLAS       libblis.so.4    BLIS       libmkl_rt.so.2  oneMKL
//   libcblas.so.3     ATLAS, Netlib  libblas.so.3    the distribution's choice
// All of them take 32-bit integers; larger sizes go to host_blocked.
#include <dlfcn.h>

#include <algorithm>
#include <climits>

#include "host/epilogue.h"
#include "host/gemm.h"
#include "host/host.h"
#include "kernels/gemm/config.h"

namespace mygemm::host {
namespace {

// CBLAS's enumerations are ints with these numbers in every implementation.
enum CblasNumber : int { kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112 };

using SgemmFunction = void (*)(int order, int transa, int transb, int m, int n, int k, float alpha,
                               const float* a, int lda, const float* b, int ldb, float beta,
                               float* c, int ldc);

struct Cblas {
  const char* name = nullptr;
  SgemmFunction sgemm = nullptr;
};

// True where `symbol` of `library` is that of a drop-in BLAS built on mygemm, which may be
// installed as libblas.so.3: a call of it would recurse.
bool is_ours(void* library, void* symbol) {
  static const char address_in_this_library = 0;
  Dl_info found{};
  Dl_info self{};
  if (dladdr(symbol, &found) == 0 || dladdr(&address_in_this_library, &self) == 0) return true;
  return found.dli_fbase == self.dli_fbase || dlsym(library, "mygemm_version") != nullptr;
}

Cblas load_cblas() {
  for (const char* name :
       {"libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2", "libcblas.so.3", "libblas.so.3"}) {
    // Local: its names must not become those of the program we are loaded into.
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    void* symbol = dlsym(library, "cblas_sgemm");
    if (symbol != nullptr && !is_ours(library, symbol)) {
      return {name, reinterpret_cast<SgemmFunction>(symbol)};  // kept open: its threads live on
    }
    dlclose(library);
  }
  return {};
}

const Cblas& cblas() {
  static const Cblas found = load_cblas();
  return found;
}

// A reference CBLAS calls sgemm_ by name, which a preloaded drop-in may have taken over and which
// then comes back here on the same thread.
thread_local bool inside_cblas = false;

// Products this small end before a CBLAS has woken its threads. A batch of them is distributed over
// our own threads, one matrix at a time.
constexpr double kSmallFlops = 2.0 * 128 * 128 * 128;

bool better_blocked(const GemmProblem& problem) {
  const int64_t largest =
      std::max({problem.m, problem.n, problem.k, problem.a.ld, problem.b.ld, problem.d.ld});
  if (inside_cblas || largest > INT_MAX) return true;
  const double flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                       static_cast<double>(problem.k);
  return problem.batch_count > 1 && flops <= kSmallFlops;
}

}  // namespace

const char* find_cblas() { return cblas().name; }

// The library computes alpha * op(A) * op(B) + beta * C in D; the rest is one more pass over D.
Status launch_gemm_cblas(const GemmProblem& problem, const GemmConfig& config,
                         const LaunchContext& context) {
  const Epilogue epilogue(problem);
  if (problem.scales_only()) {
    epilogue.finish_without_sums();
    return MYGEMM_STATUS_SUCCESS;
  }
  if (better_blocked(problem)) return launch_gemm_blocked(problem, config, context);
  const SgemmFunction sgemm = cblas().sgemm;
  if (sgemm == nullptr) return fail(MYGEMM_STATUS_NOT_SUPPORTED, "no CBLAS on this machine");

  epilogue.copy_c_to_d();
  inside_cblas = true;
  for (int64_t i = 0; i < problem.batch_count; ++i) {
    sgemm(kColumnMajor, problem.transa ? kTranspose : kNoTranspose,
          problem.transb ? kTranspose : kNoTranspose, static_cast<int>(problem.m),
          static_cast<int>(problem.n), static_cast<int>(problem.k), problem.epilogue.alpha.value,
          problem.a.matrix<const float>(i), static_cast<int>(problem.a.ld),
          problem.b.matrix<const float>(i), static_cast<int>(problem.b.ld),
          problem.epilogue.beta.value, problem.d.matrix<float>(i), static_cast<int>(problem.d.ld));
  }
  inside_cblas = false;
  epilogue.finish_all();
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
