// The drop-in BLAS without CUDA: nothing goes to a GPU. See offload.h.
#include "offload.h"

namespace mygemm::blas {

bool offload_is_built() { return false; }
uint64_t offload_devices() { return 0; }
bool offload_is_possible() { return false; }
bool multiply_on_gpu(const Product&) { return false; }

}  // namespace mygemm::blas
