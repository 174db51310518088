// Proves the emulator's tensor cores: products are what the header says, and each mistake that they
// are there to find is found.
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "kernels/swizzle.h"
#include "ptx/shared.cuh"
#include "ptx/wgmma.cuh"

namespace {

namespace ptx = mygemm::ptx;

class WgmmaTest : public EmulatorTest {
 protected:
  void SetUp() override {
    if (emulator::device().cc != 90) GTEST_SKIP() << "the emulated device has other tensor cores";
  }
};
using WgmmaDeathTest = WgmmaTest;

enum class Mistake {
  kNone,
  kNoFence,
  kNoCommit,
  kNoWait,
  kReadsEarly,
  kWritesEarly,
  kRefillsEarly,  // B, before the wait
  kChangesAEarly,
  kOtherRegisters,  // named by the wait
  kLanesDisagree,
  kWarpsDisagree,
  kWarpIsMissing,
};

constexpr int kRows = 64, kLine = 32;  // k of B's lines

template <int kN>
struct Buffer {
  alignas(1024) float before[256];  // B does not begin where shared memory does
  alignas(1024) float b[kN * kLine];
};

// D = A B, plus D where `adds`: 64 x k times k x kN, all row-major; k is a multiple of 8.
template <int kN>
__global__ void multiply(const float* a, const float* b, float* d, int k, bool adds,
                         Mistake mistake) {
  auto& s = mygemm::shared_storage<Buffer<kN>>();
  for (int i = static_cast<int>(threadIdx.x); i < k * kN; i += 128) {
    const int row = i / kN, column = i % kN;
    s.b[mygemm::swizzle_128b((column * kLine + row) * 4) / 4] = b[i];
  }
  __syncthreads();

  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int row = 16 * warp + thread % 32 / 4, t = thread % 4;
  float sums[kN / 2];
  for (int r = 0; r < kN / 2; ++r) {
    sums[r] = d[(row + r / 2 % 2 * 8) * kN + r / 4 * 8 + 2 * t + r % 2];
  }
  unsigned x[kLine / 8][4];
  for (int i = 0; i < k / 2; ++i) {
    const int in_a = (row + i % 2 * 8) * k + i / 4 * 8 + t + i / 2 % 2 * 4;
    x[i / 4][i % 4] = __float_as_uint(a[in_a]);
  }
  if (mistake == Mistake::kWarpIsMissing && warp == 2) return;
  if (mistake != Mistake::kNoFence) ptx::wgmma_fence();
  for (int first = 0; first < k; first += 8) {
    const bool disagrees = (mistake == Mistake::kLanesDisagree && thread == 5) ||
                           (mistake == Mistake::kWarpsDisagree && warp == 3);
    ptx::wgmma_tf32<kN>(sums, x[first / 8],
                        ptx::wgmma_matrix(ptx::shared_address(s.b) + 4 * (unsigned)first),
                        disagrees != (adds || first > 0));
  }
  if (mistake != Mistake::kNoCommit) ptx::wgmma_commit();
  if (mistake == Mistake::kNoWait) return;
  const float early = sums[0];
  if (mistake == Mistake::kWritesEarly) sums[3] = 0;
  if (mistake == Mistake::kRefillsEarly) s.b[thread] = 1e6f;
  if (mistake == Mistake::kChangesAEarly) x[0][0] = 0x49742400;
  float others[kN / 2];
  ptx::wgmma_wait(mistake == Mistake::kOtherRegisters ? others : sums);
  if (mistake == Mistake::kReadsEarly) sums[0] = early;
  for (int r = 0; r < kN / 2; ++r) {
    d[(row + r / 2 % 2 * 8) * kN + r / 4 * 8 + 2 * t + r % 2] = sums[r];
  }
}

struct Product {
  int k;
  std::vector<float> a, b, d;
};

// Integers, whose sums are exact; times `factor`.
template <int kN>
Product integers(int k, float factor = 1) {
  Product p = {k, {}, {}, {}};
  const auto value = [&](int i, int j) {
    return static_cast<float>((i * 7 + j * 5) % 17 - 8) * factor;
  };
  for (int i = 0; i < kRows * k; ++i) p.a.push_back(value(i / k, i % k));
  for (int i = 0; i < k * kN; ++i) p.b.push_back(value(i / kN + 3, i % kN));
  for (int i = 0; i < kRows * kN; ++i) p.d.push_back(value(i / kN + 1, i % kN + 2));
  return p;
}

template <int kN>
std::vector<float> plain(const Product& p, bool adds) {
  std::vector<float> d(p.d.size());
  const auto cut = [](float x) {
    return std::bit_cast<float>(std::bit_cast<unsigned>(x) & 0xffffe000u);
  };
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kN; ++j) {
      float& sum = d[static_cast<size_t>(i * kN + j)];
      sum = adds ? p.d[static_cast<size_t>(i * kN + j)] : 0.0f;
      for (int k = 0; k < p.k; ++k) {
        sum +=
            cut(p.a[static_cast<size_t>(i * p.k + k)]) * cut(p.b[static_cast<size_t>(k * kN + j)]);
      }
    }
  }
  return d;
}

