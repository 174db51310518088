// The list of a group's products as kernels use it, and the launch that makes it.
#pragma once

#include "kernels/grouped/list.h"
#include "kernels/launch.h"

namespace mygemm::grouped {

// The product that has tile `tile` of all; device only.
__device__ __forceinline__ int product_of_tile(const ProductList& list, int64_t tile) {
  int first = 0, end = list.count;
  while (end - first > 1) {
    const int middle = (first + end) / 2;
    (list.tiles[middle] <= tile ? first : end) = middle;
  }
  return first;
}

// Makes the list in the workspace, for the kernel that is launched next.
Status launch_list(const GroupedProblem& p, const Tiling& tiling, const LaunchContext& context,
                   ProductList* list);

}  // namespace mygemm::grouped
