// Copies of operands whose columns begin anywhere to where they begin at multiples of 16 bytes.
#include "kernels/divisor.h"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/chunk.cuh"
#include "kernels/gemm/pack.h"
#include "kernels/launch.h"
#include "ptx/grid.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = 256;
constexpr int kAtOnce = 4;  // chunks of a thread whose loads are in flight together
constexpr int kBlockChunks = kThreads * kAtOnce;

// An operand and its packed matrices, whose chunks lie one after another.
struct Packing {
  Operand from;
  uint4* to;
  int64_t rows;
  unsigned columns;
  unsigned chunks;        // of all matrices
  Divisor column_chunks;  // chunks of a column
  Divisor columns_of_matrix;
  unsigned blocks;
};

// Loads chunk `number`. Its aligned accesses reach past its column, but for the first and the last
// column of a matrix: there they would leave the matrix.
template <class Element>
__device__ __forceinline__ void load_chunk(Chunk& chunk, const Packing& packing, unsigned number) {
  constexpr int kElements = 16 / sizeof(Element);
  const unsigned column = packing.column_chunks.quotient(number);
  const unsigned matrix = packing.columns_of_matrix.quotient(column);
  const int64_t row = int64_t{number - column * packing.column_chunks.value()} * kElements;
  const int64_t j = column - matrix * packing.columns;
  const Element* const from =
      packing.from.matrix<const Element>(matrix) + j * packing.from.ld + row;
  const int64_t behind = (packing.columns - 1 - j) * packing.from.ld + packing.rows - row;
  if (behind >= 2 * kElements && (row > 0 || j > 0)) {
    load_around(chunk, from);
  } else {
    load_first(chunk, from, static_cast<int>(min(packing.rows - row, int64_t{kElements})));
  }
}

template <class Element>
__device__ __forceinline__ void pack_block(const Packing& packing, unsigned block) {
  const unsigned first = block * kBlockChunks + threadIdx.x;
  Chunk chunks[kAtOnce];
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    const unsigned number = first + i * kThreads;
    if (number < packing.chunks) load_chunk<Element>(chunks[i], packing, number);
  }
  ptx::launch_dependents();
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    const unsigned number = first + i * kThreads;
    if (number < packing.chunks) packing.to[number] = shifted(chunks[i]);
  }
}

// A thread copies kAtOnce chunks of A or of B.
__global__ void __launch_bounds__(kThreads)
    pack(const __grid_constant__ Packing a, const __grid_constant__ Packing b, const Scalar alpha) {
  ptx::wait_for_previous_grid();
  if (load_scalar(alpha) == 0.0f) return;
  const bool of_a = blockIdx.x < a.blocks;
  const Packing& packing = of_a ? a : b;
  const unsigned block = of_a ? blockIdx.x : blockIdx.x - a.blocks;
  if (element_bytes(packing.from.type) == 4) {
    pack_block<unsigned>(packing, block);
  } else {
    pack_block<unsigned short>(packing, block);
  }
}

Packing packing_of(const Operand& from, const Operand* to, int64_t rows, int64_t columns,
                   int64_t matrices) {
  const int64_t column_chunks = to ? to->ld * element_bytes(to->type) / 16 : 1;
  const int64_t chunks = to ? column_chunks * columns * matrices : 0;
  return {from,
          to ? static_cast<uint4*>(to->data) : nullptr,
          rows,
          static_cast<unsigned>(columns),
          static_cast<unsigned>(chunks),
          Divisor(static_cast<unsigned>(column_chunks)),
          Divisor(static_cast<unsigned>(to ? columns : 1)),
          static_cast<unsigned>(ceil_div(chunks, kBlockChunks))};
}

}  // namespace

Status cuda::launch_pack(const GemmProblem& p, const Operand* a, const Operand* b,
                         const LaunchContext& context) {
  const Packing of_a = packing_of(p.a, a, p.a_rows(), p.a_cols(), p.batch_count);
  const Packing of_b = packing_of(p.b, b, p.b_rows(), p.b_cols(), p.batch_count);
  LaunchShape shape;
  shape.blocks = of_a.blocks + of_b.blocks;
  shape.threads = kThreads;
  shape.may_overlap = true;
  return launch(context, pack, shape, of_a, of_b, p.epilogue.alpha);
}

}  // namespace mygemm
