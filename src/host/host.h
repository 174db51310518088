// What the layers above ask of the host backend besides its kernels.
#pragma once

namespace mygemm::host {

// Finds a CBLAS with dlopen on first use: its file name, or nullptr. See cblas.cpp.
const char* find_cblas();

// Threads that the host kernels use: OpenMP's answer at this moment.
int num_threads();

}  // namespace mygemm::host
