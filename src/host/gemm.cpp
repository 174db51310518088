// The kernels host_naive and host_blocked of matrix products. Host backend; calls no other library.
//
// host_blocked divides D into blocks, one task each. A task walks k in steps of kDepth: it packs
// that part of op(B) for its columns, and of op(A) for kPanelRows of its rows at a time, and
// multiplies tile by tile (gemm_microkernel.h). The first step stores alpha * sum + beta * C in D,
// or in a buffer of FP32 where D is of 16 bits, later ones add alpha * sum to that, the last one
// finishes the tile. Operands of 16 bits become FP32 where they are packed. Tasks share nothing, so
// batches and single products are the same loop and the result does not depend on the number of
// threads.
#include "host/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "host/epilogue.h"
#include "host/gemm_microkernel.h"
#include "host/parallel.h"
#include "host/typed_array.h"
#include "kernels/gemm/config.h"

namespace mygemm::host {
namespace {

// Packed panels: kDepth x nr of B stays in the first cache (18 KiB of 32), kDepth x kPanelRows of
// A in the second (288 KiB of 512 or more), kDepth x (columns of a block) of B in the last.
constexpr int64_t kDepth = 384;
constexpr int64_t kPanelRows = 192;
// Blocks of D: packing costs every element of A and B once per block, 1/kMaxBlock of the work.
constexpr int64_t kMaxBlock = 1024;
constexpr int64_t kMinBlock = 192;

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<float, Free>;

// The blocks that D is divided into.
struct Grid {
  int64_t block_m, block_n;
  int64_t blocks_m, blocks_n;

