/*
 * Shared functions of the examples: statuses that are checked, memory for a handle's matrices, and
 * numbers to compute with.
 */
#ifndef MYGEMM_EXAMPLE_H
#define MYGEMM_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <mygemm/mygemm.h>

/* ---- statuses ---- */

/* Ends the program, with the library's sentence, unless the call succeeded. */
void check(mygemmStatus_t status);

/* Ends the program, with a sentence, unless a result is what it should be. */
void expect(int right, const char* what);

/* ---- handles and their memory ---- */

/* A handle for the GPU, where there is one and the examples are compiled with CUDA; else for the
 * host. Says which. */
mygemmHandle_t create_handle(void);

/* `bytes` of memory where the handle's matrices live, aligned to 256 bytes, with a copy of `values`
 * (host memory) unless that is NULL. NULL for 0 bytes. */
void* place(mygemmHandle_t handle, const void* values, size_t bytes);
void release(mygemmHandle_t handle, void* memory);

/* Copies such memory to host memory, after the work of the default stream. */
void fetch(mygemmHandle_t handle, void* values, const void* memory, size_t bytes);

/* ---- numbers, in host memory ---- */

/* Host memory that free() takes back; ends the program where there is none. */
void* host_memory(size_t bytes);

/* Whole numbers from -4 to 4, the same for the same seed. Products of matrices of these are exact
 * in FP32 while k < 2^20, so that results can be compared for equality. */
float* small_integers(int64_t count, uint32_t seed);

/* The sum of x[l * incx] * y[l * incy] over n elements, in FP64: one element of a product. */
double dot(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy);

#ifdef MYGEMM_EXAMPLES_CUDA
#include <cuda_runtime_api.h>

/* Ends the program, with CUDA's sentence, unless the call succeeded. */
void check_cuda(cudaError_t error);

/* A handle for the GPU, with a stream of its own. Without a GPU: says so and exits with 77. */
mygemmHandle_t create_gpu_handle(cudaStream_t* stream);
#endif

#endif /* MYGEMM_EXAMPLE_H */
