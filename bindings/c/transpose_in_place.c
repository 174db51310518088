/*
 * A matrix that is not square becomes its transpose in its own memory: once with the workspace that
 * makes it fast, and back again without any. On the GPU where there is one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

enum { ROWS = 300, COLS = 180, BYTES = ROWS * COLS * sizeof(float) };

int main(void) {
  static float numbers[ROWS * COLS], result[ROWS * COLS];
  mygemmHandle_t handle = create_handle();
  void *matrix, *workspace;
  size_t workspace_bytes;
  int r, c;

  for (r = 0; r < ROWS * COLS; ++r) numbers[r] = (float)r;
  matrix = place(handle, numbers, BYTES);

  check(mygemm_transpose_workspace_size(handle, sizeof(float), ROWS, COLS, 1, 1, &workspace_bytes));
  workspace = place(handle, NULL, workspace_bytes);
  check(mygemm_set_workspace(handle, workspace, workspace_bytes));
  check(mygemm_transpose(handle, sizeof(float), ROWS, COLS, matrix, COLS, matrix, ROWS));
  fetch(handle, result, matrix, BYTES);
  for (r = 0; r < ROWS; ++r) {
    for (c = 0; c < COLS; ++c) {
      expect(result[c * ROWS + r] == numbers[r * COLS + c], "an element of the transpose");
    }
  }

  /* Taken away before it is freed. Whoever has no memory to spare waits a little longer. */
  check(mygemm_set_workspace(handle, NULL, 0));
  release(handle, workspace);
  check(mygemm_transpose(handle, sizeof(float), COLS, ROWS, matrix, ROWS, matrix, COLS));
  fetch(handle, result, matrix, BYTES);
  for (r = 0; r < ROWS * COLS; ++r) expect(result[r] == numbers[r], "an element that came back");
  printf("%d x %d, there with %zu bytes of workspace and back with none: right\n", ROWS, COLS,
         workspace_bytes);

  release(handle, matrix);
  check(mygemm_destroy(handle));
  return 0;
}
