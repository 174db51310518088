// Products on tensor cores: a tile's place in D, and the operands that it is the product of. Device
// only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/operands.h"

namespace mygemm::tensor {

// Lines along k of an operand in global memory: rows of op(A), or columns of op(B), from one on.
template <Major kMajor>
struct LinesOf {
  static constexpr bool kAlongK = kMajor == Major::kK;  // neighbours in memory are so along k

  const float* first;
  int64_t ld;

  __device__ __forceinline__ int64_t to_next() const { return kAlongK ? ld : 1; }
  __device__ __forceinline__ int64_t to_next_k() const { return kAlongK ? 1 : ld; }
  __device__ __forceinline__ LinesOf from(int64_t line) const {
    return {first + line * to_next(), ld};
  }
};

// A tile of the product that is computed, and its place in D, which may hold the transposed of that
// product.
struct Target {
  const GemmProblem& p;
  bool transposed;  // D holds D^T's rows as columns
  int64_t batch;
  int i, j;  // the tile's first row and column
  Scalars scalars;

  // Those from there on.
  __device__ __forceinline__ int rows() const { return static_cast<int>(p.m) - i; }
  __device__ __forceinline__ int columns() const { return static_cast<int>(p.n) - j; }
  // The rows of op(A), or columns of op(B), of the tile from its number `first` on.
  template <class Operands>
  __device__ __forceinline__ LinesOf<Operands::kA> rows_from(int first) const {
    return LinesOf<Operands::kA>{p.a.matrix<const float>(batch), p.a.ld}.from(i + first);
  }
  template <class Operands>
  __device__ __forceinline__ LinesOf<Operands::kB> columns_from(int first) const {
    return LinesOf<Operands::kB>{p.b.matrix<const float>(batch), p.b.ld}.from(j + first);
  }
  // The place of the tile's element (row, column).
  __device__ float* at(int64_t row, int64_t column) const {
    const int64_t m = i + row, n = j + column, ld = p.d.ld;
    return p.d.matrix<float>(batch) + (transposed ? m * ld + n : m + n * ld);
  }
  // Stores the result of one element.
  template <bool kFused>
  __device__ __forceinline__ void store(int row, int column, float sum) const {
    const TileOrigin element{batch, transposed ? j + column : i + row,
                             transposed ? i + row : j + column};
    with_instance_epilogue<kFused>(p, scalars, element, [&](const auto& epilogue) {
      store_result(at(row, column), 0, 0, sum, epilogue);
    });
  }
};

}  // namespace mygemm::tensor
