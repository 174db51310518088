// A product of the tests of cublasLtMatmul: small integers, descriptors that a test may change, the
// results that it must have, and what may become of it.
#pragma once

#include <cublasLt.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "elements.h"
#include "fake_handle.h"

namespace mygemm_tests {

// One matrix, or a batch of two, in either order.
struct LtMatrix {
  int rows, columns;
  int order = CUBLASLT_ORDER_COL;
  int batches = 1;
  cudaDataType type = CUDA_R_32F;
  int ld = 0;  // of the order, with a gap of 3
  int64_t stride = 0;
  std::vector<float> values;
  DeviceBuffer buffer;
  cublasLtMatrixLayout_t layout = nullptr;

  LtMatrix(int rows_in, int columns_in, int order_in, int batches_in, cudaDataType type_in,
           int seed);
  LtMatrix(LtMatrix&&) = default;
  ~LtMatrix();
  float at(int batch, int i, int j) const;
  template <class Value>
  void set(cublasLtMatrixLayoutAttribute_t name, Value value) {
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout, name, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
};

struct LtShape {
  bool transa = false, transb = false;
  int m = 37, n = 5, k = 9;
  int a_order = CUBLASLT_ORDER_COL, b_order = CUBLASLT_ORDER_COL, d_order = CUBLASLT_ORDER_COL;
  int batches = 1;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType type = CUDA_R_32F, d_type = CUDA_R_32F;  // of A and B; of C, D and the bias
};

// D = epilogue(2 op(A) op(B) + 3 C + bias), C apart from D.
class LtProduct {
 public:
  static constexpr int kLdBits = 128, kLdFloats = 40;

  explicit LtProduct(const LtShape& shape);
  ~LtProduct();

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t name, Value value) {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(operation, name, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t run(cublasLtHandle_t handle);

  // Whether D, aux and sums hold what they must, and C and all else is as it was.
  ::testing::AssertionResult is_right() const;
  // Whether nothing was written.
  ::testing::AssertionResult is_untouched() const;

  LtShape shape;
  LtMatrix a, b, c, d;
  float host_alpha = 2, host_beta = 3;
  const void *alpha = &host_alpha, *beta = &host_beta;
  const void* c_data;
  void* d_data;
  DeviceBuffer vector;  // bias or its gradient
  DeviceBuffer aux;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  cublasLtMatmulDesc_t operation = nullptr;
  std::string as_said;  // the call, as the stand-in records it

 private:
  bool has(int bits) const { return (shape.epilogue & bits) != 0; }
  bool reads_aux() const;
  bool aux_is_bits() const;
  float before_activation(int batch, int i, int j) const;
  float activated(float t, int batch, int i, int j) const;
  ::testing::AssertionResult aux_is_right() const;
  ::testing::AssertionResult sums_are_right() const;

  std::vector<float> vector_values_;
  std::vector<unsigned char> aux_values_;
};

class LtDropIn : public FakeHandleTest<cublasLtHandle_t, cublasLtCreate, cublasLtDestroy> {
 protected:
  using Change = std::function<void(LtProduct&)>;

  void expect_taken(const LtShape& shape, const Change& change = {}) {
    SCOPED_TRACE("epilogue " + std::to_string(shape.epilogue));
    LtProduct product(shape);
    if (change) change(product);
    EXPECT_EQ(product.run(handle_), CUBLAS_STATUS_SUCCESS);
    synchronize();
    EXPECT_STREQ(fake_cublas_last_call(), "");
    EXPECT_TRUE(product.is_right());
  }

  // cuBLASLt gets the same arguments, its status is the call's, and nothing is written.
  void expect_forwarded(const LtShape& shape, const Change& change = {}) {
    SCOPED_TRACE("epilogue " + std::to_string(shape.epilogue));
    LtProduct product(shape);
    if (change) change(product);
    fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(product.run(handle_), CUBLAS_STATUS_LICENSE_ERROR);
    synchronize();
    EXPECT_EQ(fake_cublas_last_call(), product.as_said);
    EXPECT_TRUE(product.is_untouched());
  }

  template <class Value>
  void expect_forwarded_with(cublasLtMatmulDescAttributes_t name, Value value) {
    expect_forwarded({}, [&](LtProduct& product) { product.set(name, value); });
  }
};

}  // namespace mygemm_tests
