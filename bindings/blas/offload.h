// Products of host matrices on the GPU. Includes no CUDA header; offload_absent.cpp stands in where
// the library is built without CUDA.
#pragma once

#include "product.h"

namespace mygemm::blas {

// Whether the library is built with CUDA.
bool offload_is_built();

// The device that products ran on; -1: none has yet.
int offload_device();

// False once the GPU has failed, in a child of a process that used it, and without CUDA.
bool offload_is_possible();

// Computes a product that reads its operands. Returns false where the GPU cannot; C is then
// unchanged. Where the GPU fails during the product, the host computes the rest of C, and the
// result is true. One call at a time; others wait. A GPU that fails is told of on stderr, once.
bool multiply_on_gpu(const Product& product);

}  // namespace mygemm::blas
