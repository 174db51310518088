/*
 * Two products at once, each on a stream of its own with a handle and a workspace of its own, and a
 * third that needs both results: an event makes its stream wait for the other. The bits are those
 * of one stream.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

/* X = A B and Y = B^T A^T = X^T, N x N with depth K; then Z = X Y. */
enum { N = 200, K = 1024, BYTES = N * N * sizeof(float) };
static const float one = 1, zero = 0;

/* A stream's handle, and the workspace that no other stream may use at the same time. */
typedef struct {
  cudaStream_t stream;
  mygemmHandle_t handle;
  void* workspace;
} Lane;

static Lane create_lane(void) {
  Lane lane;
  size_t bytes;
  lane.handle = create_gpu_handle(&lane.stream);
  check(mygemm_sgemm_workspace_size(lane.handle, MYGEMM_OP_N, MYGEMM_OP_N, N, N, K, 1, &bytes));
  lane.workspace = place(lane.handle, NULL, bytes);
  check(mygemm_set_workspace(lane.handle, lane.workspace, bytes));
  return lane;
}

static void destroy_lane(Lane* lane) {
  check_cuda(cudaStreamSynchronize(lane->stream));
  release(lane->handle, lane->workspace);
  check(mygemm_destroy(lane->handle));
  check_cuda(cudaStreamDestroy(lane->stream));
}

/* Enqueues the three products: X and Z on `first`, Y on `second`, which may be the same. */
static void enqueue(const Lane* first, const Lane* second, const float* a, const float* b, float* x,
                    float* y, float* z) {
  cudaEvent_t y_is_done;
  check(mygemm_sgemm(first->handle, MYGEMM_OP_N, MYGEMM_OP_N, N, N, K, &one, a, N, b, K, &zero, x,
                     N));
  check(mygemm_sgemm(second->handle, MYGEMM_OP_T, MYGEMM_OP_T, N, N, K, &one, b, K, a, N, &zero, y,
                     N));
  check_cuda(cudaEventCreateWithFlags(&y_is_done, cudaEventDisableTiming));
  check_cuda(cudaEventRecord(y_is_done, second->stream));
  check_cuda(cudaStreamWaitEvent(first->stream, y_is_done, 0));
  check_cuda(cudaEventDestroy(y_is_done)); /* CUDA keeps it as long as it is waited for */
  check(mygemm_sgemm(first->handle, MYGEMM_OP_N, MYGEMM_OP_N, N, N, N, &one, x, N, y, N, &zero, z,
                     N));
  check_cuda(cudaStreamSynchronize(first->stream)); /* and Y was done before Z */
}

/* Z against FP64. A B is exact; the sums of Z are rounded, at most N times. */
static void check_result(const float* z, const float* a, const float* b) {
  static float x[N * N];
  int i, j, l;
  for (j = 0; j < N; ++j) {
    for (i = 0; i < N; ++i) x[i + j * N] = (float)dot(K, a + i, N, b + j * K, 1);
  }
  for (j = 0; j < N; ++j) {
    for (i = 0; i < N; ++i) {
      double terms = 0;
      for (l = 0; l < N; ++l) terms += fabs((double)x[i + l * N] * x[j + l * N]);
      expect(fabs(z[i + j * N] - dot(N, x + i, N, x + j, N)) <= terms * (double)N * FLT_EPSILON,
             "an element of Z");
    }
  }
}

int main(void) {
  static float together[N * N], apart[N * N];
  Lane first = create_lane(), second = create_lane();
  float *a = small_integers(N * K, 1), *b = small_integers(K * N, 2);
  float* at_a = (float*)place(first.handle, a, N * K * sizeof(float));
  float* at_b = (float*)place(first.handle, b, K * N * sizeof(float));
  float* x = (float*)place(first.handle, NULL, BYTES);
  float* y = (float*)place(first.handle, NULL, BYTES);
  float* z = (float*)place(first.handle, NULL, BYTES);

  enqueue(&first, &second, at_a, at_b, x, y, z);
  fetch(first.handle, together, z, BYTES);
  enqueue(&first, &first, at_a, at_b, x, y, z);
  fetch(first.handle, apart, z, BYTES);
  check_result(together, a, b);
  expect(memcmp(together, apart, BYTES) == 0, "two streams give other bits than one");
  printf("three products on two streams: right, and the bits of one stream\n");

  release(first.handle, at_a);
  release(first.handle, at_b);
  release(first.handle, x);
  release(first.handle, y);
  release(first.handle, z);
  destroy_lane(&first);
  destroy_lane(&second);
  free(a);
  free(b);
  return 0;
}
