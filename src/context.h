// The handle: its contents and its creation; nothing here computes. The CUDA calls it needs are in
// kernels/cuda_device.cu behind the functions of namespace cuda below, so that a build without
// nvcc compiles the same context.
#pragma once

#include "environment.h"
#include "log.h"
#include "plan/plan.h"

struct mygemmContext {
  mygemm::DeviceTraits device;
  int ordinal;  // CUDA device; -1 on the host
  mygemm::Environment environment;
  mygemm::CallLog log;
  mygemmStream_t stream;
  void* workspace;
  size_t workspace_bytes;
  mygemmPointerMode_t pointer_mode;
  mygemmMathMode_t math_mode;

  bool on_host() const { return device.cc == 0; }
  mygemm::LaunchContext launch_context() const { return {stream, workspace, &device}; }
};

namespace mygemm {

// Makes a handle: reads the environment, picks the backend, reads the device's traits.
Status create_context(const mygemmConfig_t* config, mygemmContext** context);

// The name of the kernel that is forced for the problem's operation, or nullptr.
const char* forced_kernel(const Environment&, const GemmProblem&);
const char* forced_kernel(const Environment&, const SoftmaxProblem&);
const char* forced_kernel(const Environment&, const TransposeProblem&);

// Traits of this machine's processor as a device, cc = 0.
DeviceTraits host_traits();

namespace cuda {
// Devices that can be used; 0 where there is no driver or no device.
int device_count();
// The device current on this thread.
Status current_device(int* ordinal);
// Traits of a device. ARCH_MISMATCH where the library holds no code for it.
Status read_traits(int ordinal, DeviceTraits* traits);
}  // namespace cuda

}  // namespace mygemm
