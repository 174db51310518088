/*
 * A layer of a neural network in one call: Y = GELU(X W^T / 8 + bias), with row-major X, W and Y as
 * such programs hold them, and then the same with ReLU in the handle's strict math mode. On the GPU
 * where there is one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

enum { BATCH = 100, INPUTS = 256, OUTPUTS = 120 };
static const float alpha = 0.125f, beta = 0;

/* alpha * (row of X) * (row of W) + bias, exact in FP64, and here in FP32 too. */
static double before_activation(const float* x, const float* w, float bias) {
  return alpha * dot(INPUTS, x, 1, w, 1) + bias;
}

static double gelu(double t) {
  const double u = 0.7978845608028654 * (t + 0.044715 * t * t * t); /* sqrt(2 / pi) */
  return t / (1 + exp(-2 * u));
}

int main(void) {
  const size_t y_bytes = BATCH * OUTPUTS * sizeof(float);
  float *x = small_integers(BATCH * INPUTS, 1), *w = small_integers(OUTPUTS * INPUTS, 2);
  float *bias = small_integers(OUTPUTS, 3), *y = (float*)host_memory(y_bytes);
  mygemmHandle_t handle = create_handle();
  void* at_x = place(handle, x, BATCH * INPUTS * sizeof(float));
  void* at_w = place(handle, w, OUTPUTS * INPUTS * sizeof(float));
  void* at_bias = place(handle, bias, OUTPUTS * sizeof(float));
  void* at_y = place(handle, NULL, y_bytes);
  size_t workspace_bytes;
  void* workspace;
  int i, j;

  /* A row-major matrix is the transpose of a column-major one: what is computed is Y^T = W X^T,
   * whose rows are the outputs, with one bias each. */
  mygemmGemm_t layer = MYGEMM_GEMM_INIT;
  layer.transa = MYGEMM_OP_T;
  layer.m = OUTPUTS;
  layer.n = BATCH;
  layer.k = INPUTS;
  layer.alpha = &alpha;
  layer.beta = &beta;
  layer.A = at_w;
  layer.lda = INPUTS;
  layer.B = at_x;
  layer.ldb = INPUTS;
  layer.D = at_y;
  layer.ldd = OUTPUTS;
  layer.bias = at_bias;
  layer.activation = MYGEMM_ACTIVATION_GELU;

  check(mygemm_gemm_workspace_size(handle, &layer, &workspace_bytes));
  workspace = place(handle, NULL, workspace_bytes);
  check(mygemm_set_workspace(handle, workspace, workspace_bytes));

  check(mygemm_gemm(handle, &layer));
  fetch(handle, y, at_y, y_bytes);
  for (i = 0; i < BATCH; ++i) {
    for (j = 0; j < OUTPUTS; ++j) {
      const double t = before_activation(x + i * INPUTS, w + j * INPUTS, bias[j]);
      const double wanted = gelu(t);
      expect(fabs(y[i * OUTPUTS + j] - wanted) <= 1e-5 * fabs(wanted) + 1e-6, "a GELU");
    }
  }

  layer.activation = MYGEMM_ACTIVATION_RELU;
  layer.math = MYGEMM_MATH_STRICT;
  check(mygemm_gemm(handle, &layer));
  fetch(handle, y, at_y, y_bytes);
  for (i = 0; i < BATCH; ++i) {
    for (j = 0; j < OUTPUTS; ++j) {
      const double t = before_activation(x + i * INPUTS, w + j * INPUTS, bias[j]);
      expect(y[i * OUTPUTS + j] == (t > 0 ? t : 0), "a ReLU");
    }
  }
  printf("a layer of %d outputs for %d inputs is right with GELU and with ReLU\n", OUTPUTS, INPUTS);

  release(handle, workspace);
  release(handle, at_x);
  release(handle, at_w);
  release(handle, at_bias);
  release(handle, at_y);
  check(mygemm_destroy(handle));
  free(x);
  free(w);
  free(bias);
  free(y);
  return 0;
}
