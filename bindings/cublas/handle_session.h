// A session with the settings of a handle of cuBLAS.
#pragma once

#include "device.h"
#include "handles.h"
#include "session.h"

namespace mygemm::cublas {

// The settings of a call's handle.
struct HandleSettings {
  Settings settings;
  Told told;
};

// Opens a session for calls of a handle, whatever its math mode is.
Outcome open(cublasHandle_t handle, Session* session, HandleSettings* of);

// The same for a product of a compute type, where handle and type ask for FP32 arithmetic.
Outcome open(cublasHandle_t handle, cublasComputeType_t compute, Session* session,
             HandleSettings* of);

void set_up(const Session& session, const Settings& settings, cublasComputeType_t compute);

// Calls run() in the workspace of cuBLAS's handle, or in one of wanted() bytes that lasts as long
// as the call.
template <class Wanted, class Run>
mygemmStatus_t in_workspace(const Session& session, const HandleSettings& of, const Wanted& wanted,
                            const Run& run) {
  if (of.told.workspace) {
    use_workspace(session, of.told.workspace, of.told.workspace_bytes);
    return run();
  }
  const size_t bytes = wanted();
  const StreamMemory memory(session.device, of.settings.stream, bytes);
  use_workspace(session, memory.data(), bytes);
  return run();
}

}  // namespace mygemm::cublas
