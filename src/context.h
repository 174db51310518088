// The handle: its contents and its creation; nothing here computes. The CUDA calls it needs are in
// kernels/cuda_device.cu behind the functions of namespace cuda below, so that a build without
// nvcc compiles the same context.
#pragma once

#include <memory>

#include "environment.h"
#include "log.h"
#include "plan/plan.h"
#include "stream_workspaces.h"

struct mygemmContext {
  mygemm::DeviceTraits device;
  int ordinal;  // CUDA device; -1 on the host
  mygemm::Environment environment;
  mygemm::CallLog log;
  mygemmStream_t stream;
  // Kept until the end: freeing memory waits for the device.
  std::unique_ptr<mygemm::StreamWorkspaces> own_workspaces;
  size_t own_workspace_bytes;  // of each; 0: none, or the caller has set one
  void* workspace;
  size_t workspace_bytes;
  mygemmPointerMode_t pointer_mode;
  mygemmMathMode_t math_mode;
  mygemmInvariance_t invariance;

  bool on_host() const { return device.cc == 0; }
  bool uses_own_workspace() const { return own_workspaces && own_workspace_bytes > 0; }
  // To be called behind work that uses the workspace.
  void mark_workspace_used() const {
    if (uses_own_workspace()) own_workspaces->mark_used(stream);
  }
  // To be called once the stream has been set.
  void find_own_workspace() {
    if (!uses_own_workspace()) return;
    own_workspaces->use(stream);
    workspace = own_workspaces->memory();
    workspace_bytes = own_workspaces->bytes();
  }
  mygemm::LaunchContext launch_context() const { return {stream, workspace, &device}; }
};

namespace mygemm {

// The workspace that a handle owns for each stream, unless its config says otherwise: enough for
// stream-K on 132 multiprocessors (17.4 MB), and as much as cuBLAS has on Hopper.
constexpr size_t kOwnWorkspaceBytes = size_t{32} << 20;

// Makes a handle: reads the environment, picks the backend, reads the device's traits.
Status create_context(const mygemmConfig_t* config, mygemmContext** context);

// The name of the kernel that is forced for the problem's operation, or nullptr.
const char* forced_kernel(const Environment&, const GemmProblem&);
const char* forced_kernel(const Environment&, const GroupedProblem&);
const char* forced_kernel(const Environment&, const SoftmaxProblem&);
const char* forced_kernel(const Environment&, const CrossEntropyProblem&);
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
