// The cuBLAS behind libmygemm_cublas.so: where its functions are found, and how they are called.
#pragma once

#include <cublas_api.h>

#include "functions.h"

namespace mygemm::cublas {

// The address of cuBLAS's own function among what is loaded, or nullptr.
void* find_real(Function function);

// The same, with cuBLAS loaded where nobody has yet. nullptr where there is no cuBLAS, or one
// without it; the first such failure is told on stderr.
void* real_function(Function function);

// True for the major versions whose calls are known here; calls of any other are forwarded.
bool known_version();

// Calls cuBLAS's own function with the arguments that ours was called with. The parameters' types
// are those of the arguments, so these must be variables of the declared types.
template <class... Arguments>
cublasStatus_t forward(Function function, Arguments... arguments) {
  using Pointer = cublasStatus_t (*)(Arguments...);
  const auto real = reinterpret_cast<Pointer>(real_function(function));
  return real ? real(arguments...) : CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace mygemm::cublas
