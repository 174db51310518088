// Products on tensor cores: a tile's place in D, and the operands that it is the product of. Device
// only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/strided.cuh"

namespace mygemm::tensor {

// A tile of the product that is computed, and its place in D, which may hold the transposed of that
// product.
struct Target {
  const GemmProblem& p;
  bool transposed;  // D holds D^T's rows as columns
  int64_t batch;
  int i, j;           // the tile's first row and column
  int rows, columns;  // from there on
  Scalars scalars;

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
