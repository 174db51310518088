// Sessions of cuBLAS's handles: see handle_session.h.
#include "handle_session.h"

#include "real_cublas.h"

namespace mygemm::cublas {
namespace {

// Flags above the low four bits concern 16-bit types, emulated FP64 does not concern FP32; not all
// headers of CUDA 13 have the name of the latter, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH.
bool wants_fp32(cublasMath_t math) {
  constexpr int kEmulatedFp64 = 8;
  const int mode = math & 0xf;
  if (mode == CUBLAS_PEDANTIC_MATH) return true;
  return (mode == CUBLAS_DEFAULT_MATH || mode == kEmulatedFp64) && !emulation_is_wanted();
}

}  // namespace

Outcome open(cublasHandle_t handle, Session* session, HandleSettings* of) {
  if (!known_version(kGetProperty)) return kUnknownCublas;
  of->told = told(handle);
  const Outcome outcome = open_session(of->told.device, session);
  if (outcome != kTaken) return outcome;
  if (!read_settings(handle, &of->settings)) return kLeftToCublas;
  return of->settings.sm_count_target == 0 ? kTaken : kFewerSms;
}

Outcome open(cublasHandle_t handle, cublasComputeType_t compute, Session* session,
             HandleSettings* of) {
  const Outcome outcome = open(handle, session, of);
  const bool fp32 = compute == CUBLAS_COMPUTE_32F_PEDANTIC || wants_fp32(of->settings.math);
  return outcome == kTaken && !fp32 ? kReducedPrecision : outcome;
}

void set_up(const Session& session, const Settings& settings, cublasComputeType_t compute) {
  const bool pedantic =
      compute == CUBLAS_COMPUTE_32F_PEDANTIC || (settings.math & 0xf) == CUBLAS_PEDANTIC_MATH;
  set_up(session, settings.stream, settings.pointer_mode != CUBLAS_POINTER_MODE_HOST, pedantic);
}

}  // namespace mygemm::cublas
