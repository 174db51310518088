/* Shared functions of the examples, see example.h. */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include "example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statuses ---- */

void check(mygemmStatus_t status) {
  if (status == MYGEMM_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", mygemm_status_string(status), mygemm_last_error());
  exit(EXIT_FAILURE);
}

void expect(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(EXIT_FAILURE);
}

/* ---- handles and their memory ---- */

static int is_on_gpu(mygemmHandle_t handle) {
  mygemmBackend_t backend;
  check(mygemm_get_backend(handle, &backend));
  return backend == MYGEMM_BACKEND_CUDA;
}

mygemmHandle_t create_handle(void) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle;
#ifndef MYGEMM_EXAMPLES_CUDA
  config.backend = MYGEMM_BACKEND_HOST; /* the only one whose memory is at hand */
#endif
  check(mygemm_create_with_config(&handle, &config));
  printf("on the %s: ", is_on_gpu(handle) ? "GPU" : "host");
  return handle;
}

void* place(mygemmHandle_t handle, const void* values, size_t bytes) {
  void* memory = NULL;
  if (bytes == 0) return NULL;
#ifdef MYGEMM_EXAMPLES_CUDA
  if (is_on_gpu(handle)) {
    check_cuda(cudaMalloc(&memory, bytes));
    if (values) check_cuda(cudaMemcpy(memory, values, bytes, cudaMemcpyHostToDevice));
    /* The copy may be on its way when it returns, and other streams do not wait for it. */
    check_cuda(cudaStreamSynchronize(NULL));
    return memory;
  }
#endif
  (void)handle;
  expect(posix_memalign(&memory, 256, bytes) == 0, "out of host memory");
  if (values) memcpy(memory, values, bytes);
  return memory;
}

void release(mygemmHandle_t handle, void* memory) {
#ifdef MYGEMM_EXAMPLES_CUDA
  if (is_on_gpu(handle)) {
    check_cuda(cudaFree(memory));
    return;
  }
#endif
  (void)handle;
  free(memory);
}

void fetch(mygemmHandle_t handle, void* values, const void* memory, size_t bytes) {
#ifdef MYGEMM_EXAMPLES_CUDA
  if (is_on_gpu(handle)) {
    check_cuda(cudaMemcpy(values, memory, bytes, cudaMemcpyDeviceToHost));
    return;
  }
#endif
  (void)handle;
  memcpy(values, memory, bytes);
}

#ifdef MYGEMM_EXAMPLES_CUDA
void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  exit(EXIT_FAILURE);
}

mygemmHandle_t create_gpu_handle(cudaStream_t* stream) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle;
  mygemmStatus_t status;
  config.backend = MYGEMM_BACKEND_CUDA;
  status = mygemm_create_with_config(&handle, &config);
  if (status == MYGEMM_STATUS_NOT_INITIALIZED) {
    printf("no GPU: nothing to show (%s)\n", mygemm_last_error());
    exit(77);
  }
  check(status);
  check_cuda(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  check(mygemm_set_stream(handle, *stream));
  return handle;
}
#endif

/* ---- numbers ---- */

void* host_memory(size_t bytes) {
  void* memory = malloc(bytes);
  expect(memory != NULL, "out of host memory");
  return memory;
}

float* small_integers(int64_t count, uint32_t seed) {
  float* values = (float*)host_memory((size_t)count * sizeof(float));
  int64_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)((int)((seed >> 16) % 9) - 4);
  }
  return values;
}

double dot(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy) {
  double sum = 0;
  int64_t l;
  for (l = 0; l < n; ++l) sum += (double)x[l * incx] * y[l * incy];
  return sum;
}
