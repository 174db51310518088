// CUDA's objects with owners. Errors are exceptions, which the pipeline catches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace mygemm::blas {

// Thrown where CUDA or libmygemm's CUDA backend fails: the host takes over.
struct GpuFailure {
  std::string why;
};

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw GpuFailure{cudaGetErrorString(error)};
}

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(const Stream& stream) { check(cudaEventRecord(event_, stream.get())); }
  // Work enqueued on `stream` from now on waits for the event.
  void hold(const Stream& stream) const { check(cudaStreamWaitEvent(stream.get(), event_, 0)); }
  void wait() const { check(cudaEventSynchronize(event_)); }
  bool has_happened() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    check(state);
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

struct FreePinned {
  void operator()(float* memory) const { cudaFreeHost(memory); }
};
using PinnedMemory = std::unique_ptr<float, FreePinned>;

inline PinnedMemory allocate_pinned(size_t floats) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, floats * sizeof(float), cudaHostAllocDefault));
  return PinnedMemory(static_cast<float*>(memory));
}

struct FreeDevice {
  void operator()(float* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<float, FreeDevice>;

// Lets this thread allocate memory and query events while the program captures a graph, which in
// the default mode would invalidate the capture; none of our work is in the captured streams.
class RelaxedCapture {
 public:
  RelaxedCapture() { check(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Makes a device current for the duration of a call, and then the caller's again.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace mygemm::blas
