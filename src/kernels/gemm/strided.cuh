// op(X) as two strides, for kernels that read element by element. Device only.
#pragma once

#include "problem.h"

namespace mygemm {

// Element (i, k) of op(A), or (k, j) of op(B) as (j, k), is at data + i * along_tile + k * along_k.
struct StridedOperand {
  const float* data;
  int64_t along_tile, along_k;

  __device__ float at(int64_t i, int64_t k) const { return data[i * along_tile + k * along_k]; }
};

__device__ __forceinline__ StridedOperand operand_a(const GemmProblem& p, int64_t batch) {
  const float* a = p.a.matrix<const float>(batch);
  return p.transa ? StridedOperand{a, p.a.ld, 1} : StridedOperand{a, 1, p.a.ld};
}

__device__ __forceinline__ StridedOperand operand_b(const GemmProblem& p, int64_t batch) {
  const float* b = p.b.matrix<const float>(batch);
  return p.transb ? StridedOperand{b, 1, p.b.ld} : StridedOperand{b, p.b.ld, 1};
}

}  // namespace mygemm
