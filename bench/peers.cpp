// See peers.h.
#include "peers.h"

#include <dlfcn.h>

#include <stdexcept>

#include "gpu.h"

namespace bench {
namespace {

// cublas_api.h's values.
constexpr int kCublasOpN = 0, kCublasOpT = 1;
constexpr int kCublasLower = 0, kCublasUpper = 1;
constexpr int kCublasDefaultMath = 0, kCublasPedanticMath = 2;
// cblas.h's values.
constexpr int kCblasColMajor = 102, kCblasNoTrans = 111, kCblasTrans = 112;

int cublas_op(bool transposed) { return transposed ? kCublasOpT : kCublasOpN; }
int cblas_op(bool transposed) { return transposed ? kCblasTrans : kCblasNoTrans; }

void check(int status, const char* function) {
  if (status != 0) {
    throw std::runtime_error(std::string(function) + ": cuBLAS status " + std::to_string(status));
  }
}

template <class Function>
void find(void* library, const char* name, Function* function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw std::runtime_error(std::string("libcublas has no ") + name);
  }
  *function = reinterpret_cast<Function>(symbol);
}

}  // namespace

// The few functions used, as cublas_api.h declares them (enums are int, handles void*).
struct Cublas::Functions {
  int (*create)(void**);
  int (*destroy)(void*);
  int (*get_version)(void*, int*);
  int (*set_stream)(void*, mygemmStream_t);
  int (*set_workspace)(void*, void*, size_t);
  int (*set_math_mode)(void*, int);
  int (*sgemm)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
               const float*, float*, int);
  int (*sgemm_strided_batched)(void*, int, int, int, int, int, const float*, const float*, int,
                               long long, const float*, int, long long, const float*, float*, int,
                               long long, int);
  int (*sgemm_batched)(void*, int, int, int, int, int, const float*, const float* const*, int,
                       const float* const*, int, const float*, float* const*, int, int);
  int (*syrkx)(void*, int, int, int, int, const float*, const float*, int, const float*, int,
               const float*, float*, int);
  int (*dgemm)(void*, int, int, int, int, int, const double*, const double*, int, const double*,
               int, const double*, double*, int);
  int (*sgeam)(void*, int, int, int, int, const float*, const float*, int, const float*,
               const float*, int, float*, int);
};

std::unique_ptr<Cublas> Cublas::load(const Machine& machine, size_t workspace_bytes, bool pedantic,
                                     std::string* why) {
  void* library = nullptr;
  for (const char* folder : {"", "/usr/local/cuda/lib64/"}) {  // the loader's own path, CUDA's
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}) {
      const std::string file = std::string(folder) + name;
      library = library != nullptr ? library : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  if (library == nullptr) {
    *why = "no cuBLAS to compare with (libcublas.so.13, .12 or .11: LD_LIBRARY_PATH?)";
    return nullptr;
  }
  auto functions = std::make_unique<Functions>();
  find(library, "cublasCreate_v2", &functions->create);
  find(library, "cublasDestroy_v2", &functions->destroy);
  find(library, "cublasGetVersion_v2", &functions->get_version);
  find(library, "cublasSetStream_v2", &functions->set_stream);
  find(library, "cublasSetWorkspace_v2", &functions->set_workspace);
  find(library, "cublasSetMathMode", &functions->set_math_mode);
  find(library, "cublasSgemm_v2", &functions->sgemm);
  find(library, "cublasSgemmStridedBatched", &functions->sgemm_strided_batched);
  find(library, "cublasSgemmBatched", &functions->sgemm_batched);
  find(library, "cublasSsyrkx", &functions->syrkx);
  find(library, "cublasDgemm_v2", &functions->dgemm);
  find(library, "cublasSgeam", &functions->sgeam);
  return std::unique_ptr<Cublas>(
      new Cublas(machine, std::move(functions), workspace_bytes, pedantic));
}

Cublas::Cublas(const Machine& machine, std::unique_ptr<Functions> functions, size_t workspace_bytes,
               bool pedantic)
    : functions_(std::move(functions)), workspace_(machine, workspace_bytes) {
  check(functions_->create(&handle_), "cublasCreate");
  check(functions_->set_stream(handle_, gpu::stream()), "cublasSetStream");
  // After the stream: setting a stream takes the workspace away.
  check(functions_->set_workspace(handle_, workspace_.data(), workspace_.bytes()),
        "cublasSetWorkspace");
  check(functions_->set_math_mode(handle_, pedantic ? kCublasPedanticMath : kCublasDefaultMath),
        "cublasSetMathMode");
}

Cublas::~Cublas() {
  if (handle_ != nullptr) {
    functions_->destroy(handle_);
  }
}

