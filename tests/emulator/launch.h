// Emulator of the CUDA runtime: limits and attributes of launches: the limits of blocks
// and clusters, the attributes of kernels and launches, how much of a grid fits on the device. Not
// thread-safe: the runtime holds its lock.
// Environment: MYGEMM_EMULATED_BLOCKS is the most blocks that a grid gets, however many it asks for
// (rounded up to whole clusters), and MYGEMM_EMULATED_CLUSTER the most blocks of a cluster that
// find room at once (default 16), as where a GPU is shared.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"
#include "execution.h"

namespace emulator {

cudaError_t set_kernel_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
// Bytes of dynamic shared memory that the kernel may ask for.
int shared_limit(const void* kernel);

// The grid, complete except for its kernel, or the error with which CUDA refuses it.
cudaError_t read_launch(const cudaLaunchConfig_t& config, const void* kernel, Grid* grid);

int blocks_per_sm(int threads, size_t shared_bytes);
// Number of clusters like the grid's that fit on the whole device at once.
int active_clusters(const Grid& grid);

// Blocks that a grid of `asked_for` blocks along x gets. Loops over more work than blocks, which
// real grids are seldom too small for, can then be tested.
unsigned blocks_granted(unsigned asked_for, unsigned cluster_blocks);

}  // namespace emulator
