// One element of a product, straight from global memory, of any element types: the naive kernels.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/textbook.h"
#include "ptx/grid.cuh"

namespace mygemm {

// OfA, OfB: the elements of A and B; Out: those of C and D. depth: effective_k() of the product.
template <class OfA, class OfB, class Out>
__device__ __forceinline__ void compute_element(const GemmProblem& p, const Scalars& scalars,
                                                int64_t depth, const TileOrigin& at) {
  float sum = 0.0f;
  if (depth > 0) {
    const StridedOperand<OfA> a = operand_a<OfA>(p, at.batch);
    const StridedOperand<OfB> b = operand_b<OfB>(p, at.batch);
    for (int64_t k = 0; k < depth; ++k) sum = fmaf(a.at(at.i, k), b.at(at.j, k), sum);
  }
  ptx::launch_dependents();
  Out* d = p.d.matrix<Out>(at.batch) + at.i + at.j * p.d.ld;
  with_masked_epilogue<Out>(p, scalars, at,
                            [&](const auto& epilogue) { store_result(d, 0, 0, sum, epilogue); });
}

// Calls body with an element of each of A's, B's and D's types, and returns its result. An FP32
// operand has FP32 results.
template <class Body>
auto with_naive_types(const GemmProblem& p, const Body& body) {
  return with_operand_types(p.a.type, p.b.type, [&](auto a, auto b) {
    if constexpr (sizeof a == sizeof(float) || sizeof b == sizeof(float)) {
      return body(a, b, float{});
    } else {
      return with_element_type(p.d.type, [&](auto out) { return body(a, b, out); });
    }
  });
}

}  // namespace mygemm
