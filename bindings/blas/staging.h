// Transfers between host matrices and the device through pinned buffers, which copy engines read
// and write at full speed. A transfer is of a whole piece of a matrix (tiling.h), which several
// threads copy to or from its buffer: each a strip at a time, and strips of several pieces at once.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "cuda_resources.h"
#include "host/thread_pool.h"
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

// Buffers of one direction, which the pieces of one matrix after the other have in turn; each has
// the event of its last copy. A buffer that processors have just used is slow to transfer: one of
// 4 MiB that twelve have read takes 250 to 600 us in place of 85 (H200).
class StagingRing {
 public:
  static constexpr int64_t kBuffers = 8;
  struct Buffer {
    PinnedMemory data;
    Event copied;
  };

  explicit StagingRing(int64_t capacity);
  Buffer& at(int64_t piece) { return buffers_[static_cast<size_t>(piece % kBuffers)]; }
  int64_t capacity() const { return capacity_; }
  // The number of the first of so many pieces, which come after all others.
  int64_t number(int64_t pieces) { return std::exchange(numbered_, numbered_ + pieces); }

 private:
  int64_t capacity_;  // floats of each
  int64_t numbered_ = 0;
  std::array<Buffer, kBuffers> buffers_;
};

// The strips of all pieces of a matrix, in order. Edge pieces may have fewer than others: the last
// numbers of theirs stand for none.
class Strips {
 public:
  explicit Strips(const Pieces& pieces);
  int64_t count() const { return pieces_.count() * of_a_piece_; }
  int64_t of_a_piece() const { return of_a_piece_; }
  int64_t piece_of(int64_t strip) const { return strip / of_a_piece_; }
  // In its piece. No rows: there is none.
  Rect in_piece(int64_t strip) const;
  Rect in_matrix(int64_t strip) const {
    return within(pieces_.at(piece_of(strip)), in_piece(strip));
  }
  const Pieces& pieces() const { return pieces_; }

 private:
  static Pieces strips_of(const Rect& piece);

  Pieces pieces_;
  int64_t of_a_piece_;
};

// The transfer of a matrix to the device. Any number of threads calls copy_next(), with the device
// current, until it returns false; then `to` may be used after what `stream` has been given.
class Upload {
 public:
  Upload(const HostMatrix& from, const DeviceMatrix& to, const Stream& stream, StagingRing* ring);
  bool copy_next();
  // Lets threads return that wait for one that has failed.
  void give_up() { given_up_ = true; }
  double bytes() const;

 private:
  struct State {                        // of a buffer
    std::atomic<int64_t> free_for{-1};  // the piece that may be copied to it
    std::atomic<int64_t> sent{-1};      // the last piece whose transfer has been enqueued
    std::atomic<int64_t> strips_left{0};
  };
  StagingRing::Buffer& buffer_of(int64_t piece) const { return ring_->at(first_ + piece); }
  State& state_of(int64_t piece) {
    return states_[static_cast<size_t>(piece % StagingRing::kBuffers)];
  }
  bool await(const std::atomic<int64_t>& value, int64_t wanted) const;
  bool await_buffer(int64_t strip);
  void send(int64_t piece);

  HostMatrix from_;
  DeviceMatrix to_;
  const Stream* stream_;
  StagingRing* ring_;
  Strips strips_;
  int64_t first_;  // the ring's number of piece 0
  std::array<State, StagingRing::kBuffers> states_;
  std::atomic<int64_t> next_{0};  // strip
  std::atomic<bool> given_up_{false};
};

// The transfer of a tile of C to the host. Pieces are asked for as far as there are buffers.
class Download {
 public:
  // `computed` must have happened before anything is copied.
  Download(const DeviceMatrix& from, float* to, int64_t ldc, const Rect& tile,
           const Event& computed, const Stream& stream, StagingRing* ring);

  // Stores a strip that has arrived. False where none is known to. Any number of threads calls it,
  // with the device current.
  bool store_next();
  // The same, but waits for the next strip. False where there is none, or others have failed.
  bool await_and_store_next();
  // Waits for the next piece if it has been asked for, on one thread: the product may still be
  // computed.
  void await_piece() const { buffer_of(arrived_).copied.wait(); }
  // Lets threads return that wait for one that has failed.
  void give_up() { given_up_ = true; }
  bool is_finished() const { return next_ == strips_.count(); }
  double bytes_left() const;

  bool nothing_is_stored() const { return next_ == 0; }
  // Calls action(part) for parts of C. After a failure, when no thread stores any more.
  template <class Action>
  void for_each_part_not_stored(const Action& action) const {
    int64_t strip = next_;
    for (; strip % strips_.of_a_piece() != 0; ++strip) {
      const Rect rect = strips_.in_matrix(strip);
      if (rect.rows > 0) action(within(tile_, rect));
    }
    for (int64_t piece = strips_.piece_of(strip); piece < strips_.pieces().count(); ++piece) {
      action(within(tile_, strips_.pieces().at(piece)));
    }
  }

 private:
  struct State {                     // of a buffer
    std::atomic<int64_t> asked{-1};  // the piece that it is for
    std::atomic<int64_t> strips_left{0};
  };
  StagingRing::Buffer& buffer_of(int64_t piece) const { return ring_->at(first_ + piece); }
  State& state_of(int64_t piece) {
    return states_[static_cast<size_t>(piece % StagingRing::kBuffers)];
  }
  void ask(int64_t piece);
  bool is_known_to_arrive();
  int64_t take();

  DeviceMatrix from_;
  Rect tile_;
  float* to_;
  int64_t ldc_;
  const Stream* stream_;
  StagingRing* ring_;
  Strips strips_;
  int64_t first_;  // the ring's number of piece 0
  std::array<State, StagingRing::kBuffers> states_;
  std::mutex querying_;
  std::chrono::steady_clock::time_point last_query_;  // whether a piece has arrived
  std::atomic<int64_t> arrived_{0};                   // pieces
  std::atomic<int64_t> next_{0};                      // strip
  std::atomic<bool> given_up_{false};
};

// Threads that copying so much is worth. Twelve keep the transfers of an H200 busy.
constexpr int kMostCopyingThreads = 12;
int threads_to_copy(double bytes);

// Calls body() on as many threads as copying `bytes` is worth, with this thread's device. What one
// throws is thrown when all have returned; on_failure() is called before.
template <class Body, class OnFailure>
void on_threads(double bytes, const Body& body, const OnFailure& on_failure) {
  struct Loop {
    const Body& body;
    const OnFailure& on_failure;
    int device = 0;
    std::atomic<bool> failed{false};
    std::exception_ptr failure = nullptr;
  } loop{body, on_failure};
  loop.device = current_device();
  const auto task = [](void* context, int slot) {
    Loop& shared = *static_cast<Loop*>(context);
    try {
      const RelaxedCapture relaxed;
      // Threads of the pool keep it: to set the one before again would make a context there.
      if (slot > 0) check(cudaSetDevice(shared.device));
      shared.body();
    } catch (...) {
      if (!shared.failed.exchange(true)) shared.failure = std::current_exception();
      shared.on_failure();
    }
  };
  host::run_on_threads(threads_to_copy(bytes), task, &loop);
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace mygemm::blas
