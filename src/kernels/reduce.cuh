// Sums, maxima and (maximum, sum) pairs over the lanes of a warp and the warps of a block, in a
// fixed order. Every lane of the warp (thread of the block) must call. Device only.
#pragma once

namespace mygemm {

// The running softmax of part of a row: the largest s so far and sum of exp(s - maximum).
struct MaxSum {
  float maximum, sum;
};

// expf is the accurate one: within 1 ulp, denormal results kept. -inf, +inf and NaN in `s` leave
// a NaN in the sum unless the row has a finite maximum (then -inf adds exactly 0).
__device__ __forceinline__ MaxSum merge(MaxSum x, MaxSum y) {
  const float maximum = fmaxf(x.maximum, y.maximum);
  // A part that has seen nothing but -inf adds its sum as it is: 0, or NaN if it has seen one.
  const float x_factor = x.maximum == -INFINITY ? 1.0f : expf(x.maximum - maximum);
  const float y_factor = y.maximum == -INFINITY ? 1.0f : expf(y.maximum - maximum);
  return {maximum, x.sum * x_factor + y.sum * y_factor};
}

struct Sum {
  static constexpr float kNothing = 0.0f;
  static __device__ __forceinline__ float combine(float x, float y) { return x + y; }
};

struct Max {
  static constexpr float kNothing = -INFINITY;
  static __device__ __forceinline__ float combine(float x, float y) { return fmaxf(x, y); }
};

// Over groups of kLanes neighbouring lanes (a power of two); every lane gets the result.
template <class Operation, int kLanes = 32>
__device__ __forceinline__ float warp_reduce(float value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value = Operation::combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

__device__ __forceinline__ MaxSum warp_merge(MaxSum value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const MaxSum other{__shfl_xor_sync(0xffffffffu, value.maximum, offset),
                       __shfl_xor_sync(0xffffffffu, value.sum, offset)};
    // The lower lane's part first in both lanes: the same bits in both.
    value =
        (threadIdx.x & static_cast<unsigned>(offset)) ? merge(other, value) : merge(value, other);
  }
  return value;
}

// Over a block of whole warps; every thread gets the result. `partial` is shared memory that no
// thread uses between the last barrier before the call and the first one after it.
template <class Operation>
__device__ __forceinline__ float block_reduce(float value, float (&partial)[32]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_reduce<Operation>(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();  // every warp's part is there
  return warp_reduce<Operation>(lane < warps ? partial[lane] : Operation::kNothing);
}

__device__ __forceinline__ MaxSum block_merge(MaxSum value, float (&maxima)[32],
                                              float (&sums)[32]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_merge(value);
  if (lane == 0) {
    maxima[warp] = value.maximum;
    sums[warp] = value.sum;
  }
  __syncthreads();  // every warp's part is there
  return warp_merge(lane < warps ? MaxSum{maxima[lane], sums[lane]} : MaxSum{-INFINITY, 0.0f});
}

}  // namespace mygemm
