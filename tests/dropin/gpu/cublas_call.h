// Calls of the functions of cuBLAS, as cublas_answers finds them.
#pragma once

#include <cublas_api.h>
#include <dlfcn.h>

#include "answers.h"

inline void* cublas = nullptr;
inline cublasHandle_t handle = nullptr;

template <class... Arguments>
cublasStatus_t call(const std::string& name, Arguments... arguments) {
  using Pointer = cublasStatus_t (*)(Arguments...);
  const auto function = reinterpret_cast<Pointer>(dlsym(cublas, name.c_str()));
  require(function, name.c_str());
  return function(arguments...);
}

// The calls of cublasSsyrk, cublasSsyrkx and cublasSgemmGroupedBatched.
void ask_triangles_and_groups(const std::string& mode);
