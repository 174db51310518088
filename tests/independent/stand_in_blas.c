/* A BLAS that is none of the machine's: it counts its calls, and its threads are OpenMP's. Its
   sgemm_ calls cblas_sgemm by name, as the routines of some libraries call each other, which leads
   to a drop-in that is preloaded. */
#include <stddef.h>

enum { kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112 };

int stand_in_calls = 0;

void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  (void)order; /* column-major */
#pragma omp parallel for num_threads(4)
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) {
        const size_t at_a = transa == kTranspose ? (size_t)i * lda + l : (size_t)l * lda + i;
        const size_t at_b = transb == kTranspose ? (size_t)l * ldb + j : (size_t)j * ldb + l;
        sum += a[at_a] * b[at_b];
      }
      float* const at_c = c + (size_t)j * ldc + i;
      *at_c = alpha * sum + (beta == 0 ? 0 : beta * *at_c);
    }
  }
}

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  ++stand_in_calls;
  cblas_sgemm(kColumnMajor, *transa == 'T' ? kTranspose : kNoTranspose,
              *transb == 'T' ? kTranspose : kNoTranspose, *m, *n, *k, *alpha, a, *lda, b, *ldb,
              *beta, c, *ldc);
}
