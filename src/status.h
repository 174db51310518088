// How failures travel inside the library: every fallible function returns a mygemmStatus_t, and
// the one that fails leaves a sentence for mygemm_last_error() by calling fail().
// The only two macros of the library are here. Includes nothing of the project but the ABI.
#pragma once

#include <cstdarg>

#include "mygemm/mygemm.h"

namespace mygemm {

using Status = mygemmStatus_t;

// Stores the printf-formatted sentence as this thread's last error and returns `status`.
[[gnu::format(printf, 2, 3)]] Status fail(Status status, const char* format, ...);
[[gnu::format(printf, 2, 0)]] Status fail_with(Status status, const char* format,
                                               std::va_list arguments);

// This thread's last sentence; "" where nothing has failed.
const char* last_error_text();

// Turns a CUDA runtime error (0 is success) into a status and, if it is an error, a sentence that
// names `call`; clears the runtime's own last error. Defined in kernels/cuda_device.cu.
Status from_cuda(int cuda_error, const char* call);

}  // namespace mygemm

#define RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                     \
    if (const ::mygemm::Status status_ = (expression); status_ != MYGEMM_STATUS_SUCCESS) { \
      return status_;                                                                      \
    }                                                                                      \
  } while (false)

#define CUDA_TRY(call) RETURN_IF_ERROR(::mygemm::from_cuda(static_cast<int>(call), #call))
