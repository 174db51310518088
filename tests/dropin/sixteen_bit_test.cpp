// The drop-in and products of 16-bit matrices: what MYGEMM_TAKE_16BIT lets it take. Runs as
// cublas_test.cpp does.
#include <algorithm>
#include <thread>

#include "cublas_product.h"
#include "lt_product.h"

namespace {

using namespace mygemm_tests;

struct Types {
  cudaDataType a_and_b, c;
};
constexpr Types kTypes[] = {{CUDA_R_16F, CUDA_R_16F},
                            {CUDA_R_16F, CUDA_R_32F},
                            {CUDA_R_16BF, CUDA_R_16BF},
                            {CUDA_R_16BF, CUDA_R_32F}};

// Each thread reads the variable for itself.
template <class Body>
void with_choice(const char* value, const Body& body) {
  const ScopedEnv choice("MYGEMM_TAKE_16BIT", value);
  std::thread(body).join();
}

class CublasDropIn16Bit : public CublasDropIn {
 protected:
  // Calls expect(way, product) for each function with types and for all types that cuBLAS has, of
  // products that `change` has changed.
  template <class Change, class Expect>
  void for_all(const Change& change, const Expect& expect) {
    for (const Way& way : all_ways()) {
      for (const Types& types : kTypes) {
        if (!way.typed) continue;
        Product product(types.a_and_b, types.c);
        change(product);
        expect(way, std::move(product));
      }
    }
  }
  template <class Change>
  void expect_all_forwarded(const Change& change) {
    for_all(change,
            [&](const Way& way, Product product) { expect_forwarded(way, std::move(product)); });
  }
  template <class Change>
  void expect_all_taken(const Change& change) {
    for_all(change,
            [&](const Way& way, Product product) { expect_taken(way, std::move(product)); });
  }
};
constexpr auto kUnchanged = [](Product&) {};

TEST_F(CublasDropIn16Bit, TakesAllWhereItMayAlways) {
  with_choice("always", [&] {
    expect_all_taken(kUnchanged);
    expect_all_taken([](Product& p) { p.compute = CUBLAS_COMPUTE_32F_PEDANTIC; });
    expect_all_taken([](Product& p) { p.algorithm = CUBLAS_GEMM_DEFAULT_TENSOR_OP; });
  });
}

// The mode says how FP32 matrices are multiplied.
TEST_F(CublasDropIn16Bit, TakesThemInAnyMathMode) {
  with_choice("always", [&] {
    for (const int mode :
         {CUBLAS_TF32_TENSOR_OP_MATH | 0, CUBLAS_PEDANTIC_MATH | 0,
          CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION}) {
      ASSERT_EQ(cublasSetMathMode(handle_, static_cast<cublasMath_t>(mode)), CUBLAS_STATUS_SUCCESS);
      expect_all_taken(kUnchanged);
    }
  });
}

TEST_F(CublasDropIn16Bit, FollowsThePointerMode) {
  const float scalars[] = {2, 3};
  const DeviceBuffer on_device(scalars, sizeof scalars, 0);
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  with_choice("always", [&] {
    expect_all_taken([&](Product& p) {
      p.alpha = on_device.as<const float>();
      p.beta = p.alpha + 1;
    });
  });
}

TEST_F(CublasDropIn16Bit, ForwardsOtherSumsAndTypes) {
  with_choice("always", [&] {
    for (const auto compute :
         {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC, CUBLAS_COMPUTE_32F_FAST_16F,
          CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F}) {
      expect_all_forwarded([&](Product& p) { p.compute = compute; });
    }
    for (const Way& way : all_ways()) {
      if (!way.typed) continue;
      expect_forwarded(way, Product(CUDA_R_16F, CUDA_R_16BF));
      expect_forwarded(way, Product(CUDA_R_16BF, CUDA_R_16F));
      expect_forwarded(way, Product(CUDA_R_32F, CUDA_R_16BF));
    }
  });
}

TEST_F(CublasDropIn16Bit, LeavesBadArgumentsToCublas) {
  with_choice("always", [&] {
    expect_all_forwarded([](Product& p) { p.lda = kM - 1; });
    expect_all_forwarded([](Product& p) { p.lda = 0; });
    expect_all_forwarded([](Product& p) { p.m = -1; });
    expect_all_forwarded([](Product& p) { p.algorithm = CUBLAS_GEMM_ALGO3; });
  });
}

TEST_F(CublasDropIn16Bit, ForwardsAllWhereItMayNever) {
  with_choice("never", [&] { expect_all_forwarded(kUnchanged); });
}

TEST_F(CublasDropIn16Bit, ForwardsSmallProductsByDefault) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "auto", "sometimes"}) {
    with_choice(value, [&] { expect_all_forwarded(kUnchanged); });
  }
}

