// The cuBLAS drop-in: calls that it takes are computed right, others are forwarded with the same
// arguments. Runs with the emulated kernels and on a GPU, before a cuBLAS that only records calls.
#include <thread>
#include <utility>

#include "cublas_product.h"

namespace {

using namespace mygemm_tests;

TEST_F(CublasDropIn, TakesEveryProduct) {
  ASSERT_EQ(all_ways().size(), 12u);
  for (const Way& way : all_ways()) expect_taken(way);
}

TEST_F(CublasDropIn, TakesPedanticMathAndFlagsThatAreNotAboutFp32) {
  for (const int mode : {CUBLAS_PEDANTIC_MATH | 0, 8 /* emulated FP64 */,
                         CUBLAS_PEDANTIC_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION}) {
    ASSERT_EQ(cublasSetMathMode(handle_, static_cast<cublasMath_t>(mode)), CUBLAS_STATUS_SUCCESS);
    for (const Way& way : all_ways()) expect_taken(way);
  }
}

TEST_F(CublasDropIn, ForwardsWhatAsksForLessThanFp32) {
  for (const cublasMath_t mode :
       {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_FP32_EMULATED_BF16X9_MATH}) {
    ASSERT_EQ(cublasSetMathMode(handle_, mode), CUBLAS_STATUS_SUCCESS);
    for (const Way& way : all_ways()) expect_forwarded(way);
  }
}

TEST_F(CublasDropIn, LooksAtComputeTypeAndTypes) {
  for (const Way& way : all_ways()) {
    if (!way.typed) continue;
    Product pedantic;
    pedantic.compute = CUBLAS_COMPUTE_32F_PEDANTIC;
    expect_taken(way, std::move(pedantic));
    for (const cublasComputeType_t compute :
         {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF,
          CUBLAS_COMPUTE_32F_EMULATED_16BFX9, CUBLAS_COMPUTE_64F}) {
      Product other;
      other.compute = compute;
      expect_forwarded(way, std::move(other));
    }
    Product other;
    other.type = CUDA_R_64F;
    expect_forwarded(way, std::move(other));
  }
}

TEST_F(CublasDropIn, TakesTheDefaultAlgorithmsOnly) {
  for (const Way& way : all_ways()) {
    if (!way.typed) continue;
    Product tensor_op;
    tensor_op.algorithm = CUBLAS_GEMM_DEFAULT_TENSOR_OP;
    expect_taken(way, std::move(tensor_op));
    Product third;
    third.algorithm = CUBLAS_GEMM_ALGO3;
    expect_forwarded(way, std::move(third));
  }
}

TEST_F(CublasDropIn, LeavesBadArgumentsToCublas) {
  for (const Way& way : all_ways()) {
    Product narrow;
    narrow.lda = kM - 1;
    expect_forwarded(way, std::move(narrow));
    Product negative;
    negative.m = -1;
    expect_forwarded(way, std::move(negative));
    Product conjugate;
    conjugate.transb = CUBLAS_OP_CONJG;
    expect_forwarded(way, std::move(conjugate));
  }
}

// NULL arguments, on which some functions of cuBLAS crash.
TEST_F(CublasDropIn, RefusesNullItself) {
  const std::function<void(Product&)> spoil[] = {
      [](Product& p) { p.alpha = nullptr; }, [](Product& p) { p.beta = nullptr; },
      [](Product& p) { p.a = {}, p.array_a = {}; }, [](Product& p) { p.c = {}, p.array_c = {}; }};
  for (const Way& way : all_ways()) {
    for (const auto& change : spoil) {
      Product product;
      product.handle = handle_;
      change(product);
      EXPECT_EQ(way.run(product, way.name), CUBLAS_STATUS_INVALID_VALUE) << way.name;
      EXPECT_STREQ(fake_cublas_last_call(), "") << way.name;
    }
  }
}

TEST_F(CublasDropIn, LeavesALimitOnMultiprocessorsToCublas) {
  ASSERT_EQ(cublasSetSmCountTarget(handle_, 16), CUBLAS_STATUS_SUCCESS);
  for (const Way& way : all_ways()) expect_forwarded(way);
}

TEST_F(CublasDropIn, ForwardsANullHandle) {
  for (const Way& way : all_ways()) {
    Product product;
    fake_cublas_answer(CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(way.run(product, way.name), CUBLAS_STATUS_NOT_INITIALIZED) << way.name;
    EXPECT_EQ(fake_cublas_last_call(), product.as_said);
  }
}

TEST_F(CublasDropIn, FollowsThePointerMode) {
  const float scalars[] = {2, 3};
  const DeviceBuffer on_device(scalars, sizeof scalars, 0);
  ASSERT_EQ(cublasSetPointerMode_v2(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  for (const Way& way : all_ways()) {
    Product product;
    product.alpha = on_device.as<const float>();
    product.beta = product.alpha + 1;
    expect_taken(way, std::move(product));
  }
}

// A forced kernel that needs a workspace shows which workspace the call had: without enough of it
// the call is forwarded.
TEST_F(CublasDropIn, WorksInTheWorkspaceThatTheHandleHas) {
  const DeviceBuffer small(64, 0, 256), large(1 << 20, 0, 256);
  const int k = 512;
  const DeviceBuffer a = upload_elements(kM * k), b = upload_elements(k * kN),
                     c = upload_elements(kM * kN);
  const auto is_taken = [&] {
    const float alpha = 1, beta = 0;
    EXPECT_EQ(
        cublasSgemm_v2(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, k, &alpha, a.as<const float>(),
                       kM, b.as<const float>(), k, &beta, c.as<float>(), kM),
        CUBLAS_STATUS_SUCCESS);
    return std::string(fake_cublas_last_call()).empty();
  };
  std::thread([&] {
    const ScopedEnv forced("MYGEMM_FORCE_GEMM", "splitk_64x64");
    EXPECT_TRUE(is_taken());  // in a workspace of the drop-in's own
    cublasSetWorkspace_v2(handle_, small.data(), small.bytes());
    EXPECT_FALSE(is_taken());
    cublasSetWorkspace_v2(handle_, large.data(), large.bytes());
    EXPECT_TRUE(is_taken());
    cublasSetWorkspace_v2(handle_, small.data(), small.bytes());
    cublasSetStream_v2(handle_, nullptr);  // resets it
    EXPECT_TRUE(is_taken());
    cublasSetWorkspace_v2(handle_, small.data(), small.bytes());
    cublasDestroy_v2(handle_);  // a new handle, perhaps at the same address, has no workspace
    ASSERT_EQ(cublasCreate_v2(&handle_), CUBLAS_STATUS_SUCCESS);
    EXPECT_TRUE(is_taken());
  }).join();
}

TEST_F(CublasDropIn, AHandleServesThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<Product> products(4);
  std::vector<cublasStatus_t> statuses(products.size());
  for (size_t i = 0; i < products.size(); ++i) {
    products[i].handle = handle_;
    threads.emplace_back(
        [&, i] { statuses[i] = all_ways()[0].run(products[i], "cublasSgemm_v2"); });
  }
  for (std::thread& thread : threads) thread.join();
  synchronize();
  for (size_t i = 0; i < products.size(); ++i) {
    EXPECT_EQ(statuses[i], CUBLAS_STATUS_SUCCESS);
    EXPECT_TRUE(is_right(products[i], 1));
  }
}

// ---- cublasSgeam -------------------------------------------------------------------------------

struct Sum {
  cublasOperation_t transa = CUBLAS_OP_T, transb = CUBLAS_OP_N;
  float alpha = 1, beta = 0;
  int ldb = kM;
  bool in_place = false;
};

// 5 x 3 results; A and B are whatever their op makes of them.
class CublasDropInSum : public CublasDropIn {
 protected:
  cublasStatus_t run(const Sum& sum, bool wide) {
    float* const c = sum.in_place ? a_.as<float>() : c_.as<float>();
    const auto call = [&](const char* name, auto function, auto m, auto n, auto lda, auto ldb,
                          auto ldc) {
      as_said_ = fake_cublas::said(name, handle_, sum.transa, sum.transb, m, n, &sum.alpha,
                                   a_.as<const float>(), lda, &sum.beta, b_.as<const float>(), ldb,
                                   c, ldc);
      return function(handle_, sum.transa, sum.transb, m, n, &sum.alpha, a_.as<const float>(), lda,
                      &sum.beta, b_.as<const float>(), ldb, c, ldc);
    };
    c_.poison();
    const int64_t m = kM, n = kN, lda = kLda, ldb = sum.ldb, ldc = kLdc;
    if (wide) return call("cublasSgeam_64", cublasSgeam_64, m, n, lda, ldb, ldc);
    return call("cublasSgeam", cublasSgeam, kM, kN, kLda, sum.ldb, kLdc);
  }

  void expect_transpose_of(const DeviceBuffer& x, int ld) {
    std::vector<float> in(x.bytes() / sizeof(float)), out(c_.bytes() / sizeof(float));
    synchronize();
    x.download(in.data());
    c_.download(out.data());
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kM; ++i) {
        EXPECT_EQ(out[static_cast<size_t>(j * kLdc + i)], in[static_cast<size_t>(i * ld + j)]);
      }
    }
    EXPECT_STREQ(fake_cublas_last_call(), "");
  }

  void expect_sum_forwarded(const Sum& sum) {
    for (const bool wide : {false, true}) {
      fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
      EXPECT_EQ(run(sum, wide), CUBLAS_STATUS_LICENSE_ERROR);
      EXPECT_EQ(fake_cublas_last_call(), as_said_);
    }
  }

  DeviceBuffer a_ = upload_elements(kLda * 8);
  DeviceBuffer b_ = upload_elements(kLdb * 8);
  DeviceBuffer c_{sizeof(float) * kLdc * kN};
  std::string as_said_;
};

TEST_F(CublasDropInSum, TakesTheTransposeOfEitherSummand) {
  for (const bool wide : {false, true}) {
    EXPECT_EQ(run({}, wide), CUBLAS_STATUS_SUCCESS);
    expect_transpose_of(a_, kLda);
    EXPECT_EQ(run({CUBLAS_OP_N, CUBLAS_OP_C, 0, 1, kLdb}, wide), CUBLAS_STATUS_SUCCESS);
    expect_transpose_of(b_, kLdb);
  }
}

TEST_F(CublasDropInSum, ForwardsEverythingElse) {
  expect_sum_forwarded({.alpha = 2});
  expect_sum_forwarded({.beta = 1});
  expect_sum_forwarded({.transa = CUBLAS_OP_N});
  expect_sum_forwarded({.alpha = 0});
  expect_sum_forwarded({.ldb = kM - 1});
  expect_sum_forwarded({.transb = CUBLAS_OP_CONJG});
  expect_sum_forwarded({.in_place = true});
}

}  // namespace
