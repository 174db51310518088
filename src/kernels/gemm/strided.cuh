// op(X) as two strides, for kernels that read element by element. Device only.
#pragma once

#include "kernels/element.cuh"

namespace mygemm {

// Element (i, k) of op(A), or (k, j) of op(B) as (j, k), is at data + i * along_tile + k * along_k.
// T: the C++ type of its elements.
template <class T = float>
struct StridedOperand {
  const T* data;
  int64_t along_tile, along_k;

  __device__ float at(int64_t i, int64_t k) const {
    return to_float(data[i * along_tile + k * along_k]);
  }
};

template <class T = float>
__device__ __forceinline__ StridedOperand<T> operand_a(const GemmProblem& p, int64_t batch) {
  const T* a = p.a.matrix<const T>(batch);
  return p.transa ? StridedOperand<T>{a, p.a.ld, 1} : StridedOperand<T>{a, 1, p.a.ld};
}

template <class T = float>
__device__ __forceinline__ StridedOperand<T> operand_b(const GemmProblem& p, int64_t batch) {
  const T* b = p.b.matrix<const T>(batch);
  return p.transb ? StridedOperand<T>{b, 1, p.b.ld} : StridedOperand<T>{b, p.b.ld, 1};
}

}  // namespace mygemm
