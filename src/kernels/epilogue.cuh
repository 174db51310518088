// The one place where alpha and beta are applied to a product. Device only.
#pragma once

#include "problem.h"

namespace mygemm {

__device__ __forceinline__ float load_scalar(const Scalar& s) {
  return s.on_device ? *s.address : s.value;
}

// k as a kernel must treat it: with alpha = 0 nothing of A and B is read.
__device__ __forceinline__ int64_t products_of(const GemmProblem& p, float alpha) {
  return alpha == 0.0f ? 0 : p.k;
}

// C = alpha * sum + beta * C; C is not read where beta = 0, NaN or not.
__device__ __forceinline__ void store_result(float* c, float sum, float alpha, float beta) {
  *c = beta == 0.0f ? alpha * sum : fmaf(alpha, sum, beta * *c);
}

// Four neighbours in a column of C, of which the first `valid` are inside the matrix.
// as_float4: c is 16-byte aligned.
__device__ __forceinline__ void store_quad(float* c, const float (&sum)[4], int64_t valid,
                                           float alpha, float beta, bool as_float4) {
  if (valid >= 4 && as_float4) {
    float4 old = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (beta != 0.0f) old = *reinterpret_cast<const float4*>(c);
    float results[4] = {old.x, old.y, old.z, old.w};
    for (int i = 0; i < 4; ++i) store_result(&results[i], sum[i], alpha, beta);
    *reinterpret_cast<float4*>(c) = make_float4(results[0], results[1], results[2], results[3]);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (i < valid) store_result(c + i, sum[i], alpha, beta);
  }
}

}  // namespace mygemm
