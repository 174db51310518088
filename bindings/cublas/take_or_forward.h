// The body of each of the computing functions of cuBLAS: mygemm takes the call, or it is forwarded.
#pragma once

#include "real_cublas.h"
#include "take.h"

namespace mygemm::cublas {

// describe: makes a GemmCall or a GeamCall of the arguments after the handle.
template <class Describe, class... Arguments>
cublasStatus_t take_or_forward(Function function, Describe describe, cublasHandle_t handle,
                               Arguments... arguments) {
  const auto status = take(function, handle, describe(arguments...));
  return status ? *status : forward(function, handle, arguments...);
}

}  // namespace mygemm::cublas
