// A program that loads cuBLAS through dlopen and makes legal and illegal calls, and prints a line
// for each: the call, its status, and a digest of C. The matrices hold small integers (those of 16
// bits: their halves, which are small fractions or 0), so that sums are exact and the lines are the
// same with the drop-in preloaded or without it.
//   cublas_answers [LIBRARY]        default: libcublas.so.13; the calls of cuBLASLt: lt_answers.cpp
#include <cublas_api.h>
#include <dlfcn.h>

#include <functional>
#include <utility>

#include "answers.h"
#include "cublas_call.h"

namespace {

struct Case {
  std::string about = "plain";
  bool handle = true;
  int transa = 0, transb = 0;
  long long m = 33, n = 20, k = 45, lda = 48, ldb = 50, ldc = 35;
  const float *alpha = nullptr, *beta = nullptr;  // nullptr: 2 and 3 on the host
  bool no_alpha = false, no_beta = false, no_a = false, no_b = false, no_c = false, nan = false;
  long long stride_a = 2400, stride_b = 2500, stride_c = 700, batch = 2;
  bool one_only = false;                  // cuBLAS's functions with batches and types crash on it
  int type = CUDA_R_32F, type_of_c = -1;  // of A and B; of C, -1: the same
  int compute = CUBLAS_COMPUTE_32F, algorithm = CUBLAS_GEMM_DEFAULT;
};

std::vector<Case> cases() {
  static const float zero = 0, one = 1;
  std::vector<Case> all;
  const auto add = [&](const char* about, const std::function<void(Case&)>& change) {
    all.emplace_back();
    all.back().about = about;
    change(all.back());
  };
  for (int transa = 0; transa < 3; ++transa) {
    for (int transb = 0; transb < 3; ++transb) {
      const std::string about = std::string("ops ") + "NTC"[transa] + "NTC"[transb];
      add(about.c_str(), [=](Case& c) { c.transa = transa, c.transb = transb; });
    }
  }
  add("handle NULL", [](Case& c) { c.handle = false; });
  add("transa 3", [](Case& c) { c.transa = 3; });
  add("transb 7", [](Case& c) { c.transb = 7; });
  add("transa -1", [](Case& c) { c.transa = -1; });
  add("m -1", [](Case& c) { c.m = -1; });
  add("n -1", [](Case& c) { c.n = -1; });
  add("k -1", [](Case& c) { c.k = -1; });
  add("m 0", [](Case& c) { c.m = 0; });
  add("n 0", [](Case& c) { c.n = 0; });
  add("m 0, all NULL", [](Case& c) { c.m = 0, c.no_a = c.no_b = c.no_c = true; });
  add("m 0, lda 0", [](Case& c) { c.m = 0, c.lda = 0; });
  add("m 0, alpha NULL", [](Case& c) { c.m = 0, c.no_alpha = true; });
  add("k 0", [](Case& c) { c.k = 0; });
  add("k 0, A and B NULL", [](Case& c) { c.k = 0, c.no_a = c.no_b = c.one_only = true; });
  add("k 0, ldb 0", [](Case& c) { c.k = 0, c.ldb = 0; });
  add("k 0, beta 1", [](Case& c) { c.k = 0, c.beta = &one; });
  add("k 0, beta 0, C NaN", [](Case& c) { c.k = 0, c.beta = &zero, c.nan = true; });
  add("lda small", [](Case& c) { c.lda = 32; });
  add("lda 0", [](Case& c) { c.lda = 0; });
  add("lda small, T", [](Case& c) { c.transa = 1, c.lda = 44; });
  add("ldb small", [](Case& c) { c.ldb = 44; });
  add("ldb small, T", [](Case& c) { c.transb = 1, c.ldb = 19; });
  add("ldc small", [](Case& c) { c.ldc = 32; });
  add("ldc -5", [](Case& c) { c.ldc = -5; });
  add("alpha NULL", [](Case& c) { c.no_alpha = c.one_only = true; });
  add("beta NULL", [](Case& c) { c.no_beta = c.one_only = true; });
  add("C NULL", [](Case& c) { c.no_c = true; });
  add("alpha 0, A and B NULL",
      [](Case& c) { c.alpha = &zero, c.no_a = c.no_b = c.one_only = true; });
  add("alpha 0", [](Case& c) { c.alpha = &zero; });
  add("beta 0, C NaN", [](Case& c) { c.beta = &zero, c.nan = true; });
  add("beta 1", [](Case& c) { c.beta = &one; });
  add("batch 0", [](Case& c) { c.batch = 0; });
  add("batch -1", [](Case& c) { c.batch = -1; });
  add("one A for all", [](Case& c) { c.stride_a = 0; });
  add("stride of B -1 (A, B used from their middles)", [](Case& c) { c.stride_b = -1; });
  for (const auto& [name, type] : {std::pair{"FP16", CUDA_R_16F}, {"BF16", CUDA_R_16BF}}) {
    for (const auto& [of_c, type_of_c] :
         {std::pair{"", -1}, {" to FP32", CUDA_R_32F | 0}, {" to FP16", CUDA_R_16F | 0}}) {
      for (int ops = 0; ops < 9; ++ops) {
        const std::string about =
            std::string(name) + of_c + ", ops " + "NTC"[ops / 3] + "NTC"[ops % 3];
        add(about.c_str(), [=](Case& c) {
          c.type = type, c.type_of_c = type_of_c;
          c.transa = ops / 3, c.transb = ops % 3;
        });
      }
    }
    const std::string about = std::string(name) + ", ";
    add((about + "16F").c_str(), [=](Case& c) { c.type = type, c.compute = CUBLAS_COMPUTE_16F; });
    add((about + "pedantic").c_str(),
        [=](Case& c) { c.type = type, c.compute = CUBLAS_COMPUTE_32F_PEDANTIC; });
    add((about + "FAST_16F").c_str(),
        [=](Case& c) { c.type = type, c.compute = CUBLAS_COMPUTE_32F_FAST_16F; });
    add((about + "lda small").c_str(), [=](Case& c) { c.type = type, c.lda = 32; });
    add((about + "ldc 0").c_str(), [=](Case& c) { c.type = type, c.ldc = 0; });
    add((about + "k 0").c_str(), [=](Case& c) { c.type = type, c.k = 0; });
    add((about + "beta 0, C NaN").c_str(),
        [=](Case& c) { c.type = type, c.beta = &zero, c.nan = true; });
  }
  add("type 999", [](Case& c) { c.type = 999; });
  add("compute 999", [](Case& c) { c.compute = 999; });
  add("compute pedantic", [](Case& c) { c.compute = CUBLAS_COMPUTE_32F_PEDANTIC; });
  add("compute TF32", [](Case& c) { c.compute = CUBLAS_COMPUTE_32F_FAST_TF32; });
  add("compute 64F", [](Case& c) { c.compute = CUBLAS_COMPUTE_64F; });
  add("algorithm 99", [](Case& c) { c.algorithm = CUBLAS_GEMM_DEFAULT_TENSOR_OP; });
  add("algorithm 3", [](Case& c) { c.algorithm = CUBLAS_GEMM_ALGO3; });
  add("algorithm 1000", [](Case& c) { c.algorithm = 1000; });
  return all;
}

// The six products with sizes of type Int.
template <class Int>
void ask_products(const Case& c, const std::string& suffix) {
  static const float two = 2, three = 3;
  const float* alpha = c.no_alpha ? nullptr : c.alpha ? c.alpha : &two;
  const float* beta = c.no_beta ? nullptr : c.beta ? c.beta : &three;
  const float* a = c.no_a ? nullptr : a_memory + kElements / 2;
  const float* b = c.no_b ? nullptr : b_memory + kElements / 2;
  float* out = c.no_c ? nullptr : c_memory;
  const float* const* as = c.no_a ? nullptr : pointers;
  const float* const* bs = c.no_b ? nullptr : pointers + 2;
  float* const* outs = c.no_c ? nullptr : pointers + 4;
  const cublasHandle_t h = c.handle ? handle : nullptr;
  const auto ta = static_cast<cublasOperation_t>(c.transa);
  const auto tb = static_cast<cublasOperation_t>(c.transb);
  const auto type = static_cast<cudaDataType>(c.type);
  const auto type_of_c = static_cast<cudaDataType>(c.type_of_c < 0 ? c.type : c.type_of_c);
  const auto compute = static_cast<cublasComputeType_t>(c.compute);
  const auto algorithm = static_cast<cublasGemmAlgo_t>(c.algorithm);
  const auto i = [](long long value) { return static_cast<Int>(value); };
  const void *alpha_v = alpha, *beta_v = beta, *a_v = a, *b_v = b;
  void* out_v = out;
  const auto* as_v = reinterpret_cast<const void* const*>(as);
  const auto* bs_v = reinterpret_cast<const void* const*>(bs);
  auto* outs_v = reinterpret_cast<void* const*>(outs);
  const auto ask = [&](const std::string& name, auto... arguments) {
    reset(c.nan);
    const cublasStatus_t status =
        call(name + suffix, h, ta, tb, i(c.m), i(c.n), i(c.k), arguments...);
    report(name + suffix, c.about, status);
  };
  ask("cublasSgemm_v2", alpha, a, i(c.lda), b, i(c.ldb), beta, out, i(c.ldc));
  if (c.one_only) return;
  ask("cublasSgemmBatched", alpha, as, i(c.lda), bs, i(c.ldb), beta, outs, i(c.ldc), i(c.batch));
  ask("cublasSgemmStridedBatched", alpha, a, i(c.lda), c.stride_a, b, i(c.ldb), c.stride_b, beta,
      out, i(c.ldc), c.stride_c, i(c.batch));
  ask("cublasGemmEx", alpha_v, a_v, type, i(c.lda), b_v, type, i(c.ldb), beta_v, out_v, type_of_c,
      i(c.ldc), compute, algorithm);
  ask("cublasGemmBatchedEx", alpha_v, as_v, type, i(c.lda), bs_v, type, i(c.ldb), beta_v, outs_v,
      type_of_c, i(c.ldc), i(c.batch), compute, algorithm);
  ask("cublasGemmStridedBatchedEx", alpha_v, a_v, type, i(c.lda), c.stride_a, b_v, type, i(c.ldb),
      c.stride_b, beta_v, out_v, type_of_c, i(c.ldc), c.stride_c, i(c.batch), compute, algorithm);
}

template <class Int>
void ask_sums(const std::string& suffix) {
  struct Sum {
    const char* about;
    int transa = 1, transb = 0;
    long long m = 33, n = 20, lda = 24, ldb = 40, ldc = 35;
    float alpha = 1, beta = 0;
    bool no_b = false, no_alpha = false, in_place = false, handle = true;
  };
  const Sum sums[] = {
      {.about = "transpose of A"},
      {.about = "transpose of B",
       .transa = 0,
       .transb = 2,
       .lda = 40,
       .ldb = 24,
       .alpha = 0,
       .beta = 1},
      {.about = "transpose of A, B NULL", .no_b = true},
      {.about = "copy", .transa = 0, .lda = 40},
      {.about = "sum", .alpha = 2, .beta = 3},
      {.about = "both scales 0", .alpha = 0},
      {.about = "lda small", .lda = 19},
      {.about = "ldb small", .ldb = 32},
      {.about = "ldb 0, B NULL", .ldb = 0, .no_b = true},
      {.about = "ldc small", .ldc = 32},
      {.about = "transa 3", .transa = 3},
      {.about = "transb 7", .transb = 7},
      {.about = "m 0", .m = 0},
      {.about = "n -1", .n = -1},
      {.about = "alpha NULL", .no_alpha = true},
      {.about = "transpose in place", .m = 20, .lda = 35, .in_place = true},
      {.about = "handle NULL", .handle = false},
  };
  for (const Sum& s : sums) {
    reset(false);
    const float* a = s.in_place ? c_memory : a_memory;
    const float* b = s.no_b ? nullptr : b_memory;
    float* c = c_memory;
    const float* alpha = s.no_alpha ? nullptr : &s.alpha;
    const auto i = [](long long value) { return static_cast<Int>(value); };
    const cublasStatus_t status =
        call("cublasSgeam" + suffix, s.handle ? handle : nullptr,
             static_cast<cublasOperation_t>(s.transa), static_cast<cublasOperation_t>(s.transb),
             i(s.m), i(s.n), alpha, a, i(s.lda), &s.beta, b, i(s.ldb), c, i(s.ldc));
    report("cublasSgeam" + suffix, s.about, status);
  }
}

void ask_everything(const char* mode) {
  for (const Case& c : cases()) {
    Case named = c;
    named.about = std::string(mode) + c.about;
    ask_products<int>(named, "");
    ask_products<int64_t>(named, "_64");
  }
  ask_sums<int>("");
  ask_sums<int64_t>("_64");
  ask_triangles_and_groups(mode);
}

}  // namespace

int main(int count, char** words) {
  const char* library = count > 1 ? words[1] : "libcublas.so.13";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "no GPU\n");
    return 77;
  }
  cublas = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!cublas) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 77;
  }
  allocate();
  require(call("cublasCreate_v2", &handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  ask_everything("");
  call("cublasSetMathMode", handle, CUBLAS_PEDANTIC_MATH);
  ask_everything("pedantic: ");
  call("cublasSetMathMode", handle, CUBLAS_TF32_TENSOR_OP_MATH);
  ask_everything("TF32: ");
  call("cublasDestroy_v2", handle);
  ask_lt();
  std::printf("%lld answers\n", lines);
  return 0;
}
