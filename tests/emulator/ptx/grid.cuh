// Emulator of the CUDA runtime: stands in for src/ptx/grid.cuh (any SM). Grids run one after
// another with any launch attributes. A block that ends without waiting is caught where its grid
// may overlap the one before it, as are copies before the wait; other reads and writes are not.
#pragma once

#include "execution.h"

namespace mygemm::ptx {

inline void launch_dependents() {}

inline void wait_for_previous_grid() { emulator::wait_for_previous_grid(); }

}  // namespace mygemm::ptx