  int64_t blocks() const { return blocks_m * blocks_n; }
};

Grid divide(const GemmProblem& problem, const MicroKernel& kernel, int threads) {
  int64_t limit_m = kMaxBlock;
  int64_t limit_n = kMaxBlock;
  for (;;) {
    Grid grid;
    // Blocks of even size, so that the last one is not much smaller than the others.
    grid.block_m = round_up(ceil_div(problem.m, ceil_div(problem.m, limit_m)), kernel.mr);
    grid.block_n = round_up(ceil_div(problem.n, ceil_div(problem.n, limit_n)), kernel.nr);
    grid.blocks_m = ceil_div(problem.m, grid.block_m);
    grid.blocks_n = ceil_div(problem.n, grid.block_n);
    const bool enough = threads == 1 || grid.blocks() * problem.batch_count >= 4 * threads;
    if (enough || std::max(grid.block_m, grid.block_n) <= kMinBlock) return grid;
    int64_t& larger = grid.block_m >= grid.block_n ? limit_m : limit_n;
    larger = std::max(kMinBlock, std::max(grid.block_m, grid.block_n) / 2);
  }
}

// One tile of D. A tile that crosses an edge is computed whole in a copy: the same instructions,
// so the same bits, as for any other tile.
void multiply_tile(const MicroKernel& kernel, int64_t depth, const float* a, const float* b,
                   float alpha, float beta, const float* c, int64_t ldc, float* d, int64_t ldd,
                   int64_t rows, int64_t cols) {
  if (rows >= kernel.mr && cols >= kernel.nr) {
    kernel.run(depth, a, b, alpha, beta, c, ldc, d, ldd);
    return;
  }
  float copy[kMaxTileElements] = {};
  rows = std::min<int64_t>(rows, kernel.mr);
  cols = std::min<int64_t>(cols, kernel.nr);
  if (beta != 0.0f) {
    for (int64_t j = 0; j < cols; ++j) std::copy_n(c + j * ldc, rows, copy + j * kernel.mr);
  }
  kernel.run(depth, a, b, alpha, beta, copy, kernel.mr, copy, kernel.mr);
  for (int64_t j = 0; j < cols; ++j) std::copy_n(copy + j * kernel.mr, rows, d + j * ldd);
}

// A block of D: rows x cols of a matrix of the batch from (row, col) on.
struct Block {
  int64_t matrix, row, col, rows, cols;
};

// The buffers of a task: packed panels, and the sums of a block where D is not FP32.
struct Buffers {
  float *packed_a, *packed_b, *sums;
  int64_t ld_sums;
};

void multiply_block(const MicroKernel& kernel, const GemmProblem& problem, const Epilogue& epilogue,
                    const Block& block, const Buffers& buffers) {
  const bool transa = problem.transa, transb = problem.transb;
  const Strip a = Strip{problem.a.address(block.matrix), problem.a.type, transa ? problem.a.ld : 1,
                        transa ? 1 : problem.a.ld}
                      .from(block.row, 0);
  const Strip b = Strip{problem.b.address(block.matrix), problem.b.type, transb ? 1 : problem.b.ld,
                        transb ? problem.b.ld : 1}
                      .from(block.col, 0);
  const float alpha = problem.epilogue.alpha.value;
  const bool in_d = buffers.sums == nullptr;
  const int64_t ldd = in_d ? problem.d.ld : buffers.ld_sums;
  float* const d =
      in_d ? problem.d.matrix<float>(block.matrix) + block.row + block.col * ldd : buffers.sums;
  if (!in_d && !problem.epilogue.beta.is(0.0f)) {
    for (int64_t j = 0; j < block.cols; ++j) {
      load_elements(problem.c.type, problem.c.address(block.matrix),
                    block.row + (block.col + j) * problem.c.ld, block.rows, d + j * ldd);
    }
  }
  for (int64_t l = 0; l < problem.k; l += kDepth) {
    const int64_t depth = std::min(kDepth, problem.k - l);
    // The first step scales C by beta; later steps add to the sum so far, which they scale by 1.
    const bool first = l == 0, last = l + depth == problem.k;
    const float beta = first ? problem.epilogue.beta.value : 1.0f;
    const bool takes_c = first && in_d && beta != 0.0f;
    const int64_t ldc = takes_c ? problem.c.ld : ldd;
    const float* const c =
        takes_c ? problem.c.matrix<const float>(block.matrix) + block.row + block.col * ldc : d;
    kernel.pack_b(b.from(0, l), block.cols, depth, buffers.packed_b);
    for (int64_t i0 = 0; i0 < block.rows; i0 += kPanelRows) {
      const int64_t panel_rows = std::min(kPanelRows, block.rows - i0);
      kernel.pack_a(a.from(i0, l), panel_rows, depth, buffers.packed_a);
      for (int64_t j = 0; j < block.cols; j += kernel.nr) {
        const int64_t cols = std::min<int64_t>(kernel.nr, block.cols - j);
        for (int64_t i = 0; i < panel_rows; i += kernel.mr) {
          multiply_tile(kernel, depth, buffers.packed_a + i * depth, buffers.packed_b + j * depth,
                        alpha, beta, c + i0 + i + j * ldc, ldc, d + i0 + i + j * ldd, ldd,
                        panel_rows - i, cols);
        }
        if (last) {
          epilogue.finish(block.matrix, block.row + i0, block.col + j, panel_rows, cols,
                          d + i0 + j * ldd, ldd);
        }
      }
    }
  }
}

// A column of D, or its part in a triangle, in pieces whose sums are complete before they are
// stored. OfA, OfB: the types of A and B.
template <class OfA, class OfB>
void multiply_column(const GemmProblem& problem, const Epilogue& epilogue, int64_t matrix,
                     int64_t j) {
  constexpr int64_t kRows = 256;
  const float alpha = problem.epilogue.alpha.value, beta = problem.epilogue.beta.value;
  const Operand &a = problem.a, &b = problem.b, &c = problem.c;
  const auto* const in_a = a.matrix<const typename OfA::Storage>(matrix);
  const auto* const in_b = b.matrix<const typename OfB::Storage>(matrix);
  const auto [begin, end] = problem.filled_rows(j);
  for (int64_t i0 = begin; i0 < end; i0 += kRows) {
    const int64_t rows = std::min(kRows, end - i0);
    float results[kRows], in_c[kRows];
    if (beta != 0.0f) load_elements(c.type, c.address(matrix), i0 + j * c.ld, rows, in_c);
    for (int64_t i = i0; i < i0 + rows; ++i) {
      float sum = 0.0f;
      for (int64_t l = 0; l < problem.k; ++l) {
        sum += load_float<OfA>(in_a + (problem.transa ? l + i * a.ld : i + l * a.ld)) *
               load_float<OfB>(in_b + (problem.transb ? j + l * b.ld : l + j * b.ld));
      }
      results[i - i0] = beta == 0.0f ? alpha * sum : alpha * sum + beta * in_c[i - i0];
    }
    epilogue.finish(matrix, i0, j, rows, 1, results, kRows);
  }
}

}  // namespace

Status launch_gemm_naive(const GemmProblem& problem, const GemmConfig&, const LaunchContext&) {
  const Epilogue epilogue(problem);
  if (problem.scales_only()) {
    epilogue.finish_without_sums();
    return MYGEMM_STATUS_SUCCESS;
  }
  with_type(problem.a.type, [&](auto of_a) {
    with_type(problem.b.type, [&](auto of_b) {
      for (int64_t matrix = 0; matrix < problem.batch_count; ++matrix) {
        for (int64_t j = 0; j < problem.n; ++j) {
          multiply_column<decltype(of_a), decltype(of_b)>(problem, epilogue, matrix, j);
        }
      }
    });
  });
  return MYGEMM_STATUS_SUCCESS;
}

Status launch_gemm_blocked(const GemmProblem& problem, const GemmConfig&, const LaunchContext&) {
  const Epilogue epilogue(problem);
  if (problem.scales_only()) {
    epilogue.finish_without_sums();
    return MYGEMM_STATUS_SUCCESS;
  }
  const MicroKernel& kernel = micro_kernel();
  const double flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                       static_cast<double>(problem.k) * static_cast<double>(problem.batch_count);
  const int threads = threads_for(flops, kFlopsPerThread);
  const Grid grid = divide(problem, kernel, threads);

  // Buffers belong to the call: a failure is known before D is touched, and nothing is
  // kept for threads that may outlive the library. Multiples of 64 bytes keep vectors aligned.
  const int64_t depth = std::min(kDepth, problem.k);
  const int64_t panel_rows = round_up(std::min(kPanelRows, grid.block_m), kernel.mr);
  const int64_t size_a = round_up(panel_rows * depth, 16);
  const int64_t size_b = round_up(grid.block_n * depth, 16);
  const bool in_d = problem.d.type == MYGEMM_R_32F;
  const int64_t size_sums = in_d ? 0 : round_up(grid.block_m * grid.block_n, 16);
  const int64_t size = size_a + size_b + size_sums;
  const size_t bytes = static_cast<size_t>(size * threads) * sizeof(float);
  const Buffer buffer(static_cast<float*>(std::aligned_alloc(64, bytes)));
  if (!buffer) {
    return fail(MYGEMM_STATUS_ALLOC_FAILED, "no memory for %zu bytes of buffers", bytes);
  }

  parallel_for(grid.blocks() * problem.batch_count, threads, [&](int64_t task, int slot) {
    const int64_t number = task % grid.blocks();
    const int64_t row = number % grid.blocks_m * grid.block_m;
    const int64_t col = number / grid.blocks_m * grid.block_n;
    const Block block{task / grid.blocks(), row, col, std::min(grid.block_m, problem.m - row),
                      std::min(grid.block_n, problem.n - col)};
    float* const own = buffer.get() + slot * size;
    multiply_block(kernel, problem, epilogue, block,
                   {own, own + size_a, in_d ? nullptr : own + size_a + size_b, grid.block_m});
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
