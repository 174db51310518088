// The product of the tests of the cuBLAS drop-in: the same through each of cuBLAS's twelve
// functions.
#pragma once

#include <cublas_api.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_handle.h"
#include "support/memory.h"

namespace mygemm_tests {

// C = 2 A B' + 3 C of small integers, twice where the function does batches. A is m x k, B n x k.
inline constexpr int kM = 5, kN = 3, kK = 4, kLda = 7, kLdb = 6, kLdc = 8, kBatch = 2;
inline constexpr long long kStrideA = kLda * kK, kStrideB = kLdb * kK, kStrideC = kLdc * kN;

// Element i of any matrix, padding included.
inline float element(int i) { return static_cast<float>(i % 7 - 3); }
// `count` of them in device memory.
DeviceBuffer upload_elements(int count);
// The addresses of both matrices of a batch, in device memory.
DeviceBuffer addresses(const DeviceBuffer& matrices, long long stride);

// The operands and arguments of one call.
struct Product {
  cublasHandle_t handle = nullptr;
  cublasOperation_t transb = CUBLAS_OP_T;
  int lda = kLda;
  int m = kM;
  cudaDataType type = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
  float host_alpha = 2, host_beta = 3;
  const float* alpha = &host_alpha;
  const float* beta = &host_beta;
  DeviceBuffer a = upload_elements(kBatch * kStrideA);
  DeviceBuffer b = upload_elements(kBatch * kStrideB);
  DeviceBuffer c = upload_elements(kBatch * kStrideC);
  DeviceBuffer array_a = addresses(a, kStrideA);
  DeviceBuffer array_b = addresses(b, kStrideB);
  DeviceBuffer array_c = addresses(c, kStrideC);
  std::string as_said;

  template <class Call, class... Arguments>
  cublasStatus_t call(const char* name, Call function, Arguments... arguments) {
    as_said = fake_cublas::said(name, arguments...);
    return function(arguments...);
  }
};

// Whether the first `batches` matrices of C hold the product and everything else is untouched.
::testing::AssertionResult is_right(const Product& product, int batches);

struct Way {
  const char* name;
  int batches;
  bool typed;  // takes types, a compute type and an algorithm
  std::function<cublasStatus_t(Product&, const char* name)> run;
};

std::vector<Way> all_ways();

}  // namespace mygemm_tests
