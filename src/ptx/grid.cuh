// Grids that overlap the one before them in their stream (programmatic dependent launch). From SM
// 90 on; below it grids do not overlap, and both functions do nothing. Device only.
//
// Every block of a grid that may overlap waits, before it writes, and before it reads what grids
// before it may write: else the grid could end first, and the next one would not wait for both. A
// kernel launches
// its dependents where its last stores begin: their blocks then hold multiprocessors that others
// could use for no longer than those stores. From call to call in a graph, H200: 0.2 us less than
// one grid behind the other, 0.35 us where dependents are launched, too (1.9 us becomes 1.5 us).
#pragma once

namespace mygemm::ptx {

// griddepcontrol.launch_dependents: once every block has called it or ended, the next grid of the
// stream may begin, if it was launched to overlap.
__device__ __forceinline__ void launch_dependents() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// griddepcontrol.wait: until the grid that this one overlaps has ended; what it wrote is then seen.
__device__ __forceinline__ void wait_for_previous_grid() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace mygemm::ptx
