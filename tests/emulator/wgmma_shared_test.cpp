// Proves the emulator's tensor cores with both operands of 16 bits in shared memory: products are
// what src/ptx/wgmma.cuh says, of every element type and layout. What all products have in common:
// wgmma_test.cpp.
#include <cuda_fp16.h>

#include <cstdint>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/math.cuh"
#include "ptx/shared.cuh"
#include "ptx/wgmma.cuh"

namespace {

namespace ptx = mygemm::ptx;

constexpr int kRows = 64, kDepth = 64;

struct WgmmaSharedTest : EmulatorTest {
  void SetUp() override {
    if (emulator::device().cc != 90) GTEST_SKIP() << "the emulated device has other tensor cores";
  }
};

template <int kN>
struct Buffer {
  alignas(1024) uint16_t a[kRows * kDepth];
  alignas(1024) uint16_t b[(kN + 63) / 64 * 64 * kDepth];
};

// The place of element (line, k): lines of 128 bytes, whose chunks of 16 bytes are swizzled.
template <bool kMNMajor>
int place(int line, int k) {
  const int of_128 = kMNMajor ? k : line, element = kMNMajor ? line % 64 : k;
  return (kMNMajor ? line / 64 * 4096 : 0) + of_128 * 64 + (element / 8 ^ of_128 % 8) * 8 +
         element % 8;
}

template <bool kBf16>
uint16_t bits(float x) {
  return kBf16 ? static_cast<uint16_t>(ptx::pack_bf16(x, 0)) : __half_as_ushort(__float2half_rn(x));
}

// D = A B, plus D where `adds`: 64 x 64 times 64 x kN; A is row-major, B column-major.
template <bool kBf16, int kN, bool kMNMajorA, bool kMNMajorB>
__global__ void multiply(const float* a, const float* b, float* d, bool adds) {
  auto& s = mygemm::shared_storage<Buffer<kN>>();
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kRows * kDepth; i += 128) {
    s.a[place<kMNMajorA>(i / kDepth, i % kDepth)] = bits<kBf16>(a[i]);
  }
  for (int i = thread; i < kN * kDepth; i += 128) {
    s.b[place<kMNMajorB>(i / kDepth, i % kDepth)] = bits<kBf16>(b[i]);
  }
  __syncthreads();

  const int row = 16 * (thread / 32) + thread % 32 / 4, t = thread % 4;
  float sums[kN / 2];
  const auto in_d = [=](int r) { return (row + r / 2 % 2 * 8) * kN + r / 4 * 8 + 2 * t + r % 2; };
  for (int r = 0; r < kN / 2; ++r) sums[r] = d[in_d(r)];
  ptx::wgmma_fence();
  for (unsigned g = 0; g < kDepth / 16; ++g) {
    const unsigned of_a = ptx::shared_address(s.a) + g * (kMNMajorA ? 2048 : 32);
    const unsigned of_b = ptx::shared_address(s.b) + g * (kMNMajorB ? 2048 : 32);
    ptx::wgmma_16<kBf16, kN, kMNMajorA, kMNMajorB>(sums, ptx::wgmma_matrix_16<kMNMajorA>(of_a),
                                                   ptx::wgmma_matrix_16<kMNMajorB>(of_b),
                                                   adds || g > 0);
    ptx::wgmma_commit();
    ptx::wgmma_wait_for_operands<1>();
    ptx::wgmma_fence();
  }
  ptx::wgmma_wait(sums);
  for (int r = 0; r < kN / 2; ++r) d[in_d(r)] = sums[r];
}

// Integers of few bits, of which every element of a line is another one.
std::vector<float> integers(int lines, int seed) {
  std::vector<float> x;
  for (int i = 0; i < lines * kDepth; ++i) {
    x.push_back(static_cast<float>((i / kDepth * 37 + i % kDepth * 11 + seed) % 251 - 125));
  }
  return x;
}

template <bool kBf16, int kN, bool kMNMajorA, bool kMNMajorB>
void expect_product() {
  const auto a = integers(kRows, 1), b = integers(kN, 2);
  for (const bool adds : {false, true}) {
    const std::vector<float> before(kRows * kN, 3.0f);
    std::vector<float> expected(before.size());
    for (int i = 0; i < kRows * kN; ++i) {
      float sum = adds ? 3.0f : 0.0f;
      for (int k = 0; k < kDepth; ++k) {
        sum += a[static_cast<size_t>(i / kN * kDepth + k)] *
               b[static_cast<size_t>(i % kN * kDepth + k)];
      }
      expected[static_cast<size_t>(i)] = sum;
    }
    const DeviceArray<float> device_a(a), device_b(b), d(before);
    ASSERT_EQ(launch(1, 128, sizeof(Buffer<kN>), multiply<kBf16, kN, kMNMajorA, kMNMajorB>,
                     device_a.data(), device_b.data(), d.data(), adds),
              cudaSuccess);
    EXPECT_EQ(d.values(), expected)
        << kN << (kBf16 ? " BF16" : " FP16") << (kMNMajorA ? ", A MN-major" : ", A K-major")
        << (kMNMajorB ? ", B MN-major" : ", B K-major") << (adds ? ", adds" : "");
  }
}

template <bool kBf16, int kN>
void expect_products() {
  expect_product<kBf16, kN, false, false>();
  expect_product<kBf16, kN, false, true>();
  expect_product<kBf16, kN, true, false>();
  expect_product<kBf16, kN, true, true>();
}

TEST_F(WgmmaSharedTest, IsAProductOfEveryTypeWidthAndLayout) {
  expect_products<true, 64>();
  expect_products<true, 128>();
  expect_products<true, 160>();
  expect_products<true, 192>();
  expect_products<true, 256>();
  expect_products<false, 64>();
  expect_products<false, 256>();
}

}  // namespace
