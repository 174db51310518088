// The libraries that mygemm is compared with, loaded with dlopen so that mygemm-bench links to
// neither: cuBLAS on a GPU, a CBLAS on the host. Independent of mygemm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "machine.h"

namespace bench {

// A matrix product in BLAS's terms: column-major, 32-bit sizes.
struct BlasGemm {
  bool transa, transb;
  int m, n, k;
  float alpha, beta;
  int lda, ldb, ldc;
  int64_t stride_a, stride_b, stride_c;
  int batch_count;
};

class Cublas {
 public:
  // Null, with a sentence in `why`, where no libcublas is found.
  static std::unique_ptr<Cublas> load(const Machine& machine, size_t workspace_bytes, bool pedantic,
                                      std::string* why);
  ~Cublas();
  Cublas(const Cublas&) = delete;  // owns a cublasHandle_t
  Cublas& operator=(const Cublas&) = delete;

  int version() const;  // cuBLAS's number, e.g. 130100
  void sgemm(const BlasGemm& gemm, const float* a, const float* b, float* c);
  void sgemm_strided_batched(const BlasGemm& gemm, const float* a, const float* b, float* c);
  void sgemm_batched(const BlasGemm& gemm, const float* const* a, const float* const* b,
                     float* const* c);
  // A triangle of the product of two n x k matrices, one of which is transposed.
  void syrkx(const BlasGemm& gemm, bool lower, const float* a, const float* b, float* c);
  void dgemm(const BlasGemm& gemm, const double* a, const double* b, double* c);
  // Row-major rows x cols to cols x rows, by cublasSgeam.
  void transpose(int rows, int cols, const float* in, int ldin, float* out, int ldout);

 private:
  struct Functions;
  Cublas(const Machine& machine, std::unique_ptr<Functions> functions, size_t workspace_bytes,
         bool pedantic);

  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  Buffer workspace_;
};

class Cblas {
 public:
  static std::unique_ptr<Cblas> load(std::string* why);
  const std::string& name() const { return name_; }  // "openblas", "blis", "mkl" or "cblas"
  void sgemm(const BlasGemm& gemm, const float* a, const float* b, float* c) const;
  void dgemm(const BlasGemm& gemm, const double* a, const double* b, double* c) const;

 private:
  template <class T>
  using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  Cblas(std::string name, Gemm<float> of_floats, Gemm<double> of_doubles)
      : name_(std::move(name)), sgemm_(of_floats), dgemm_(of_doubles) {}

  std::string name_;
  Gemm<float> sgemm_;
  Gemm<double> dgemm_;
};

}  // namespace bench
