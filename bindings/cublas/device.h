// The calls of the CUDA runtime by the drop-in itself. All others go through mygemm's handles.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace mygemm::cublas {

inline constexpr int kMaxDevices = 64;

// The device current on this thread; -1 where there is none, or none below kMaxDevices.
int current_device();

// 10 * major + minor version of the device's compute capability; 0 where it cannot be had.
int compute_capability(int device);

// Memory that belongs to work enqueued on a stream from here on, until it is released on the same
// stream; nullptr where there is none. Legal during capture, where it becomes a node of the graph,
// as cuBLAS's own workspace does.
class StreamMemory {
 public:
  StreamMemory(int device, CUstream_st* stream, size_t bytes);
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  void* data() const { return data_; }

 private:
  CUstream_st* stream_;
  void* data_ = nullptr;
};

}  // namespace mygemm::cublas
