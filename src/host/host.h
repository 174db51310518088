// The functions of the host backend, other than kernels, that the layers above call.
#pragma once

namespace mygemm::host {

// Finds a CBLAS with dlopen on first use: its file name, or nullptr. See cblas.cpp.
const char* find_cblas();

// Threads that the host kernels use: OpenMP's answer at this moment.
int num_threads();

}  // namespace mygemm::host
