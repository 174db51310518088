// A program's use of cuBLAS, with the functions given, however they were found.
#pragma once

#include <cublas_api.h>

struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSgemm_v2) sgemm;
  decltype(&cublasDestroy_v2) destroy;
};

// Creates a handle, multiplies, destroys the handle; prints the statuses in that order. The
// matrices are of host memory: no GPU may take part.
inline int use(const Cublas& cublas, int (*print)(const char*, ...)) {
  const float alpha = 1, beta = 0, a = 2, b = 3;
  float c = 5;
  cublasHandle_t handle = nullptr;
  const int created = cublas.create(&handle);
  const int set = cublas.set_stream(handle, nullptr);
  const int multiplied =
      cublas.sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, &a, 1, &b, 1, &beta, &c, 1);
  const int destroyed = cublas.destroy(handle);
  print("statuses: %d %d %d %d\n", created, set, multiplied, destroyed);
  return 0;
}
