/*
 * A product and a softmax of its result, captured into a CUDA graph once and launched with other
 * factors each time: alpha and beta lie in device memory and are read when the graph runs. The
 * workspace is set before the capture and must outlive the graph, like the matrices.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

/* C is N x N, column-major; the rows of the softmax are its columns. */
enum { N = 200, K = 2048, C_BYTES = N * N * sizeof(float) };

/* The operands of the graph, in device memory. */
typedef struct {
  float *a, *b, *c, *y, *factors; /* factors: alpha, beta */
} Matrices;

/* Enqueues C = alpha A B + beta C and y = softmax(C), or captures them. */
static void enqueue(mygemmHandle_t handle, const Matrices* at) {
  check(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, N, N, K, at->factors, at->a, N, at->b, K,
                     at->factors + 1, at->c, N));
  check(mygemm_softmax(handle, MYGEMM_SOFTMAX, N, N, 1.0f, at->c, MYGEMM_R_32F, N, at->y,
                       MYGEMM_R_32F, N));
}

static cudaGraphExec_t capture(mygemmHandle_t handle, const Matrices* at, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  enqueue(handle, at);
  check_cuda(cudaStreamEndCapture(stream, &graph));
  check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  check_cuda(cudaGraphDestroy(graph));
  return executable;
}

/* One column of C and its softmax, against FP64. */
static void check_column(const float* c, const double* wanted, const float* y) {
  double largest = wanted[0], sum = 0;
  int i;
  for (i = 0; i < N; ++i) {
    expect(c[i] == wanted[i], "an element of C");
    if (wanted[i] > largest) largest = wanted[i];
  }
  for (i = 0; i < N; ++i) sum += exp(wanted[i] - largest);
  for (i = 0; i < N; ++i) {
    const double weight = exp(wanted[i] - largest) / sum;
    expect(fabs(y[i] - weight) <= 1e-5 * weight, "an element of the softmax");
  }
}

/* Launches the graph with these factors on C = old_c, and checks what it leaves; ab is A B. */
static void replay(cudaGraphExec_t graph, cudaStream_t stream, const Matrices* at, const double* ab,
                   const float* old_c, float alpha, float beta) {
  static float c[N * N], y[N * N];
  static double wanted[N * N];
  const float factors[2] = {alpha, beta};
  int i;
  check_cuda(cudaMemcpyAsync(at->factors, factors, sizeof factors, cudaMemcpyHostToDevice, stream));
  check_cuda(cudaMemcpyAsync(at->c, old_c, C_BYTES, cudaMemcpyHostToDevice, stream));
  check_cuda(cudaGraphLaunch(graph, stream));
  check_cuda(cudaMemcpyAsync(c, at->c, C_BYTES, cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaMemcpyAsync(y, at->y, C_BYTES, cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  for (i = 0; i < N * N; ++i) wanted[i] = alpha * ab[i] + beta * old_c[i];
  for (i = 0; i < N * N; i += N) check_column(c + i, wanted + i, y + i);
}

int main(void) {
  cudaStream_t stream;
  mygemmHandle_t handle = create_gpu_handle(&stream);
  float *a = small_integers(N * K, 1), *b = small_integers(K * N, 2);
  float* c = small_integers(N * N, 3);
  size_t workspace_bytes;
  void* workspace;
  cudaGraphExec_t graph;
  Matrices at;
  static double ab[N * N];
  int i, j;

  for (j = 0; j < N; ++j) {
    for (i = 0; i < N; ++i) ab[i + j * N] = dot(K, a + i, N, b + j * K, 1);
  }
  at.a = (float*)place(handle, a, N * K * sizeof(float));
  at.b = (float*)place(handle, b, K * N * sizeof(float));
  at.c = (float*)place(handle, NULL, C_BYTES);
  at.y = (float*)place(handle, NULL, C_BYTES);
  at.factors = (float*)place(handle, NULL, 2 * sizeof(float));
  check(
      mygemm_sgemm_workspace_size(handle, MYGEMM_OP_N, MYGEMM_OP_N, N, N, K, 1, &workspace_bytes));
  workspace = place(handle, NULL, workspace_bytes);
  check(mygemm_set_workspace(handle, workspace, workspace_bytes));
  check(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_DEVICE));

  graph = capture(handle, &at, stream);
  replay(graph, stream, &at, ab, c, 0.0078125f, 0.0f);
  replay(graph, stream, &at, ab, c, -0.015625f, 0.5f);
  replay(graph, stream, &at, ab, c, 0.0f, 1.0f);
  printf("one graph, three pairs of factors: right, with a workspace of %zu bytes\n",
         workspace_bytes);

  check_cuda(cudaGraphExecDestroy(graph));
  release(handle, workspace);
  release(handle, at.a);
  release(handle, at.b);
  release(handle, at.c);
  release(handle, at.y);
  release(handle, at.factors);
  check(mygemm_destroy(handle));
  check_cuda(cudaStreamDestroy(stream));
  free(a);
  free(b);
  free(c);
  return 0;
}
