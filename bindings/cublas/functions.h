// The functions of cuBLAS and cuBLASLt that libmygemm_cublas.so takes the place of, and why a call
// of one may be forwarded to cuBLAS all the same.
#pragma once

#include <array>

namespace mygemm::cublas {

// The functions that compute come first, in the order of kFunctionNames; the others are only
// watched, for settings of a handle that cuBLAS has no getter for.
enum Function : int {
  kSgemm,
  kSgemm64,
  kSgemmBatched,
  kSgemmBatched64,
  kSgemmStridedBatched,
  kSgemmStridedBatched64,
  kGemmEx,
  kGemmEx64,
  kGemmBatchedEx,
  kGemmBatchedEx64,
  kGemmStridedBatchedEx,
  kGemmStridedBatchedEx64,
  kSgemmGroupedBatched,
  kSgemmGroupedBatched64,
  kSsyrk,
  kSsyrk64,
  kSsyrkx,
  kSsyrkx64,
  kSgeam,
  kSgeam64,
  kLtMatmul,
  kCreate,
  kDestroy,
  kSetStream,
  kSetWorkspace,
  kGetStream,  // from here on: called, not replaced
  kGetPointerMode,
  kGetMathMode,
  kGetSmCountTarget,
  kGetProperty,
  kLtGetProperty,  // from here on: cuBLASLt's
  kLtMatmulDescGetAttribute,
  kLtMatrixLayoutGetAttribute,
  kFunctionCount
};
inline constexpr int kComputeFunctions = kCreate;
inline constexpr int kReplacedFunctions = kGetStream;

inline constexpr std::array<const char*, kFunctionCount> kFunctionNames = {
    "cublasSgemm_v2",
    "cublasSgemm_v2_64",
    "cublasSgemmBatched",
    "cublasSgemmBatched_64",
    "cublasSgemmStridedBatched",
    "cublasSgemmStridedBatched_64",
    "cublasGemmEx",
    "cublasGemmEx_64",
    "cublasGemmBatchedEx",
    "cublasGemmBatchedEx_64",
    "cublasGemmStridedBatchedEx",
    "cublasGemmStridedBatchedEx_64",
    "cublasSgemmGroupedBatched",
    "cublasSgemmGroupedBatched_64",
    "cublasSsyrk_v2",
    "cublasSsyrk_v2_64",
    "cublasSsyrkx",
    "cublasSsyrkx_64",
    "cublasSgeam",
    "cublasSgeam_64",
    "cublasLtMatmul",
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasSetStream_v2",
    "cublasSetWorkspace_v2",
    "cublasGetStream_v2",
    "cublasGetPointerMode_v2",
    "cublasGetMathMode",
    "cublasGetSmCountTarget",
    "cublasGetProperty",
    "cublasLtGetProperty",
    "cublasLtMatmulDescGetAttribute",
    "cublasLtMatrixLayoutGetAttribute",
};

constexpr bool is_of_lt(Function function) {
  return function == kLtMatmul || function >= kLtGetProperty;
}

// The outcome of a call: taken, or why it was forwarded.
enum Outcome : int {
  kTaken,
  kTaken16Bit,
  kOtherTypes,
  kNo16Bit,
  kFast16Bit,
  kKeeps16Bit,
  kReducedPrecision,
  kGivenAlgorithm,
  kNoDevice,
  kOtherDevice,
  kUnknownCublas,
  kFewerSms,
  kScaled,
  kNotATranspose,
  kSmallGroups,
  kShortTriangle,
  kLeftToCublas,
  kOutcomeCount
};

constexpr bool is_taken(Outcome outcome) { return outcome <= kTaken16Bit; }

inline constexpr std::array<const char*, kOutcomeCount> kOutcomeNames = {
    "taken",
    "of 16-bit matrices",
    "element types other than FP32, FP16 and BF16, or sums other than FP32",
    "16-bit matrices, which MYGEMM_TAKE_16BIT=never leaves to cuBLAS",
    "16-bit matrices, with which cuBLAS is faster as far as is known (MYGEMM_TAKE_16BIT=auto)",
    "16-bit matrices, and an epilogue that keeps elements or adds them up",
    "the math mode or the compute type asks for less than FP32, or for emulation",
    "an algorithm of cuBLAS was asked for",
    "there is no GPU here that mygemm can use",
    "the handle is not of the current device",
    "cuBLAS is not of major version 11, 12 or 13",
    "the handle or the call has a limit on multiprocessors",
    "scaling factors, vectors of alpha, or a layout that is neither of columns nor of rows",
    "a sum or a copy, not a transpose",
    "many groups of small products, for which cuBLAS needs one launch",
    "a small triangle of few products a result, which cuBLAS computes faster",
    "arguments that cuBLAS is to judge, or nothing to compute",
};

}  // namespace mygemm::cublas
