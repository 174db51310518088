// Grids that overlap the one before them in their stream (programmatic dependent launch). From SM
// 90 on; below it grids do not overlap, and both functions do nothing. Device only.
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
