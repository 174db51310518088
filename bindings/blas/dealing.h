// A product of host matrices by several GPUs at once. Its tiles are those of the first one, so that
// bits do not depend on the number of GPUs, nor on which of them computes a tile.
#pragma once

#include <span>

#include "gpu.h"

namespace mygemm::blas {

// The GPUs are of one model; those for which there is no panel take no part. Makes devices current
// on this thread. False where C is unchanged: the first GPU has no memory for it or is lost, or all
// are. Where some are lost during the product, the others compute their tiles, and the host what is
// left.
bool multiply(const Product& product, std::span<Gpu* const> gpus);

}  // namespace mygemm::blas