int Cublas::version() const {
  int version = 0;
  check(functions_->get_version(handle_, &version), "cublasGetVersion");
  return version;
}

void Cublas::sgemm(const BlasGemm& g, const float* a, const float* b, float* c) {
  check(functions_->sgemm(handle_, cublas_op(g.transa), cublas_op(g.transb), g.m, g.n, g.k,
                          &g.alpha, a, g.lda, b, g.ldb, &g.beta, c, g.ldc),
        "cublasSgemm");
}

void Cublas::sgemm_strided_batched(const BlasGemm& g, const float* a, const float* b, float* c) {
  check(functions_->sgemm_strided_batched(handle_, cublas_op(g.transa), cublas_op(g.transb), g.m,
                                          g.n, g.k, &g.alpha, a, g.lda, g.stride_a, b, g.ldb,
                                          g.stride_b, &g.beta, c, g.ldc, g.stride_c, g.batch_count),
        "cublasSgemmStridedBatched");
}

void Cublas::sgemm_batched(const BlasGemm& g, const float* const* a, const float* const* b,
                           float* const* c) {
  check(functions_->sgemm_batched(handle_, cublas_op(g.transa), cublas_op(g.transb), g.m, g.n, g.k,
                                  &g.alpha, a, g.lda, b, g.ldb, &g.beta, c, g.ldc, g.batch_count),
        "cublasSgemmBatched");
}

void Cublas::syrkx(const BlasGemm& g, bool lower, const float* a, const float* b, float* c) {
  check(functions_->syrkx(handle_, lower ? kCublasLower : kCublasUpper, cublas_op(g.transa), g.n,
                          g.k, &g.alpha, a, g.lda, b, g.ldb, &g.beta, c, g.ldc),
        "cublasSsyrkx");
}

void Cublas::dgemm(const BlasGemm& g, const double* a, const double* b, double* c) {
  const double alpha = g.alpha, beta = g.beta;
  check(functions_->dgemm(handle_, cublas_op(g.transa), cublas_op(g.transb), g.m, g.n, g.k, &alpha,
                          a, g.lda, b, g.ldb, &beta, c, g.ldc),
        "cublasDgemm");
}

void Cublas::transpose(int rows, int cols, const float* in, int ldin, float* out, int ldout) {
  const float one = 1.0f, zero = 0.0f;
  // With beta = 0 the second operand is not read; `out` is one of the right shape.
  check(functions_->sgeam(handle_, kCublasOpT, kCublasOpN, rows, cols, &one, in, ldin, &zero, out,
                          ldout, out, ldout),
        "cublasSgeam");
}

std::unique_ptr<Cblas> Cblas::load(std::string* why) {
  constexpr struct {
    const char* file;
    const char* name;
  } kCandidates[] = {{"libopenblas.so.0", "openblas"},
                     {"libblis.so.4", "blis"},
                     {"libmkl_rt.so.2", "mkl"},
                     {"libcblas.so.3", "cblas"},
                     {"libblas.so.3", "cblas"}};
  for (const auto& candidate : kCandidates) {
    void* library = dlopen(candidate.file, RTLD_NOW | RTLD_LOCAL);
    void* sgemm = library != nullptr ? dlsym(library, "cblas_sgemm") : nullptr;
    void* dgemm = library != nullptr ? dlsym(library, "cblas_dgemm") : nullptr;
    if (sgemm != nullptr && dgemm != nullptr) {
      return std::unique_ptr<Cblas>(new Cblas(candidate.name, reinterpret_cast<Gemm<float>>(sgemm),
                                              reinterpret_cast<Gemm<double>>(dgemm)));
    }
  }
  *why = "no CBLAS to compare with (libopenblas.so.0, libblis.so.4, libmkl_rt.so.2, libcblas.so.3)";
  return nullptr;
}

void Cblas::sgemm(const BlasGemm& g, const float* a, const float* b, float* c) const {
  for (int64_t i = 0; i < g.batch_count; ++i) {
    sgemm_(kCblasColMajor, cblas_op(g.transa), cblas_op(g.transb), g.m, g.n, g.k, g.alpha,
           a + i * g.stride_a, g.lda, b + i * g.stride_b, g.ldb, g.beta, c + i * g.stride_c, g.ldc);
  }
}

void Cblas::dgemm(const BlasGemm& g, const double* a, const double* b, double* c) const {
  dgemm_(kCblasColMajor, cblas_op(g.transa), cblas_op(g.transb), g.m, g.n, g.k, g.alpha, a, g.lda,
         b, g.ldb, g.beta, c, g.ldc);
}

}  // namespace bench
