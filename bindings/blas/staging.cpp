// See staging.h.
#include "staging.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "host/parallel.h"

namespace mygemm::blas {
namespace {

constexpr int64_t kStripFloats = 32 * 1024;

double float_bytes(int64_t floats) { return static_cast<double>(floats) * sizeof(float); }

void copy_columns(const float* from, int64_t from_ld, float* to, int64_t to_ld, int64_t rows,
                  int64_t cols) {
  for (int64_t col = 0; col < cols; ++col) {
    std::memcpy(to + col * to_ld, from + col * from_ld, static_cast<size_t>(rows) * sizeof(float));
  }
}

}  // namespace

int threads_to_copy(double bytes) {
  return std::min(kMostCopyingThreads, host::threads_for(bytes, host::kBytesPerThread));
}

StagingRing::StagingRing(int64_t capacity) : capacity_(capacity) {
  for (Buffer& buffer : buffers_) buffer.data = allocate_pinned(static_cast<size_t>(capacity));
}

Strips::Strips(const Pieces& pieces)
    : pieces_(pieces), of_a_piece_(strips_of(pieces.at(0)).count()) {}

Pieces Strips::strips_of(const Rect& piece) {
  return {piece.rows, piece.cols, piece.rows, kStripFloats};
}

Rect Strips::in_piece(int64_t strip) const {
  const Pieces strips = strips_of(pieces_.at(piece_of(strip)));
  const int64_t index = strip % of_a_piece_;
  return index < strips.count() ? strips.at(index) : Rect{0, 0, 0, 0};
}

Upload::Upload(const HostMatrix& from, const DeviceMatrix& to, const Stream& stream,
               StagingRing* ring)
    : from_(from),
      to_(to),
      stream_(&stream),
      ring_(ring),
      strips_(Pieces(from.rows, from.cols, to.ld, ring->capacity())),
      first_(ring->number(strips_.pieces().count())) {}

double Upload::bytes() const { return float_bytes(from_.rows) * static_cast<double>(from_.cols); }

// For the time of a transfer, or of copying strips. False where the upload is given up.
bool Upload::await(const std::atomic<int64_t>& value, int64_t wanted) const {
  while (value.load(std::memory_order_acquire) < wanted) {
    if (given_up_) return false;
    std::this_thread::yield();
  }
  return true;
}

// Whoever has the first strip of a piece waits for the buffer's transfer before; others for it.
bool Upload::await_buffer(int64_t strip) {
  const int64_t piece = strips_.piece_of(strip);
  State& state = state_of(piece);
  if (strip % strips_.of_a_piece() == 0) {
    if (!await(state.sent, piece - StagingRing::kBuffers)) return false;
    buffer_of(piece).copied.wait();
    state.strips_left = strips_.of_a_piece();
    state.free_for.store(piece, std::memory_order_release);
  }
  return await(state.free_for, piece);
}

void Upload::send(int64_t piece) {
  const Rect rect = strips_.pieces().at(piece);
  StagingRing::Buffer& buffer = buffer_of(piece);
  check(cudaMemcpyAsync(to_.data + rect.row + rect.col * to_.ld, buffer.data.get(),
                        static_cast<size_t>(Pieces::extent(rect, to_.ld)) * sizeof(float),
                        cudaMemcpyHostToDevice, stream_->get()));
  buffer.copied.record(*stream_);
  state_of(piece).sent.store(piece, std::memory_order_release);
}

bool Upload::copy_next() {
  const int64_t strip = next_.fetch_add(1, std::memory_order_relaxed);
  if (strip >= strips_.count() || !await_buffer(strip)) return false;
  const int64_t piece = strips_.piece_of(strip);
  const Rect of_matrix = strips_.in_matrix(strip), rect = strips_.in_piece(strip);
  const float* const from = from_.data + of_matrix.row + of_matrix.col * from_.ld;
  float* const to = buffer_of(piece).data.get() + rect.row + rect.col * to_.ld;
  copy_columns(from, from_.ld, to, to_.ld, rect.rows, rect.cols);
  if (--state_of(piece).strips_left == 0) send(piece);
  return true;
}

Download::Download(const DeviceMatrix& from, float* to, int64_t ldc, const Rect& tile,
                   const Event& computed, const Stream& stream, StagingRing* ring)
    : from_(from),
      tile_(tile),
      to_(to),
      ldc_(ldc),
      stream_(&stream),
      ring_(ring),
      strips_(Pieces(tile.rows, tile.cols, from.ld, ring->capacity())),
      first_(ring->number(strips_.pieces().count())) {
  computed.hold(stream);
  for (int64_t piece = 0; piece < StagingRing::kBuffers; ++piece) ask(piece);
}

double Download::bytes_left() const {
  const double share = 1 - static_cast<double>(next_) / static_cast<double>(strips_.count());
  return share * float_bytes(tile_.rows) * static_cast<double>(tile_.cols);
}

void Download::ask(int64_t piece) {
  if (piece >= strips_.pieces().count()) return;
  const Rect rect = strips_.pieces().at(piece);
  StagingRing::Buffer& buffer = buffer_of(piece);
  check(cudaMemcpyAsync(buffer.data.get(), from_.data + rect.row + rect.col * from_.ld,
                        static_cast<size_t>(Pieces::extent(rect, from_.ld)) * sizeof(float),
                        cudaMemcpyDeviceToHost, stream_->get()));
  buffer.copied.record(*stream_);
  state_of(piece).strips_left = strips_.of_a_piece();
  state_of(piece).asked.store(piece, std::memory_order_release);
}

// Queries whether one piece more has arrived: one thread at a time and now and then, since each
// query is a call of the driver, under its lock.
bool Download::is_known_to_arrive() {
  constexpr std::chrono::microseconds kBetweenQueries{20};
  const std::unique_lock lock(querying_, std::try_to_lock);
  if (!lock || arrived_ == strips_.pieces().count()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_query_ < kBetweenQueries) return false;
  last_query_ = now;
  const int64_t piece = arrived_;
  const bool asked_for = state_of(piece).asked.load(std::memory_order_acquire) == piece;
  if (!asked_for || !buffer_of(piece).copied.has_happened()) return false;
  ++arrived_;
  return true;
}

// The number of a strip that has arrived; -1: none is known to.
int64_t Download::take() {
  do {
    int64_t strip = next_;
    while (strip < arrived_ * strips_.of_a_piece()) {
      if (next_.compare_exchange_weak(strip, strip + 1)) return strip;
    }
  } while (is_known_to_arrive());
  return -1;
}

bool Download::store_next() {
  const int64_t strip = take();
  if (strip < 0) return false;
  const int64_t piece = strips_.piece_of(strip);
  const Rect of_tile = strips_.in_matrix(strip), rect = strips_.in_piece(strip);
  const float* const from = buffer_of(piece).data.get() + rect.row + rect.col * from_.ld;
  float* const to = to_ + of_tile.row + of_tile.col * ldc_;
  copy_columns(from, from_.ld, to, ldc_, rect.rows, rect.cols);
  if (--state_of(piece).strips_left == 0) ask(piece + StagingRing::kBuffers);
  return true;
}

bool Download::await_and_store_next() {
  while (!store_next()) {
    if (is_finished() || given_up_) return false;
    std::this_thread::yield();  // for the time of a transfer
  }
  return true;
}

}  // namespace mygemm::blas
