// Pinned buffers between host matrices and the device, which copy engines read and write at full
// speed. Transfers are of whole pieces of a matrix (tiling.h).
#pragma once

#include <array>
#include <cstdint>

#include "cuda_resources.h"
#include "tiling.h"

namespace mygemm::blas {

struct HostMatrix {
  const float* data;
  int64_t ld;
  int64_t rows, cols;
};

struct DeviceMatrix {
  float* data;
  int64_t ld;
};

// Buffers in turn; each has the event of its last copy. One direction of transfer.
class StagingRing {
 public:
  static constexpr int64_t kBuffers = 4;
  struct Buffer {
    PinnedMemory data;
    Event copied;
  };

  explicit StagingRing(int64_t capacity);
  Buffer& at(int64_t turn) { return buffers_[static_cast<size_t>(turn % kBuffers)]; }
  int64_t capacity() const { return capacity_; }

 private:
  int64_t capacity_;  // floats of each
  std::array<Buffer, kBuffers> buffers_;
};

// The transfer of a tile of C to the host. Pieces are requested ahead of time and stored in order.
class Download {
 public:
  // `computed` must have happened before anything is copied.
  Download(const DeviceMatrix& from, float* to, int64_t ldc, const Rect& tile,
           const Event& computed, const Stream& stream, StagingRing* ring);

  // Stores the pieces that have arrived, without waiting.
  void store_arrived();
  // Waits for the next piece and stores it.
  void store_next();
  int64_t pieces_stored() const { return stored_; }
  bool is_finished() const { return stored_ == pieces_.count(); }

 private:
  void ask();

  DeviceMatrix from_;
  float* to_;
  int64_t ldc_;
  const Stream* stream_;
  StagingRing* ring_;
  Pieces pieces_;
  int64_t asked_ = 0;
  int64_t stored_ = 0;
};

// Copies rows x cols floats between matrices of the host, with as many threads as it is worth.
void copy_columns(const float* from, int64_t from_ld, float* to, int64_t to_ld, int64_t rows,
                  int64_t cols);

// Copies a matrix to the device, through the ring. `between` is called after each piece.
template <class Callback>
void upload(const HostMatrix& from, const DeviceMatrix& to, const Stream& stream, StagingRing* ring,
            int64_t* turn, const Callback& between) {
  const Pieces pieces(from.rows, from.cols, to.ld, ring->capacity());
  for (int64_t index = 0; index < pieces.count(); ++index) {
    const Rect piece = pieces.at(index);
    StagingRing::Buffer& buffer = ring->at((*turn)++);
    buffer.copied.wait();
    copy_columns(from.data + piece.row + piece.col * from.ld, from.ld, buffer.data.get(), to.ld,
                 piece.rows, piece.cols);
    check(cudaMemcpyAsync(to.data + piece.row + piece.col * to.ld, buffer.data.get(),
                          static_cast<size_t>(Pieces::extent(piece, to.ld)) * sizeof(float),
                          cudaMemcpyHostToDevice, stream.get()));
    buffer.copied.record(stream);
    between();
  }
}

}  // namespace mygemm::blas
