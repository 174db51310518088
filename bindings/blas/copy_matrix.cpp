// Matrix copies on the host: the elements are moved, then scaled. See host.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "host.h"
#include "host_handle.h"
#include "mygemm/mygemm.h"

namespace mygemm::blas {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, Free>;

int64_t result_rows(const MatrixCopy& copy) { return copy.transpose ? copy.cols : copy.rows; }
int64_t result_cols(const MatrixCopy& copy) { return copy.transpose ? copy.rows : copy.cols; }

// alpha = 0 reads nothing: the elements may be NaN.
void scale(const MatrixCopy& copy) {
  for (int64_t j = 0; j < result_cols(copy); ++j) {
    float* const column = copy.b + j * copy.ldb;
    for (int64_t i = 0; i < result_rows(copy); ++i) {
      column[i] = copy.alpha == 0.0f ? 0.0f : copy.alpha * column[i];
    }
  }
}

// In place, columns that move up go last first, so that none is overwritten before it has moved.
void move_columns(const MatrixCopy& copy) {
  const bool last_first = copy.ldb > copy.lda;
  for (int64_t step = 0; step < copy.cols; ++step) {
    const int64_t j = last_first ? copy.cols - 1 - step : step;
    std::memmove(copy.b + j * copy.ldb, copy.a + j * copy.lda,
                 static_cast<size_t>(copy.rows) * sizeof(float));
  }
}

// Rectangular transposes in place are much faster with a workspace.
Scratch lend_workspace(mygemmHandle_t handle, const MatrixCopy& copy) {
  size_t bytes = 0;
  if (copy.a != copy.b ||
      mygemm_transpose_workspace_size(handle, sizeof(float), copy.cols, copy.rows, 1, 1, &bytes) !=
          MYGEMM_STATUS_SUCCESS) {
    return nullptr;
  }
  constexpr size_t kAlignment = 256;
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Scratch workspace(bytes > 0 ? std::aligned_alloc(kAlignment, bytes) : nullptr);
  if (workspace) mygemm_set_workspace(handle, workspace.get(), bytes);
  return workspace;
}

// A column-major rows x cols matrix is a row-major cols x rows one.
bool transpose_with_handle(const MatrixCopy& copy) {
  const mygemmHandle_t handle = host_handle();
  if (handle == nullptr) return false;
  const Scratch workspace = lend_workspace(handle, copy);
  const bool done = mygemm_transpose(handle, sizeof(float), copy.cols, copy.rows, copy.a, copy.lda,
                                     copy.b, copy.ldb) == MYGEMM_STATUS_SUCCESS;
  mygemm_set_workspace(handle, nullptr, 0);
  return done;
}

// For calls that the backend refuses (operands that overlap) or without a handle: through a copy
// of A.
void transpose_plainly(const MatrixCopy& copy) {
  const auto count = static_cast<size_t>(copy.rows) * static_cast<size_t>(copy.cols);
  const Scratch scratch(std::malloc(count * sizeof(float)));
  auto* const packed = static_cast<float*>(scratch.get());
  if (packed == nullptr) {
    std::fprintf(stderr, "mygemm: no memory for a transpose of %zu elements; nothing is written\n",
                 count);
    return;
  }
  for (int64_t j = 0; j < copy.cols; ++j) {
    std::memcpy(packed + j * copy.rows, copy.a + j * copy.lda,
                static_cast<size_t>(copy.rows) * sizeof(float));
  }
  for (int64_t i = 0; i < copy.rows; ++i) {
    for (int64_t j = 0; j < copy.cols; ++j) copy.b[j + i * copy.ldb] = packed[i + j * copy.rows];
  }
}

}  // namespace

void copy_matrix(const MatrixCopy& copy) {
  if (copy.alpha != 0.0f) {
    if (!copy.transpose) {
      move_columns(copy);
    } else if (!transpose_with_handle(copy)) {
      transpose_plainly(copy);
    }
  }
  if (copy.alpha != 1.0f) scale(copy);
}

}  // namespace mygemm::blas
