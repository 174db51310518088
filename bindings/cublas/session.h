// A call that mygemm takes: the calling thread's handle of mygemm with the settings of the call,
// and what becomes of its status.
#pragma once

#include <cublas_api.h>
#include <mygemm/mygemm.h>

#include <cstddef>
#include <optional>

#include "functions.h"

namespace mygemm::cublas {

struct Session {
  mygemmHandle_t handle = nullptr;
  int device = -1;
};

// Opens a session on the current device. told_device: the device of the caller's handle, or -1
// where it is not known.
Outcome open_session(int told_device, Session* session);

// The settings of a call. Default math is mygemm's default, or what MYGEMM_MATH says; pedantic is
// strict.
void set_up(const Session& session, cudaStream_t stream, bool scalars_on_device, bool pedantic);

// Every call sets a workspace or none: that of an earlier call may have been freed. One that mygemm
// does not accept is none.
void use_workspace(const Session& session, void* workspace, size_t bytes);

// kTaken where a compute type asks for FP32 arithmetic; else the reason why a call is cuBLAS's.
Outcome judge_arithmetic(cublasComputeType_t compute);

// cuBLAS's own environment variable: with it, default math means emulated FP32 on GPUs that have
// it.
bool emulation_is_wanted();

// The status of the call where mygemm has run it. A call that mygemm refused has written nothing,
// and cuBLAS gives its own answer to it. Counts it either way, as `taken` where it was run.
std::optional<cublasStatus_t> settle(Function function, Outcome taken, mygemmStatus_t status,
                                     double flop);

// The same for a call with a NULL: some functions of cuBLAS refuse it, others follow it and crash.
// So a refusal of mygemm's is the call's.
std::optional<cublasStatus_t> settle_with_null(Function function, Outcome taken,
                                               mygemmStatus_t status, double flop);

}  // namespace mygemm::cublas
