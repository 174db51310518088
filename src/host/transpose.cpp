// Launchers of the host's transposes. Host backend; transpose_tile.h has the tiles,
// transpose_in_place.cpp the general algorithm in place.
#include "host/transpose.h"

#include <algorithm>
#include <cstring>

#include "host/parallel.h"
#include "host/transpose_element.h"

namespace mygemm::host {
namespace {

constexpr int64_t kTilesPerTask = 64;

// Transposes one matrix or a batch of them out of place; `out` overlaps no input.
template <class T>
void transpose_apart(const TransposeProblem& problem) {
  constexpr int64_t kRows = Tile<T>::kRows;
  constexpr int64_t kCols = Tile<T>::kCols;
  const double bytes = bytes_moved(problem);
  const int threads = threads_for(bytes, kBytesPerThread);
  const bool stream = bytes > 2.0 * kStreamBytes;
  // A task is a column of tiles of the source, so kCols rows of the result: a cache line that
  // extends over two tiles is completed by the next tile.
  const int64_t task_rows = kTilesPerTask * kRows;
  const int64_t across = ceil_div(problem.cols, kCols);
  const int64_t per_matrix = across * ceil_div(problem.rows, task_rows);
  parallel_for(per_matrix * problem.batch_count, threads, [&](int64_t task, int) {
    const int64_t matrix = task / per_matrix;
    const int64_t c = task % across * kCols;
    const int64_t begin = task % per_matrix / across * task_rows;
    const int64_t end = std::min(problem.rows, begin + task_rows);
    const int64_t cols = std::min(kCols, problem.cols - c);
    const T* in = static_cast<const T*>(problem.in) + matrix * problem.stride_in + c;
    T* out = static_cast<T*>(problem.out) + matrix * problem.stride_out + c * problem.ldout;
    Tile<T> tile;
    for (int64_t r = begin; r < end; r += kRows) {
      const int64_t rows = std::min(kRows, end - r);
      read_tile(in + r * problem.ldin, problem.ldin, rows, end - r, cols, tile);
      write_tile(tile, rows, cols, stream, out + r, problem.ldout);
    }
  });
}

// Transposes square matrices in place by swapping tiles with their mirror images.
template <class T>
void transpose_squares(const TransposeProblem& problem) {
  constexpr int64_t kSide = std::min(Tile<T>::kRows, Tile<T>::kCols);
  const int64_t bands = ceil_div(problem.rows, kSide);
  const int64_t ld = problem.ldout;
  const int threads = threads_for(bytes_moved(problem), kBytesPerThread);
  parallel_for(bands * problem.batch_count, threads, [&](int64_t task, int) {
    T* data = static_cast<T*>(problem.out) + task / bands * problem.stride_out;
    const int64_t i = task % bands * kSide;
    const int64_t rows = std::min(kSide, problem.rows - i);
    Tile<T> tile;
    Tile<T> mirror;
    for (int64_t j = i; j < problem.cols; j += kSide) {
      const int64_t cols = std::min(kSide, problem.cols - j);
      T* upper = data + i * ld + j;
      T* lower = data + j * ld + i;
      read_tile(upper, ld, rows, rows, cols, tile);
      if (j != i) {
        read_tile(lower, ld, cols, cols, rows, mirror);
        write_tile(mirror, cols, rows, false, upper, ld);
      }
      write_tile(tile, rows, cols, false, lower, ld);
    }
  });
}

}  // namespace

Status launch_transpose_naive(const TransposeProblem& problem, const TransposeConfig&,
                              const LaunchContext&) {
  if (problem.in_place()) {
    follow_cycles(problem);
    return MYGEMM_STATUS_SUCCESS;
  }
  with_element(problem.element_size, [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0; i < problem.batch_count; ++i) {
      const T* in = static_cast<const T*>(problem.in) + i * problem.stride_in;
      T* out = static_cast<T*>(problem.out) + i * problem.stride_out;
      for (int64_t r = 0; r < problem.rows; ++r) {
        for (int64_t c = 0; c < problem.cols; ++c) {
          out[c * problem.ldout + r] = in[r * problem.ldin + c];
        }
      }
    }
  });
  return MYGEMM_STATUS_SUCCESS;
}

Status launch_transpose_blocked(const TransposeProblem& problem, const TransposeConfig&,
                                const LaunchContext&) {
  const bool square = problem.rows == problem.cols && problem.ldin == problem.ldout;
  if (problem.in_place() && !square) {
    follow_cycles(problem);
    return MYGEMM_STATUS_SUCCESS;
  }
  with_element(problem.element_size, [&](auto type) {
    using T = typename decltype(type)::type;
    problem.in_place() ? transpose_squares<T>(problem) : transpose_apart<T>(problem);
  });
  return MYGEMM_STATUS_SUCCESS;
}

// Transposes each matrix into the workspace and copies it back.
Status launch_transpose_through_workspace(const TransposeProblem& problem,
                                          const TransposeConfig& config,
                                          const LaunchContext& context) {
  const int64_t row_bytes = problem.rows * problem.element_size;
  for (int64_t i = 0; i < problem.batch_count; ++i) {
    TransposeProblem there = problem;
    there.in = static_cast<const char*>(problem.in) + i * problem.stride_in * problem.element_size;
    there.out = context.workspace;
    there.ldout = problem.rows;
    there.batch_count = 1;
    with_element(problem.element_size,
                 [&](auto type) { transpose_apart<typename decltype(type)::type>(there); });

    char* out = static_cast<char*>(problem.out) + i * problem.stride_out * problem.element_size;
    const char* from = static_cast<const char*>(context.workspace);
    const int threads =
        threads_for(2.0 * static_cast<double>(config.workspace_bytes), kBytesPerThread);
    const int64_t rows_per_task = std::max<int64_t>(1, kBytesPerThread / row_bytes);
    parallel_for(ceil_div(problem.cols, rows_per_task), threads, [&](int64_t task, int) {
      const int64_t end = std::min(problem.cols, (task + 1) * rows_per_task);
      for (int64_t c = task * rows_per_task; c < end; ++c) {
        std::memcpy(out + c * problem.ldout * problem.element_size, from + c * row_bytes,
                    static_cast<size_t>(row_bytes));
      }
    });
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
