// Uses cuBLAS without linking to it.
//   cublas_loader library FILE   loads FILE, a cuBLAS, with a scope of its own and asks dlsym
//   cublas_loader lt FILE        the same with FILE, a cuBLASLt
//   cublas_loader plugin FILE    loads FILE, which is linked to cuBLAS, with a scope of its own
//   cublas_loader probe          asks dlsym whether there is a cuBLAS, which there is not
//   cublas_loader next           asks dlsym for what comes next to a library, for next_first.cpp
#include <cublasLt.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "cublas_user.h"

int marked_next();  // next_first.cpp

namespace {

void* load(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) std::fprintf(stderr, "%s\n", dlerror());
  return library;
}

template <class F>
void find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
}

int use_library(const char* file) {
  void* library = load(file);
  if (!library) return 1;
  Cublas cublas{};
  find(library, "cublasCreate_v2", &cublas.create);
  find(library, "cublasSetStream_v2", &cublas.set_stream);
  find(library, "cublasSgemm_v2", &cublas.sgemm);
  find(library, "cublasDestroy_v2", &cublas.destroy);
  if (dlsym(library, "cublasNoSuchFunction")) return 1;
  return use(cublas, std::printf);
}

// Multiplies 1 x 1 matrices of host memory: no GPU may take part.
int use_lt(const char* file) {
  void* library = load(file);
  if (!library) return 1;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_operation = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatmul) multiply = nullptr;
  find(library, "cublasLtCreate", &create);
  find(library, "cublasLtMatmulDescCreate", &create_operation);
  find(library, "cublasLtMatrixLayoutCreate", &create_layout);
  find(library, "cublasLtMatmul", &multiply);
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  create(&handle);
  create_operation(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  create_layout(&layout, CUDA_R_32F, 1, 1, 1);
  const float alpha = 1, beta = 0, a = 2, b = 3;
  float d = 5;
  std::printf("status: %d\n", multiply(handle, operation, &alpha, &a, layout, &b, layout, &beta, &d,
                                       layout, &d, layout, nullptr, nullptr, 0, nullptr));
  return 0;
}

int use_plugin(const char* file) {
  void* plugin = load(file);
  int (*use_cublas)() = nullptr;
  if (plugin) find(plugin, "use_cublas", &use_cublas);
  return use_cublas ? use_cublas() : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "library") == 0) return use_library(words[2]);
  if (count == 3 && std::strcmp(words[1], "lt") == 0) return use_lt(words[2]);
  if (count == 3 && std::strcmp(words[1], "plugin") == 0) return use_plugin(words[2]);
  if (count == 2 && std::strcmp(words[1], "probe") == 0) {
    std::printf("cuBLAS: %s\n", dlsym(RTLD_DEFAULT, "cublasCreate_v2") ? "there" : "missing");
    return 0;
  }
  if (count == 2 && std::strcmp(words[1], "next") == 0) {
    std::printf("next: %d\n", marked_next());
    return 0;
  }
  return 2;
}
