/*
 * C = alpha A B^T + beta C, with leading dimensions larger than they need be and a workspace of the
 * size that the library asks for. On the GPU where there is one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

int main(void) {
  /* Column-major: A is m x k, B is n x k, C is m x n. */
  const int64_t m = 200, n = 200, k = 2048, lda = m + 6, ldb = n + 2, ldc = m + 1;
  const size_t c_bytes = (size_t)(ldc * n) * sizeof(float);
  const float alpha = 0.5f, beta = -2;
  float *a = small_integers(lda * k, 1), *b = small_integers(ldb * k, 2);
  float *old_c = small_integers(ldc * n, 3), *new_c = (float*)host_memory(c_bytes);
  mygemmHandle_t handle = create_handle();
  float* at_a = (float*)place(handle, a, (size_t)(lda * k) * sizeof(float));
  float* at_b = (float*)place(handle, b, (size_t)(ldb * k) * sizeof(float));
  float* at_c = (float*)place(handle, old_c, c_bytes);
  size_t workspace_bytes;
  void* workspace;
  int64_t i, j;

  /* The library allocates nothing: what it would like to have comes from here. */
  check(
      mygemm_sgemm_workspace_size(handle, MYGEMM_OP_N, MYGEMM_OP_T, m, n, k, 1, &workspace_bytes));
  workspace = place(handle, NULL, workspace_bytes);
  check(mygemm_set_workspace(handle, workspace, workspace_bytes));

  check(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_T, m, n, k, &alpha, at_a, lda, at_b, ldb, &beta,
                     at_c, ldc));
  fetch(handle, new_c, at_c, c_bytes);

  for (j = 0; j < n; ++j) {
    for (i = 0; i < m; ++i) {
      const double wanted = alpha * dot(k, a + i, lda, b + j, ldb) + beta * old_c[i + j * ldc];
      expect(new_c[i + j * ldc] == wanted, "an element of C");
    }
    expect(new_c[m + j * ldc] == old_c[m + j * ldc], "what lies between the columns of C");
  }
  printf("C = A B^T / 2 - 2 C is right, with a workspace of %zu bytes\n", workspace_bytes);

  release(handle, workspace);
  release(handle, at_a);
  release(handle, at_b);
  release(handle, at_c);
  check(mygemm_destroy(handle));
  free(a);
  free(b);
  free(old_c);
  free(new_c);
  return 0;
}
