// Products of host matrices on the GPU. Includes no CUDA header; offload_absent.cpp stands in where
// the library is built without CUDA.
#pragma once

#include <cstdint>

#include "product.h"

namespace mygemm::blas {

// Whether the library is built with CUDA.
bool offload_is_built();

// The devices that products have run on, bit by bit.
uint64_t offload_devices();

// False once all GPUs have failed, in a child of a process that used it, and without CUDA.
bool offload_is_possible();

// Computes a product that reads its operands: on one GPU, or on all that settings.h allows where
// that pays. Returns false where no GPU can; C is then unchanged. Where GPUs fail during the
// product, the others or the host compute the rest of C, and the result is true. One call at a
// time; others wait. A GPU that fails is told of on stderr, once.
bool multiply_on_gpu(const Product& product);

}  // namespace mygemm::blas
