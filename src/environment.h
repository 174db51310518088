// The environment variables of the library, read when a handle is created.
#pragma once

#include <string>

#include "launcher.h"
#include "problem.h"
#include "status.h"

namespace mygemm {

struct Environment {
  mygemmBackend_t backend = MYGEMM_BACKEND_AUTO;           // MYGEMM_BACKEND
  mygemmMathMode_t math = MYGEMM_MATH_DEFAULT;             // MYGEMM_MATH
  mygemmInvariance_t invariance = MYGEMM_INVARIANCE_NONE;  // MYGEMM_INVARIANCE
  std::string log;                                         // MYGEMM_LOG: a file, or "stderr"
  // MYGEMM_FORCE_*: a kernel's name
  std::string force_gemm, force_grouped, force_softmax, force_cross_entropy, force_transpose;
};

// Fails with INVALID_VALUE and a sentence on an unknown value.
Status read_environment(Environment* environment);

// This process's place in a parallel job; read once.
const Place& place_of_process();

}  // namespace mygemm
