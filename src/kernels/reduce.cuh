// Sums and maxima over the lanes of a warp and the warps of a block, in a fixed order. Every lane
// of the warp (thread of the block) must call. Device only.
#pragma once

#include <type_traits>

namespace mygemm {

struct Sum {
  static constexpr float kNothing = 0.0f;
  template <class T>
  static __device__ __forceinline__ T combine(T x, T y) {
    return x + y;
  }
};

struct Max {
  static constexpr float kNothing = -INFINITY;
  static __device__ __forceinline__ float combine(float x, float y) { return fmaxf(x, y); }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// The maximum over a warp of values that are not NaN: floats are mapped to integers in the same
// order, which one instruction reduces, and back by the same mapping. SM 80.
__device__ __forceinline__ float warp_largest(float value) {
  const auto in_order = [](int bits) { return bits ^ (bits >> 31 & 0x7fffffff); };
  const int bits = static_cast<int>(__float_as_uint(value));
  const int largest = in_order(__reduce_max_sync(0xffffffffu, in_order(bits)));
  return __uint_as_float(static_cast<unsigned>(largest));
}
#endif

// Reduces over groups of 2^log2_lanes neighbouring lanes; every lane gets the result. Where the
// number is known only at run time a step costs one branch more.
template <class Operation, class T>
__device__ __forceinline__ T warp_reduce(T value, int log2_lanes = 5) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<Operation, Max>) {
    if (log2_lanes == 5) return warp_largest(value);
  }
#endif
#pragma unroll
  for (int step = 0; step < 5; ++step) {
    if (step == log2_lanes) return value;
    value = Operation::combine(value, __shfl_xor_sync(0xffffffffu, value, 1 << step));
  }
  return value;
}

// Sums kCount values (a power of two) over the lanes of a warp and distributes the sums: with n =
// 32 / kCount, lane l gets the sum of values[l / n], or where kCount > 32 the kCount / 32 sums from
// there on, in values[0] on. Every step halves the values of a lane; kCount shuffles in all.
template <int kCount>
__device__ __forceinline__ void warp_sum_each(float (&values)[kCount], int lane) {
  int held = kCount;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (held > 1) {
      held /= 2;
      const bool upper = lane & step;
#pragma unroll
      for (int i = 0; i < kCount / 2; ++i) {
        if (i >= held) break;
        const float passed = upper ? values[i] : values[i + held];
        const float kept = upper ? values[i + held] : values[i];
        values[i] = kept + __shfl_xor_sync(0xffffffffu, passed, step);
      }
    } else {
      values[0] += __shfl_xor_sync(0xffffffffu, values[0], step);
    }
  }
}

// Reduces over a block of whole warps; every thread gets the result. `partial` is shared memory
// that no thread uses between the last barrier before the call and the first one after it.
template <class Operation>
__device__ __forceinline__ float block_reduce(float value, float (&partial)[32]) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_reduce<Operation>(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();  // every warp has stored its partial result
  return warp_reduce<Operation>(lane < warps ? partial[lane] : Operation::kNothing);
}

}  // namespace mygemm
