// CUDA's objects with owners. Errors are exceptions, which Gpu catches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace mygemm::blas {

// Thrown where CUDA or libmygemm's CUDA backend fails: other GPUs or the host take over.
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

inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device));
  return device;
}

// Makes this thread's device current again where it is another one at the end.
class KeepDevice {
 public:
  KeepDevice() : device_(current_device()) {}
  ~KeepDevice() {
    int now = device_;
    if (cudaGetDevice(&now) == cudaSuccess && now != device_) cudaSetDevice(device_);
  }
  KeepDevice(const KeepDevice&) = delete;
  KeepDevice& operator=(const KeepDevice&) = delete;
  int device() const { return device_; }

 private:
  int device_;
};

}  // namespace mygemm::blas
