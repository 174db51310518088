// A stand-in for libcublas.so.13 that computes nothing: it keeps settings of its handles as cuBLAS
// does, and records each call of a product with all its arguments.
#pragma once

#include <cublas_api.h>

#include <sstream>
#include <string>

// The last call of a product or a sum, as `said` below writes it; empty where there was none since
// the last time it was asked for.
extern "C" const char* fake_cublas_last_call();
// Records a call, and returns the status that products return.
extern "C" cublasStatus_t fake_cublas_record(const char* call);
// Sets the status that products return from now on.
extern "C" void fake_cublas_answer(cublasStatus_t status);

namespace fake_cublas {

// "cublasSgemm_v2 0x55.. 0 1 2 3 ...".
template <class... Arguments>
std::string said(const char* function, Arguments... arguments) {
  std::ostringstream text;
  text << function;
  ((text << ' ' << arguments), ...);
  return text.str();
}

}  // namespace fake_cublas
