// See staging.h.
#include "staging.h"

#include <algorithm>
#include <cstring>

#include "host/parallel.h"

namespace mygemm::blas {
namespace {

// Floats of a column that a thread copies at a time, and about as many floats of several columns.
constexpr int64_t kStretch = 16 * 1024;

}  // namespace

void copy_columns(const float* from, int64_t from_ld, float* to, int64_t to_ld, int64_t rows,
                  int64_t cols) {
  if (rows <= 0 || cols <= 0) return;
  const int64_t stretches = (rows + kStretch - 1) / kStretch;
  const int64_t together = std::clamp<int64_t>(kStretch / rows, 1, cols);  // columns of a task
  const int64_t groups = (cols + together - 1) / together;
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) * sizeof(float);
  host::parallel_for(
      stretches * groups, host::threads_for(bytes, host::kBytesPerThread), [&](int64_t task, int) {
        const int64_t row = task % stretches * kStretch;
        const int64_t first = task / stretches * together;
        const auto count = static_cast<size_t>(std::min(kStretch, rows - row));
        for (int64_t col = first; col < std::min(cols, first + together); ++col) {
          std::memcpy(to + row + col * to_ld, from + row + col * from_ld, count * sizeof(float));
        }
      });
}

StagingRing::StagingRing(int64_t capacity) : capacity_(capacity) {
  for (Buffer& buffer : buffers_) buffer.data = allocate_pinned(static_cast<size_t>(capacity));
}

Download::Download(const DeviceMatrix& from, float* to, int64_t ldc, const Rect& tile,
                   const Event& computed, const Stream& stream, StagingRing* ring)
    : from_(from),
      to_(to),
      ldc_(ldc),
      stream_(&stream),
      ring_(ring),
      pieces_(tile.rows, tile.cols, from.ld, ring->capacity()) {
  computed.hold(stream);
  while (asked_ < std::min(pieces_.count(), StagingRing::kBuffers)) ask();
}

void Download::ask() {
  const Rect piece = pieces_.at(asked_);
  StagingRing::Buffer& buffer = ring_->at(asked_);
  check(cudaMemcpyAsync(buffer.data.get(), from_.data + piece.row + piece.col * from_.ld,
                        static_cast<size_t>(Pieces::extent(piece, from_.ld)) * sizeof(float),
                        cudaMemcpyDeviceToHost, stream_->get()));
  buffer.copied.record(*stream_);
  ++asked_;
}

void Download::store_next() {
  const Rect piece = pieces_.at(stored_);
  StagingRing::Buffer& buffer = ring_->at(stored_);
  buffer.copied.wait();
  copy_columns(buffer.data.get(), from_.ld, to_ + piece.row + piece.col * ldc_, ldc_, piece.rows,
               piece.cols);
  ++stored_;
  if (asked_ < pieces_.count()) ask();
}

void Download::store_arrived() {
  while (stored_ < asked_ && ring_->at(stored_).copied.has_happened()) store_next();
}

}  // namespace mygemm::blas
