/* A program that calls the BLAS by its Fortran name: a 2 x 2 product. */
#include <stdio.h>

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);

int main(void) {
  const int two = 2;
  const float one = 1, zero = 0;
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4];
  sgemm_("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  puts(c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 ? "right" : "wrong");
  return 0;
}
