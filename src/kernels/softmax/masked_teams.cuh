// The threads that share a row of a masked softmax. Device only.
#pragma once

#include <type_traits>

#include "kernels/reduce.cuh"
#include "kernels/softmax/storage.h"

namespace mygemm {

// 2^log2_lanes neighbouring lanes of a warp.
struct WarpTeam {
  int log2_lanes;

  template <class Operation>
  __device__ __forceinline__ float reduce(float value) {
    return warp_reduce<Operation>(value, log2_lanes);
  }
};

// The two reductions of a row have memory of their own.
struct BlockTeam {
  BlockStorage& shared;

  // Every thread adds up the parts of all warps, of which there are few, four at a time.
  template <class Operation>
  __device__ __forceinline__ float reduce(float value) {
    float(&partial)[32] = std::is_same_v<Operation, Max> ? shared.maximum : shared.sum;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    value = warp_reduce<Operation>(value);
    if (lane == 0) partial[warp] = value;
    if (lane < 3 && warp == warps - 1 && warps % 4 + lane < 4 && warps % 4 != 0) {
      partial[warps + lane] = Operation::kNothing;
    }
    __syncthreads();  // every warp has stored its partial result
    const float4* four = reinterpret_cast<const float4*>(partial);
    float result = Operation::kNothing;
#pragma unroll 1
    for (unsigned i = 0; i < warps; i += 4) {
      const float4 v = four[i / 4];
      result = Operation::combine(
          result, Operation::combine(Operation::combine(v.x, v.y), Operation::combine(v.z, v.w)));
    }
    return result;
  }
};

}  // namespace mygemm
