// Sessions: see session.h.
#include "session.h"

#include <cstdlib>
#include <cstring>

#include "device.h"
#include "handles.h"
#include "report.h"

namespace mygemm::cublas {

Outcome open_session(int told_device, Session* session) {
  session->device = current_device();
  if (session->device < 0) return kNoDevice;
  if (told_device >= 0 && told_device != session->device) return kOtherDevice;
  session->handle = thread_handle(session->device);
  if (!session->handle) return kNoDevice;
  note_device(session->device);
  return kTaken;
}

void set_up(const Session& session, cudaStream_t stream, bool scalars_on_device, bool pedantic) {
  static const mygemmMathMode_t default_mode = [&] {
    mygemmMathMode_t mode = MYGEMM_MATH_DEFAULT;
    mygemm_get_math_mode(session.handle, &mode);
    return mode;
  }();
  mygemm_set_stream(session.handle, stream);
  mygemm_set_pointer_mode(
      session.handle, scalars_on_device ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST);
  mygemm_set_math_mode(session.handle, pedantic ? MYGEMM_MATH_STRICT : default_mode);
}

void use_workspace(const Session& session, void* workspace, size_t bytes) {
  if (mygemm_set_workspace(session.handle, workspace, workspace ? bytes : 0) !=
      MYGEMM_STATUS_SUCCESS) {
    mygemm_set_workspace(session.handle, nullptr, 0);
  }
}

Outcome judge_arithmetic(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC: return kTaken;
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return kReducedPrecision;
    default: return kOtherTypes;
  }
}

bool emulation_is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    return value && *value && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

std::optional<cublasStatus_t> settle(Function function, Outcome taken, mygemmStatus_t status,
                                     double flop) {
  if (status == MYGEMM_STATUS_SUCCESS || status == MYGEMM_STATUS_EXECUTION_FAILED) {
    count(function, taken, flop);
    return static_cast<cublasStatus_t>(status);
  }
  count(function, kLeftToCublas, flop);
  return std::nullopt;
}

std::optional<cublasStatus_t> settle_with_null(Function function, Outcome taken,
                                               mygemmStatus_t status, double flop) {
  if (status != MYGEMM_STATUS_INVALID_VALUE) return settle(function, taken, status, flop);
  count(function, taken, flop);
  return CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace mygemm::cublas
