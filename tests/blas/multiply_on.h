// Tests of the drop-in BLAS: a product by given GPUs.
#pragma once

#include <array>

#include "blas/dealing.h"
#include "owned_product.h"

namespace mygemm::blas {

template <class... Gpus>
bool multiply_on(const OwnedProduct& product, Gpus*... gpus) {
  const std::array<Gpu*, sizeof...(gpus)> all{gpus...};
  return multiply(product.product(), all);
}

}  // namespace mygemm::blas
