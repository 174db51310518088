// Answers of cublasSsyrk, cublasSsyrkx and cublasSgemmGroupedBatched, as cublas_answers prints
// them.
#include <functional>

#include "cublas_call.h"

namespace {

struct Triangle {
  const char* about = "";
  int uplo = CUBLAS_FILL_MODE_LOWER, trans = CUBLAS_OP_N;
  long long n = 33, k = 40, lda = 41, ldb = 44, ldc = 35;
  float alpha = 2, beta = 3;
  bool no_alpha = false, no_beta = false, no_a = false, handle = true, nan = false;
};

template <class Int>
void ask_triangles(const std::string& mode, const std::string& suffix) {
  const Triangle triangles[] = {
      {.about = "lower"},
      {.about = "upper", .uplo = CUBLAS_FILL_MODE_UPPER},
      {.about = "lower, T", .trans = CUBLAS_OP_T},
      {.about = "upper, C", .uplo = CUBLAS_FILL_MODE_UPPER, .trans = CUBLAS_OP_C},
      {.about = "full", .uplo = CUBLAS_FILL_MODE_FULL},
      {.about = "uplo 7", .uplo = 7},
      {.about = "trans 3", .trans = 3},
      {.about = "n -1", .n = -1},
      {.about = "k -1", .k = -1},
      {.about = "n 0", .n = 0},
      {.about = "k 0", .k = 0},
      {.about = "k 0, beta 0, NaN", .k = 0, .beta = 0, .nan = true},
      {.about = "k 0, A NULL", .k = 0, .no_a = true},
      {.about = "alpha 0", .alpha = 0},
      {.about = "beta 0, NaN", .beta = 0, .nan = true},
      {.about = "beta 1", .beta = 1},
      {.about = "lda small", .lda = 32},
      {.about = "lda small, T", .trans = CUBLAS_OP_T, .lda = 39},
      {.about = "ldb small", .ldb = 32},
      {.about = "ldc small", .ldc = 32},
      {.about = "alpha NULL", .no_alpha = true},
      {.about = "beta NULL", .no_beta = true},
      {.about = "handle NULL", .handle = false},
      {.about = "short", .k = 20},
      {.about = "one block and more", .n = 150, .k = 37, .lda = 150, .ldb = 151, .ldc = 150},
  };
  for (const Triangle& t : triangles) {
    const auto i = [](long long value) { return static_cast<Int>(value); };
    const float *alpha = t.no_alpha ? nullptr : &t.alpha, *beta = t.no_beta ? nullptr : &t.beta;
    const float *a = t.no_a ? nullptr : a_memory, *b = b_memory;
    float* c = c_memory;
    const auto ask = [&](const std::string& name, auto... rest) {
      reset(t.nan);
      const cublasStatus_t status = call(
          name, t.handle ? handle : nullptr, static_cast<cublasFillMode_t>(t.uplo),
          static_cast<cublasOperation_t>(t.trans), i(t.n), i(t.k), alpha, a, i(t.lda), rest...);
      report(name, mode + t.about, status);
    };
    ask("cublasSsyrk_v2" + suffix, beta, c, i(t.ldc));
    ask("cublasSsyrkx" + suffix, b, i(t.ldb), beta, c, i(t.ldc));
  }
}

// Two groups, of two matrices and of one, which the changes of a case spoil.
template <class Int>
struct Groups {
  cublasOperation_t transa[2] = {CUBLAS_OP_N, CUBLAS_OP_T};
  cublasOperation_t transb[2] = {CUBLAS_OP_T, CUBLAS_OP_N};
  Int m[2] = {33, 9}, n[2] = {20, 40}, k[2] = {45, 17};
  Int lda[2] = {48, 17}, ldb[2] = {20, 50}, ldc[2] = {35, 9};
  float alpha[2] = {2, -1}, beta[2] = {3, 0};
  Int count = 2, sizes[2] = {2, 1};
  bool handle = true, no_m = false;
};

template <class Int>
void ask_groups(const std::string& mode, const std::string& suffix) {
  const std::string name = "cublasSgemmGroupedBatched" + suffix;
  using Change = std::function<void(Groups<Int>&)>;
  const std::pair<const char*, Change> cases[] = {
      {"plain", [](Groups<Int>&) {}},
      {"one group", [](Groups<Int>& g) { g.count = 1; }},
      {"no group", [](Groups<Int>& g) { g.count = 0; }},
      {"groups -1", [](Groups<Int>& g) { g.count = -1; }},
      {"group of none", [](Groups<Int>& g) { g.sizes[1] = 0; }},
      {"group of -1", [](Groups<Int>& g) { g.sizes[1] = -1; }},
      {"m 0", [](Groups<Int>& g) { g.m[0] = 0; }},
      {"k 0", [](Groups<Int>& g) { g.k[0] = 0; }},
      {"n -1", [](Groups<Int>& g) { g.n[1] = -1; }},
      {"lda small", [](Groups<Int>& g) { g.lda[1] = 16; }},
      {"ldc small", [](Groups<Int>& g) { g.ldc[1] = 8; }},
      {"transa 3", [](Groups<Int>& g) { g.transa[1] = static_cast<cublasOperation_t>(3); }},
      {"alpha 0", [](Groups<Int>& g) { g.alpha[0] = 0; }},
      {"m NULL", [](Groups<Int>& g) { g.no_m = true; }},
      {"handle NULL", [](Groups<Int>& g) { g.handle = false; }},
  };
  for (const auto& [about, change] : cases) {
    Groups<Int> g;
    change(g);
    reset(false);
    const cublasStatus_t status =
        call(name, g.handle ? handle : nullptr, static_cast<const cublasOperation_t*>(g.transa),
             static_cast<const cublasOperation_t*>(g.transb),
             g.no_m ? nullptr : static_cast<const Int*>(g.m), static_cast<const Int*>(g.n),
             static_cast<const Int*>(g.k), static_cast<const float*>(g.alpha),
             static_cast<const float* const*>(group_pointers), static_cast<const Int*>(g.lda),
             static_cast<const float* const*>(group_pointers + 3), static_cast<const Int*>(g.ldb),
             static_cast<const float*>(g.beta), static_cast<float* const*>(group_pointers + 6),
             static_cast<const Int*>(g.ldc), g.count, static_cast<const Int*>(g.sizes));
    report(name, mode + about, status);
  }
}

}  // namespace

void ask_triangles_and_groups(const std::string& mode) {
  ask_triangles<int>(mode, "");
  ask_triangles<int64_t>(mode, "_64");
  ask_groups<int>(mode, "");
  ask_groups<int64_t>(mode, "_64");
}
