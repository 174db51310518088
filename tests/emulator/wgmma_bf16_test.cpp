// Proves the emulator's tensor cores with BF16 operands: products are what src/ptx/wgmma.cuh says,
// of a K-major B and of an MN-major one, in lines of 64 and of 128 bytes. What all products have in
// common: wgmma_test.cpp.
#include <cstdint>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/math.cuh"
#include "ptx/shared.cuh"
#include "ptx/wgmma.cuh"

namespace {

namespace ptx = mygemm::ptx;

constexpr int kRows = 64;

// How B lies: lines of 64 bytes, as wgmma_matrix() says, or of 128, as wgmma_matrix_16() does.
enum class Lines { k64Bytes, k128Bytes };

// Elements of a line, and k of a product.
constexpr int elements_of(Lines lines) { return lines == Lines::k64Bytes ? 32 : 64; }

struct WgmmaBf16Test : EmulatorTest {
  void SetUp() override {
    if (emulator::device().cc != 90) GTEST_SKIP() << "the emulated device has other tensor cores";
  }
};

template <int kN, Lines kLines>
struct Buffer {
  static constexpr int kColumns = (kN + 63) / 64 * 64;
  alignas(1024) uint16_t before[512];  // B does not begin where shared memory does
  alignas(1024) uint16_t b[kColumns * elements_of(kLines)];
};

// The place of an element of B: lines whose chunks of 16 bytes are swizzled.
template <bool kMNMajor, Lines kLines>
int place(int k, int column) {
  constexpr int kElements = elements_of(kLines);
  const int line = kMNMajor ? column / kElements * kElements + k : column;
  const int element = kMNMajor ? column % kElements : k;
  const int swizzle = kLines == Lines::k64Bytes ? line / 2 % 4 : line % 8;
  return line * kElements + (element / 8 ^ swizzle) * 8 + element % 8;
}

// The products of 16 k from group g on.
template <int kN, bool kMNMajor, Lines kLines>
void multiply_group(float (&sums)[kN / 2], const unsigned (&a)[4], unsigned b, unsigned g,
                    bool add) {
  if constexpr (kLines == Lines::k64Bytes) {
    ptx::wgmma_bf16<kN, kMNMajor>(
        sums, a, kMNMajor ? ptx::wgmma_matrix_mn(b + 1024 * g) : ptx::wgmma_matrix(b + 32 * g),
        add);
  } else {
    ptx::wgmma_bf16<kN, kMNMajor, ptx::kWgmmaMatrix>(
        sums, a, ptx::wgmma_matrix_16<kMNMajor>(b + (kMNMajor ? 2048 : 32) * g), add);
  }
}

uint16_t bf16(float x) { return static_cast<uint16_t>(ptx::pack_bf16(x, 0)); }

// D = A B, plus D where `adds`: 64 x kDepth times kDepth x kN, all row-major.
template <int kN, bool kMNMajor, Lines kLines>
__global__ void multiply(const float* a, const float* b, float* d, bool adds) {
  constexpr int kDepth = elements_of(kLines), kGroups = kDepth / 16;
  auto& s = mygemm::shared_storage<Buffer<kN, kLines>>();
  for (int i = static_cast<int>(threadIdx.x); i < kDepth * kN; i += 128) {
    s.b[place<kMNMajor, kLines>(i / kN, i % kN)] = bf16(b[i]);
  }
  __syncthreads();

  const int thread = static_cast<int>(threadIdx.x);
  const int row = 16 * (thread / 32) + thread % 32 / 4, t = thread % 4;
  float sums[kN / 2];
  const auto in_d = [=](int r) { return (row + r / 2 % 2 * 8) * kN + r / 4 * 8 + 2 * t + r % 2; };
  for (int r = 0; r < kN / 2; ++r) sums[r] = d[in_d(r)];
  unsigned x[kGroups][4];
  for (int i = 0; i < 4 * kGroups; ++i) {
    const float* pair = &a[(row + i % 2 * 8) * kDepth + i / 4 * 16 + i % 4 / 2 * 8 + 2 * t];
    x[i / 4][i % 4] = ptx::pack_bf16(pair[0], pair[1]);
  }
  ptx::wgmma_fence();
  for (unsigned g = 0; g < kGroups; ++g) {
    multiply_group<kN, kMNMajor, kLines>(sums, x[g], ptx::shared_address(s.b), g, adds || g > 0);
  }
  ptx::wgmma_commit();
  ptx::wgmma_wait(sums);
  for (int r = 0; r < kN / 2; ++r) d[in_d(r)] = sums[r];
}

// Integers, of which every element of a row or column is another one.
std::vector<float> integers(int rows, int columns, int seed) {
  std::vector<float> x;
  for (int i = 0; i < rows * columns; ++i) {
    x.push_back(static_cast<float>((i / columns * 37 + i % columns * 11 + seed) % 251 - 125));
  }
  return x;
}

template <int kN, bool kMNMajor, Lines kLines = Lines::k64Bytes>
void expect_plain() {
  constexpr int kDepth = elements_of(kLines);
  const auto a = integers(kRows, kDepth, 1), b = integers(kDepth, kN, 2),
             c = integers(kRows, kN, 3);
  for (const bool adds : {false, true}) {
    std::vector<float> expected(c.size());
    for (int i = 0; i < kRows * kN; ++i) {
      float& sum = expected[static_cast<size_t>(i)];
      sum = adds ? c[static_cast<size_t>(i)] : 0.0f;
      for (int k = 0; k < kDepth; ++k) {
        sum +=
            a[static_cast<size_t>(i / kN * kDepth + k)] * b[static_cast<size_t>(k * kN + i % kN)];
      }
    }
    const DeviceArray<float> device_a(a), device_b(b), d(c);
    ASSERT_EQ(launch(1, 128, sizeof(Buffer<kN, kLines>), multiply<kN, kMNMajor, kLines>,
                     device_a.data(), device_b.data(), d.data(), adds),
              cudaSuccess);
    EXPECT_EQ(d.values(), expected) << kN << (kMNMajor ? ", MN-major" : ", K-major") << adds;
  }
}

TEST_F(WgmmaBf16Test, IsAProductOfEveryWidthAndLayout) {
  expect_plain<64, false>();
  expect_plain<128, false>();
  expect_plain<64, true>();
  expect_plain<128, true>();
  expect_plain<32, false, Lines::k128Bytes>();
  expect_plain<64, false, Lines::k128Bytes>();
  expect_plain<128, false, Lines::k128Bytes>();
  expect_plain<32, true, Lines::k128Bytes>();
  expect_plain<64, true, Lines::k128Bytes>();
  expect_plain<128, true, Lines::k128Bytes>();
}

}  // namespace
