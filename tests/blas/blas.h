// Tests of the drop-in BLAS: its functions as programs declare them, and the XERBLA of the tests.
#pragma once

#include <cstddef>

extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void somatcopy_(const char* order, const char* trans, const int* rows, const int* cols,
                const float* alpha, const float* a, const int* lda, float* b, const int* ldb);
void simatcopy_(const char* order, const char* trans, const int* rows, const int* cols,
                const float* alpha, float* a, const int* lda, const int* ldb);
void cblas_somatcopy(int order, int trans, int rows, int cols, float alpha, const float* a, int lda,
                     float* b, int ldb);
void cblas_simatcopy(int order, int trans, int rows, int cols, float alpha, float* a, int lda,
                     int ldb);
void MKL_Somatcopy(char order, char trans, size_t rows, size_t cols, float alpha, const float* a,
                   size_t lda, float* b, size_t ldb);
void MKL_Simatcopy(char order, char trans, size_t rows, size_t cols, float alpha, float* a,
                   size_t lda, size_t ldb);
}

#include <string>

namespace mygemm_tests {

inline constexpr int kRowMajor = 101;
inline constexpr int kColumnMajor = 102;

// The last report to xerbla_ or cblas_xerbla; taking it forgets it.
struct Report {
  std::string routine;
  int position = 0;
  std::string text;  // of cblas_xerbla
};
Report take_report();

}  // namespace mygemm_tests
