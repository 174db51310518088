// A handle of libmygemm's host backend for each thread: a handle serves one thread at a time.
#pragma once

#include "mygemm/mygemm.h"

namespace mygemm::blas {

// This thread's handle, made on first use. nullptr where it cannot be made; the first time, the
// reason is printed to stderr.
mygemmHandle_t host_handle();

}  // namespace mygemm::blas
