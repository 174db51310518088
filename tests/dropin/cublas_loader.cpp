// Uses cuBLAS without linking to it.
//   cublas_loader library FILE   loads FILE, a cuBLAS, with a scope of its own and asks dlsym
//   cublas_loader plugin FILE    loads FILE, which is linked to cuBLAS, with a scope of its own
//   cublas_loader probe          asks dlsym whether there is a cuBLAS, which there is not
//   cublas_loader next           asks dlsym for what comes next to a library, for next_first.cpp
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

int use_plugin(const char* file) {
  void* plugin = load(file);
  int (*use_cublas)() = nullptr;
  if (plugin) find(plugin, "use_cublas", &use_cublas);
  return use_cublas ? use_cublas() : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "library") == 0) return use_library(words[2]);
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
