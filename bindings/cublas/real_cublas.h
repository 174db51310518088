// The cuBLAS and cuBLASLt behind libmygemm_cublas.so: finding and calling their functions.
#pragma once

#include <cublas_api.h>

#include "functions.h"

namespace mygemm::cublas {

// The address of the library's own function among what is loaded, or nullptr.
void* find_real(Function function);

// The same, after loading cuBLAS where it is not loaded yet. nullptr where there is no cuBLAS, or
// it has no such function; the first such failure is reported on stderr.
void* real_function(Function function);

// True for the supported major versions; calls of any other are forwarded. get_property:
// kGetProperty of cuBLAS, or kLtGetProperty.
bool known_version(Function get_property);

// Calls cuBLAS's own function with the arguments that ours was called with. The parameters' types
// are those of the arguments, so these must be variables of the declared types.
template <class... Arguments>
cublasStatus_t forward(Function function, Arguments... arguments) {
  using Pointer = cublasStatus_t (*)(Arguments...);
  const auto real = reinterpret_cast<Pointer>(real_function(function));
  return real ? real(arguments...) : CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace mygemm::cublas
