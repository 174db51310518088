// The product of the tests of the cuBLAS drop-in, the same through each of cuBLAS's twelve
// functions, and what may become of it.
#pragma once

#include <cublas_api.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "elements.h"
#include "fake_handle.h"

namespace mygemm_tests {

// C = 2 A B' + 3 C of small integers, twice where the function does batches. A is m x k, B n x k.
inline constexpr int kM = 5, kN = 3, kK = 4, kLda = 7, kLdb = 6, kLdc = 8, kBatch = 2;
inline constexpr long long kStrideA = kLda * kK, kStrideB = kLdb * kK, kStrideC = kLdc * kN;

// Element i of any matrix, padding included.
inline float element(int i) { return static_cast<float>(i % 7 - 3); }
// `count` of them in device memory, exact in each type.
DeviceBuffer upload_elements(int count, cudaDataType type = CUDA_R_32F);
// The addresses of both matrices of a batch, in device memory. stride: bytes.
DeviceBuffer addresses(const DeviceBuffer& matrices, size_t stride);

// The operands and arguments of one call.
struct Product {
  explicit Product(cudaDataType of_a_and_b, cudaDataType of_c) : type(of_a_and_b), c_type(of_c) {}
  Product() : Product(CUDA_R_32F, CUDA_R_32F) {}

  cudaDataType type, c_type;
  cublasHandle_t handle = nullptr;
  cublasOperation_t transb = CUBLAS_OP_T;
  int lda = kLda;
  int m = kM;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
  float host_alpha = 2, host_beta = 3;
  const float* alpha = &host_alpha;
  const float* beta = &host_beta;
  DeviceBuffer a = upload_elements(kBatch * kStrideA, type);
  DeviceBuffer b = upload_elements(kBatch * kStrideB, type);
  DeviceBuffer c = upload_elements(kBatch * kStrideC, c_type);
  DeviceBuffer array_a = addresses(a, kStrideA* element_bytes(type));
  DeviceBuffer array_b = addresses(b, kStrideB* element_bytes(type));
  DeviceBuffer array_c = addresses(c, kStrideC* element_bytes(c_type));
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

class CublasDropIn : public CublasHandleTest {
 protected:
  void expect_taken(const Way& way, Product product = {}) {
    SCOPED_TRACE(way.name);
    product.handle = handle_;
    EXPECT_EQ(way.run(product, way.name), CUBLAS_STATUS_SUCCESS);
    synchronize();
    EXPECT_STREQ(fake_cublas_last_call(), "");
    EXPECT_TRUE(is_right(product, way.batches));
  }

  // cuBLAS gets the same arguments, its status is the call's, and C is unchanged.
  void expect_forwarded(const Way& way, Product product = {}) {
    SCOPED_TRACE(way.name);
    product.handle = handle_;
    fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(way.run(product, way.name), CUBLAS_STATUS_LICENSE_ERROR);
    synchronize();
    EXPECT_EQ(fake_cublas_last_call(), product.as_said);
    EXPECT_TRUE(is_right(product, 0));
  }
};

}  // namespace mygemm_tests