template <int kN>
std::vector<float> emulated(const Product& p, bool adds, Mistake mistake = Mistake::kNone) {
  const DeviceArray<float> a(p.a), b(p.b), d(p.d);
  EXPECT_EQ(launch(1, 128, sizeof(Buffer<kN>), multiply<kN>, a.data(), b.data(), d.data(), p.k,
                   adds, mistake),
            cudaSuccess);
  return d.values();
}

template <int kN>
void expect_plain() {
  for (const int k : {8, 16, 32}) {
    const Product p = integers<kN>(k);
    for (const bool adds : {false, true}) {
      EXPECT_EQ(emulated<kN>(p, adds), plain<kN>(p, adds)) << kN << ", " << k << ", " << adds;
    }
  }
}

TEST_F(WgmmaTest, IsAProductOfEveryWidth) {
  expect_plain<64>();
  expect_plain<128>();
  expect_plain<192>();
}

TEST_F(WgmmaTest, LeavesLowBitsOutOfAccount) {
  // The eleventh bit behind the first, and those after it, are ignored in A and in B.
  const Product p = integers<64>(8, 1 + 0x1p-11f), q = integers<64>(8);
  EXPECT_EQ(emulated<64>(p, false), plain<64>(q, false));
  // The bits that make this a NaN are ignored, too: an infinity remains.
  Product r = integers<64>(8);
  r.a[3] = std::bit_cast<float>(0x7f801fffu);
  for (float& b : r.b) b = 1;
  const std::vector<float> d = emulated<64>(r, false);
  EXPECT_EQ(d[0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isfinite(d[64]));
}

// One product of 8 k: the first element of D, where A's first row is `a` and B's first column `b`.
float first_sum(float d, std::vector<float> a, std::vector<float> b) {
  Product p = {8, std::vector<float>(kRows * 8), std::vector<float>(8 * 64),
               std::vector<float>(kRows * 64)};
  p.d[0] = d;
  for (size_t k = 0; k < a.size(); ++k) p.a[k] = a[k], p.b[k * 64] = b[k];
  return emulated<64>(p, true)[0];
}

TEST_F(WgmmaTest, RoundsSumsOnceTowardsZero) {
  EXPECT_EQ(first_sum(1, {0x1p-24f}, {1.5f}), 1.0f);
  EXPECT_EQ(first_sum(-1, {0x1p-24f}, {-1.5f}), -1.0f);
  EXPECT_EQ(first_sum(1, {0x1p-24f}, {-0.5f}), 1.0f - 0x1p-24f);
  EXPECT_EQ(first_sum(1, {0x1p-24f, 0x1p-24f}, {1, 1}), 1.0f + 0x1p-23f);
  EXPECT_EQ(first_sum(0x1p-140f, {0x1p-75f}, {-0x1p-75f}), 0x1p-140f - 0x1p-149f);
  EXPECT_EQ(first_sum(0, {0x1p100f}, {-0x1p100f}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(first_sum(0, {0x1p100f, 0x1p100f, 3}, {0x1p100f, -0x1p100f, 1}), 3.0f);
}

TEST_F(WgmmaTest, ResultsAreDestroyedUntilTheWait) {
  const std::vector<float> d = emulated<64>(integers<64>(8), true, Mistake::kReadsEarly);
  EXPECT_TRUE(std::isnan(d[0]));
  EXPECT_FALSE(std::isnan(d[1]));
}

// How often of 16 orders of threads the result is right.
int times_right(Mistake mistake) {
  const Product p = integers<128>(32);
  int right = 0;
  for (int seed = 1; seed <= 16; ++seed) {
    setenv("MYGEMM_EMULATED_SEED", std::to_string(seed).c_str(), 1);
    right += emulated<128>(p, true, mistake) == plain<128>(p, true);
  }
  return right;
}

TEST_F(WgmmaTest, OperandsAreReadAnyTimeBeforeTheWait) {
  EXPECT_EQ(times_right(Mistake::kNone), 16);
  EXPECT_LT(times_right(Mistake::kRefillsEarly), 16);
  EXPECT_LT(times_right(Mistake::kChangesAEarly), 16);
}

// D = A B, and then, in a group of its own, D2 = A B + D2, of which nothing waits for the last
// group before D is stored. `early`: the wait leaves D2 in flight, too, where it is named.
__global__ void multiply_twice(const float* a, const float* b, float* d, float* d2, bool early) {
  auto& s = mygemm::shared_storage<Buffer<64>>();
  for (int i = static_cast<int>(threadIdx.x); i < kLine * 64; i += 128) s.b[i] = b[i];
  __syncthreads();
  unsigned x[4];
  for (int i = 0; i < 4; ++i) x[i] = __float_as_uint(a[4 * threadIdx.x + i]);
  float first[32] = {}, second[32] = {};
  const unsigned matrix = ptx::wgmma_matrix(ptx::shared_address(s.b));
  ptx::wgmma_fence();
  ptx::wgmma_tf32<64>(first, x, matrix, false);
  ptx::wgmma_commit();
  ptx::wgmma_tf32<64>(second, x, matrix, true);
  ptx::wgmma_commit();
  ptx::wgmma_wait<1>(early ? second : first);
  for (int r = 0; r < 32; ++r) d[32 * threadIdx.x + r] = first[r];
  ptx::wgmma_fence();
  ptx::wgmma_tf32<64>(second, x, matrix, true);
  ptx::wgmma_commit();
  ptx::wgmma_wait(second);
  for (int r = 0; r < 32; ++r) d2[32 * threadIdx.x + r] = second[r];
}

std::vector<std::vector<float>> multiplied_twice(bool early) {
  const Product p = integers<64>(kLine);
  const DeviceArray<float> a(p.a), b(p.b), d(p.d), d2(p.d);
  EXPECT_EQ(launch(1, 128, sizeof(Buffer<64>), multiply_twice, a.data(), b.data(), d.data(),
                   d2.data(), early),
            cudaSuccess);
  return {d.values(), d2.values()};
}

TEST_F(WgmmaTest, AWaitMayLeaveTheLastGroupsInFlight) {
  const auto results = multiplied_twice(false);
  for (size_t i = 0; i < results[0].size(); ++i) EXPECT_EQ(2 * results[0][i], results[1][i]);
  EXPECT_DEATH(multiplied_twice(true), "leaves these results in flight");
}

void make(Mistake mistake) { emulated<64>(integers<64>(16), false, mistake); }

TEST_F(WgmmaDeathTest, MistakesStopTheKernel) {
  EXPECT_DEATH(make(Mistake::kNoFence), "without a fence");
  EXPECT_DEATH(make(Mistake::kNoCommit), "not committed");
  EXPECT_DEATH(make(Mistake::kNoWait), "that nothing has waited for");
  EXPECT_DEATH(make(Mistake::kWritesEarly), "result 3 was written before the wait");
  EXPECT_DEATH(make(Mistake::kOtherRegisters), "names other registers");
  EXPECT_DEATH(make(Mistake::kLanesDisagree), "lanes disagree");
  EXPECT_DEATH(make(Mistake::kWarpsDisagree), "warps of a warpgroup disagree");
  EXPECT_DEATH(make(Mistake::kWarpIsMissing), "warp 2 has not asked for");
}

}  // namespace