// A product that would be taken is refused for its NULL; another one's NULL is cuBLAS's.
TEST_F(CublasDropIn16Bit, TakesLargeProductsAndShortSumsByDefault) {
  const auto is_taken = [&](int m, int n, int k, float beta = 0, int lda = 0, bool arrays = false) {
    const float one = 1;
    const void *const null = nullptr, *const *const nulls = nullptr;
    const void *alpha = &one, *scale = &beta;
    lda = std::max(lda, k);
    const cublasStatus_t status =
        arrays ? cublasGemmBatchedEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, alpha, nulls,
                                     CUDA_R_16BF, lda, nulls, CUDA_R_16BF, k, scale, nullptr,
                                     CUDA_R_16BF, m, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)
               : cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, alpha, null, CUDA_R_16BF,
                              lda, null, CUDA_R_16BF, k, scale, nullptr, CUDA_R_16BF, m,
                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    const bool forwarded = !std::string(fake_cublas_last_call()).empty();
    EXPECT_EQ(status, forwarded ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE);
    return !forwarded;
  };
  with_choice("auto", [&] {
    EXPECT_TRUE(is_taken(10000, 10000, 10000));
    EXPECT_FALSE(is_taken(9992, 10000, 10000));
    EXPECT_TRUE(is_taken(4000, 4000, 64));
    EXPECT_FALSE(is_taken(4000, 4000, 72));
    EXPECT_FALSE(is_taken(3992, 4000, 64));
    EXPECT_TRUE(is_taken(16000, 1000, 64));
    EXPECT_FALSE(is_taken(992, 17000, 64));
    // Columns that begin elsewhere than at multiples of 16 bytes; arrays of pointers; C.
    EXPECT_TRUE(is_taken(10000, 10000, 10000, 0, 10004));
    EXPECT_TRUE(is_taken(1000, 1000, 1001));
    EXPECT_TRUE(is_taken(1001, 1000, 1000));
    EXPECT_FALSE(is_taken(1000, 1000, 1000));
    EXPECT_FALSE(is_taken(1000, 1000, 999));
    EXPECT_FALSE(is_taken(127, 10000, 1001));
    EXPECT_FALSE(is_taken(10000, 10000, 127));
    EXPECT_FALSE(is_taken(1000, 1000, 1001, 1));
    EXPECT_FALSE(is_taken(1001, 1001, 1001, 0, 0, true));
    EXPECT_FALSE(is_taken(10000, 10000, 10000, 0, 0, true));
    EXPECT_TRUE(is_taken(10000, 10000, 10000, 1));
    EXPECT_FALSE(is_taken(4000, 4000, 64, 1));
  });
  with_choice("never", [&] { EXPECT_FALSE(is_taken(10000, 10000, 10000)); });
  // Such columns are copied: k is limited by the workspace, the drop-in's own or the handle's.
  const DeviceBuffer small(size_t{4} << 20, 0, 256);
  with_choice("auto", [&] {
    EXPECT_TRUE(is_taken(1000, 1000, 32001));
    EXPECT_FALSE(is_taken(2000, 2000, 33001));
    cublasSetWorkspace_v2(handle_, small.data(), small.bytes());
    EXPECT_TRUE(is_taken(1000, 1000, 1001));
    EXPECT_FALSE(is_taken(2000, 2000, 1025));
    EXPECT_FALSE(is_taken(1000, 1000, 1049));
    EXPECT_TRUE(is_taken(10000, 10000, 10000));
  });
}

// ---- cublasLtMatmul ----------------------------------------------------------------------------

using LtDropIn16Bit = LtDropIn;
constexpr cublasLtEpilogue_t kTakenEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,          CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_RELU_BIAS,     CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU};

TEST_F(LtDropIn16Bit, TakesEpiloguesThatKeepNoFloats) {
  with_choice("always", [&] {
    for (const Types& types : kTypes) {
      for (const cublasLtEpilogue_t epilogue : kTakenEpilogues) {
        LtShape shape{.epilogue = epilogue, .type = types.a_and_b, .d_type = types.c};
        expect_taken(shape);
        shape.transa = true, shape.batches = 2;
        expect_taken(shape);
      }
    }
  });
}

// cuBLASLt keeps, and adds up, elements of D's type.
TEST_F(LtDropIn16Bit, ForwardsEpiloguesThatKeepFloats) {
  with_choice("always", [&] {
    for (const Types& types : kTypes) {
      for (const cublasLtEpilogue_t epilogue :
           {CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU,
            CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
        expect_forwarded({.transb = epilogue == CUBLASLT_EPILOGUE_BGRADB,
                          .epilogue = epilogue,
                          .type = types.a_and_b,
                          .d_type = types.c});
      }
    }
  });
}

TEST_F(LtDropIn16Bit, TakesABiasOfTheTypeOfDOnly) {
  with_choice("always", [&] {
    for (const Types& types : kTypes) {
      const LtShape shape{
          .epilogue = CUBLASLT_EPILOGUE_BIAS, .type = types.a_and_b, .d_type = types.c};
      expect_taken(shape,
                   [&](LtProduct& p) { p.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types.c); });
      expect_forwarded(shape, [&](LtProduct& p) {
        p.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
              types.c == CUDA_R_32F ? types.a_and_b : CUDA_R_32F);
      });
    }
  });
}

TEST_F(LtDropIn16Bit, TakesRowsAndColumns) {
  with_choice("always", [&] {
    for (const int order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
      expect_taken({.a_order = order, .type = CUDA_R_16BF, .d_type = CUDA_R_16BF});
      expect_taken({.d_order = order, .type = CUDA_R_16F, .d_type = CUDA_R_32F});
    }
  });
}

TEST_F(LtDropIn16Bit, ForwardsOtherSumsAndTypes) {
  with_choice("always", [&] {
    for (const auto compute : {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F_FAST_16F}) {
      expect_forwarded({.compute = compute, .type = CUDA_R_16F, .d_type = CUDA_R_16F});
    }
    expect_forwarded({.type = CUDA_R_16F, .d_type = CUDA_R_16BF});
    for (LtMatrix LtProduct::*matrix :
         {&LtProduct::a, &LtProduct::b, &LtProduct::c, &LtProduct::d}) {
      expect_forwarded({.type = CUDA_R_16BF, .d_type = CUDA_R_16BF}, [&](LtProduct& p) {
        (p.*matrix).set(CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_16F});
      });
    }
  });
}

TEST_F(LtDropIn16Bit, FollowsTheChoice) {
  for (const char* value : {"auto", "never"}) {
    with_choice(value, [&] {
      for (const Types& types : kTypes) {
        expect_forwarded({.type = types.a_and_b, .d_type = types.c});
      }
    });
  }
}

}  // namespace
