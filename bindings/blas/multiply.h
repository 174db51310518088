// Dispatch of a product: to GPUs where that is worth the transfers, else to the host.
#pragma once

#include "product.h"

namespace mygemm::blas {

// Computes a product whose arguments are legal. Returns whether it ran on GPUs.
bool multiply(const Product& product);

}  // namespace mygemm::blas
