// Tests of the drop-in BLAS with several GPUs, real or emulated: a product that is dealt out.
#include <cstring>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "blas/offload.h"
#include "multiply_on.h"

namespace mygemm::blas {
namespace {

#ifdef MYGEMM_TESTS_EMULATED
constexpr int64_t kScale = 1;
#else
constexpr int64_t kScale = 16;
#endif
constexpr PipelineLimits kLimits{{1'000'000 * kScale, 8 * kScale, 8}, 512 * kScale, 0};

class BlasDealing : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    if (devices < 2) GTEST_SKIP() << "one GPU only";
  }
};

OwnedProduct product_of(bool tall) {
  return tall ? OwnedProduct(false, true, 96 * kScale, 60 * kScale, 20 * kScale, 0.5f)
              : OwnedProduct(true, false, 60 * kScale, 100 * kScale, 20 * kScale, 0.5f);
}

bool same_bits(const OwnedProduct& one, const OwnedProduct& other) {
  return std::memcmp(one.c().data(), other.c().data(), one.c().size() * sizeof(float)) == 0;
}

TEST_F(BlasDealing, TwoGpusGiveTheBitsOfOne) {
  Gpu alone(0, kLimits), first(0, kLimits), second(1, kLimits);
  for (const bool tall : {false, true}) {
    const OwnedProduct expected = product_of(tall);
    ASSERT_TRUE(multiply_on(expected, &alone));
    EXPECT_EQ(kScale == 1 ? expected.wrong() : 0, 0);  // slow to tell
    for (int round = 0; round < 3; ++round) {
      const OwnedProduct dealt = product_of(tall), turned = product_of(tall);
      EXPECT_TRUE(multiply_on(dealt, &first, &second));
      EXPECT_TRUE(same_bits(dealt, expected)) << tall;
      EXPECT_TRUE(multiply_on(turned, &second, &first));
      EXPECT_TRUE(same_bits(turned, expected)) << tall;
    }
  }
  EXPECT_TRUE(first.has_computed());
  EXPECT_TRUE(second.has_computed());
}

TEST_F(BlasDealing, AGpuWithoutMemoryForTheTilesTakesNoPart) {
  PipelineLimits small = kLimits;
  small.tiling.device_floats = 100;
  Gpu first(0, kLimits), second(1, small);
  const OwnedProduct product = product_of(true), expected = product_of(true);
  EXPECT_TRUE(multiply_on(product, &first, &second));
  EXPECT_TRUE(multiply_on(expected, &first));
  EXPECT_TRUE(same_bits(product, expected));
  EXPECT_FALSE(second.has_computed());
  EXPECT_FALSE(second.is_lost());
}

TEST_F(BlasDealing, AProductOfOneTileIsTheFirstGpus) {
  Gpu first(0, kLimits), second(1, kLimits);
  const OwnedProduct product(false, false, 5, 7, 9, 0);
  EXPECT_TRUE(multiply_on(product, &first, &second));
  EXPECT_EQ(product.wrong(), 0);
  EXPECT_FALSE(second.has_computed());
}

// Another device than that of the GPU that computes.
TEST_F(BlasDealing, TheDeviceOfTheCallerIsLeftAsItIs) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const OwnedProduct product(false, false, 30, 20, 10, 2);
  EXPECT_TRUE(multiply_on_gpu(product.product()));
  int device = 0;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(product.wrong(), 0);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

}  // namespace
}  // namespace mygemm::blas
