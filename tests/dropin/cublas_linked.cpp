// A user of cuBLAS that links to it: a program, and a plugin that cublas_loader loads.
#include <cstdio>

#include "cublas_user.h"

extern "C" int use_cublas() {
  return use({cublasCreate_v2, cublasSetStream_v2, cublasSgemm_v2, cublasDestroy_v2}, std::printf);
}

int main() { return use_cublas(); }
