// The host side of the drop-in BLAS: libmygemm's host backend, with a handle for each thread.
#pragma once

#include "arguments.h"
#include "product.h"

namespace mygemm::blas {

// True while this thread is in multiply_on_host(): a reference CBLAS calls sgemm_ by name, which is
// ours.
bool inside_host_call();

// Computes a product whose arguments are legal. Where the backend refuses it (operands that
// overlap, an environment variable with an unknown value, no memory), plain loops compute it.
void multiply_on_host(const Product& product);

// B = alpha * op(A), in place where b = a, for legal arguments. Where alpha is 0, A is not read.
void copy_matrix(const MatrixCopy& copy);

}  // namespace mygemm::blas
