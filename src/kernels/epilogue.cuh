// The one place where alpha and beta are applied to a product. Device only.
#pragma once

#include "problem.h"
#include "ptx/global.cuh"

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

// Two neighbours in memory, 8-byte aligned.
__device__ __forceinline__ void store_pair(float* c, float first, float second, float alpha,
                                           float beta) {
  float2 results = make_float2(0.0f, 0.0f);
  if (beta != 0.0f) results = *reinterpret_cast<const float2*>(c);
  store_result(&results.x, first, alpha, beta);
  store_result(&results.y, second, alpha, beta);
  *reinterpret_cast<float2*>(c) = results;
}

// Four neighbours in a column of C, 16-byte aligned, of which the first `valid` are inside.
__device__ __forceinline__ void store_quad(float* c, const float (&sum)[4], int valid, float alpha,
                                           float beta) {
  if (valid >= 4) {
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

// Where a tile of C lies, or a part of one, and how much from there is inside the matrix.
struct TileOfC {
  float* first;
  int64_t ld;
  int rows, columns;
  bool as_float4;  // columns are 16-byte aligned

  __device__ TileOfC(float* c, int64_t ld_, int64_t rows_, int64_t columns_)
      : first(c),
        ld(ld_),
        rows(static_cast<int>(min(rows_, int64_t{1} << 30))),
        columns(static_cast<int>(min(columns_, int64_t{1} << 30))),
        as_float4(common_alignment(reinterpret_cast<uintptr_t>(c), ld_ * 4) == 16) {}

  __device__ void skip_columns(int n) {
    first = ptx::advanced(first, n * ld);
    columns -= n;
  }
};

// Stores a quad of each lane of a warp: kLanesM lanes have quads one under the other, from `row` of
// the tile's first column on, and the next kLanesM lanes kColumnStep columns further on. Where C is
// not aligned, lanes would store every fourth element, and each sector of memory would be written
// four times: then quads are exchanged, so that neighbours in a column go to neighbouring lanes.
// `exchange` is the warp's own, and free. All lanes call this together.
template <int kLanesM, int kColumnStep>
__device__ __forceinline__ void store_quads(float (&exchange)[32][4], const TileOfC& c, int row,
                                            const float (&quad)[4], float alpha, float beta) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (c.as_float4) {
    const int i = row + lane % kLanesM * 4, j = lane / kLanesM * kColumnStep;
    if (j < c.columns) store_quad(c.first + i + j * c.ld, quad, c.rows - i, alpha, beta);
    return;
  }
  if (row >= c.rows || c.columns <= 0) return;
  __syncwarp();  // what was exchanged before has been read
  *reinterpret_cast<float4*>(exchange[lane]) = make_float4(quad[0], quad[1], quad[2], quad[3]);
  __syncwarp();
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int element = 32 * e + lane;
    const int i = row + element % (4 * kLanesM);
    const int j = element / (4 * kLanesM) * kColumnStep;
    if (i >= c.rows || j >= c.columns) continue;
    store_result(c.first + i + j * c.ld, exchange[element / 4][element % 4], alpha, beta);
  }
}

}  // namespace mygemm
