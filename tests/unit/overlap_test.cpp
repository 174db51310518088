// Unit tests: do strided matrices share a byte? Against visiting every byte, at addresses and
// scales where 64-bit sums would overflow, and on the inputs that take Euclid longest.
#include "overlap.h"

#include <bitset>
#include <chrono>
#include <ostream>
#include <utility>

#include <gtest/gtest.h>

#include "support/random.h"

namespace mygemm {

static void PrintTo(const Footprint& x, std::ostream* out) {
  *out << "{base " << x.base << ", count " << x.count << ", bytes " << x.bytes << ", stride "
       << x.stride << "}";
}
static void PrintTo(const BatchedFootprint& x, std::ostream* out) {
  PrintTo(x.matrix, out);
  *out << " x " << x.batch << ", " << x.batch_stride << " apart";
}

namespace {

using mygemm_tests::Random;

// Every byte of small footprints, relative to an origin.
constexpr int kArena = 512;
using Bytes = std::bitset<kArena>;

// Low, in the middle, and as high as a caller's arrays can end.
constexpr uintptr_t kOrigins[] = {0, uintptr_t{1} << 40, (uintptr_t{1} << 63) - kArena};

Bytes bytes_of(const Footprint& x, uintptr_t origin) {
  Bytes bytes;
  for (int64_t run = 0; run < x.count; ++run) {
    for (int64_t byte = 0; byte < x.bytes; ++byte) {
      bytes.set(x.base - origin + static_cast<size_t>(run * x.stride + byte));
    }
  }
  return bytes;
}

Footprint matrix_of(const BatchedFootprint& x, int64_t i) {
  Footprint matrix = x.matrix;
  matrix.base += static_cast<uintptr_t>(i * x.batch_stride);
  return matrix;
}

bool share_bytes(const BatchedFootprint& x, const BatchedFootprint& y, uintptr_t origin,
                 bool same_index_may) {
  for (int64_t i = 0; i < x.batch; ++i) {
    const Bytes bytes = bytes_of(matrix_of(x, i), origin);
    for (int64_t j = 0; j < y.batch; ++j) {
      if (same_index_may && i == j) continue;
      if ((bytes & bytes_of(matrix_of(y, j), origin)).any()) return true;
    }
  }
  return false;
}

// Runs and gaps so short that sharing and interleaving without sharing are both common.
Footprint random_footprint(Random& random, int64_t lowest_base) {
  const int64_t bytes = random.integer(1, 6);
  const int64_t count = random.integer(1, 6);
  return {static_cast<uintptr_t>(lowest_base + random.integer(0, 60)), count, bytes,
          bytes + random.integer(0, 14)};
}

TEST(Overlap, AgreesWithVisitingEveryByte) {
  Random random(1);
  int shared = 0, interleaved = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    const uintptr_t origin = random.pick(kOrigins, 3);
    Footprint x = random_footprint(random, 0), y = random_footprint(random, 0);
    const bool expected = (bytes_of(x, 0) & bytes_of(y, 0)).any();
    x.base += origin;
    y.base += origin;
    ASSERT_EQ(overlap(x, y), expected)
        << testing::PrintToString(x) << " and " << testing::PrintToString(y);
    ASSERT_EQ(overlap(y, x), expected);
    shared += expected;
    interleaved += !expected && x.base < y.base + static_cast<uintptr_t>(y.stride * y.count) &&
                   y.base < x.base + static_cast<uintptr_t>(x.stride * x.count);
  }
  EXPECT_GT(shared, 50000);
  EXPECT_GT(interleaved, 10000);
}

TEST(Overlap, OfBatchesAgreesWithVisitingEveryByte) {
  Random random(2);
  int shared = 0;
  for (int trial = 0; trial < 60000; ++trial) {
    const uintptr_t origin = random.pick(kOrigins, 3);
    // Batches of up to 4, up to 30 bytes apart in either direction: within [100, 356).
    BatchedFootprint x{random_footprint(random, 100), random.integer(1, 4),
                       random.integer(-30, 30)};
    BatchedFootprint y{random_footprint(random, 100), random.integer(1, 4),
                       random.integer(-30, 30)};
    x.matrix.base += origin;
    y.matrix.base += origin;
    const bool in_place = random.integer(0, 1) == 1;
    if (in_place) {
      y.batch = x.batch;
      y.batch_stride = x.batch_stride;
    }
    const bool expected = share_bytes(x, y, origin, in_place);
    ASSERT_EQ(overlap(x, y, in_place), expected)
        << testing::PrintToString(x) << " and " << testing::PrintToString(y)
        << (in_place ? ", same index left out" : "");
    shared += expected;
  }
  EXPECT_GT(shared, 20000);
  EXPECT_LT(shared, 55000);
}

// Whether the matrices of one batch share bytes with one another.
TEST(Overlap, OfABatchWithItself) {
  Random random(3);
  for (int trial = 0; trial < 40000; ++trial) {
    const BatchedFootprint x{random_footprint(random, 130), random.integer(1, 5),
                             random.integer(-30, 30)};
    const bool expected = share_bytes(x, x, 0, true);
    ASSERT_EQ(overlap(x, x, true), expected) << testing::PrintToString(x);
    ASSERT_EQ(overlaps_itself(x), expected) << testing::PrintToString(x);
  }
}

// Multiplying every length by the same number changes nothing.
TEST(Overlap, DoesNotDependOnScale) {
  Random random(4);
  for (int trial = 0; trial < 50000; ++trial) {
    const Footprint x = random_footprint(random, 0), y = random_footprint(random, 0);
    const int64_t scale = random.integer(1, int64_t{1} << 55);
    const auto scaled = [&](const Footprint& f) {
      return Footprint{f.base * static_cast<uintptr_t>(scale), f.count, f.bytes * scale,
                       f.stride * scale};
    };
    ASSERT_EQ(overlap(scaled(x), scaled(y)), overlap(x, y))
        << testing::PrintToString(x) << " and " << testing::PrintToString(y) << " times " << scale;
  }
}

// Runs of one byte, p apart from 0 and q apart from 1, p and q prime: run i of x is in y for the
// first time where i p = 1 (mod q).
TEST(Overlap, FindsTheOneRunOfBillions) {
  constexpr int64_t p = 2147483647, q = 2147483629;
  Wide i = 0, previous = 1, remainder = q, next = p % q;  // extended Euclid: i p = remainder
  while (next != 0) {
    const Wide quotient = remainder / next;
    i = std::exchange(previous, i - quotient * previous);
    remainder = std::exchange(next, remainder - quotient * next);
  }
  const auto first = static_cast<int64_t>(i < 0 ? i + q : i);
  ASSERT_EQ(static_cast<int64_t>(Wide{first} * p % q), 1);
  const Footprint y{1, p, 1, q};
  EXPECT_FALSE(overlap(Footprint{0, first, 1, p}, y));
  EXPECT_TRUE(overlap(Footprint{0, first + 1, 1, p}, y));
  EXPECT_FALSE(overlap(y, Footprint{0, first, 1, p}));
  EXPECT_TRUE(overlap(y, Footprint{0, first + 1, 1, p}));
}

TEST(Overlap, OfRowsAndColumnsOfOneLargeArray) {
  // 2^20 x 2^20 floats, row-major: 4 TiB.
  constexpr int64_t n = int64_t{1} << 20, row = 4 * n;
  constexpr uintptr_t base = uintptr_t{1} << 62;
  const Footprint left{base, n, row / 2, row}, right{base + row / 2, n, row / 2, row};
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, Footprint{base + row / 2 - 1, n, row / 2, row}));
  const Footprint even{base, n / 2, row, 2 * row}, odd{base + row, n / 2, row, 2 * row};
  EXPECT_FALSE(overlap(even, odd));
  EXPECT_TRUE(overlap(even, Footprint{base + row, 1, row + 1, 2 * row}));
}

TEST(Overlap, OfTheLargestBatches) {
  constexpr int64_t n = int64_t{1} << 31, half = int64_t{1} << 62;
  EXPECT_FALSE(overlaps_itself({{0, n / 2, 1, n}, n, 1}));
  EXPECT_TRUE(overlaps_itself({{0, n / 2, 1, n}, n + 1, 1}));
  EXPECT_FALSE(overlaps_itself({{0, 1, half, half}, 2, half}));
  EXPECT_TRUE(overlaps_itself({{0, 1, half, half}, 2, half - 1}));
  EXPECT_FALSE(overlaps_itself({{uintptr_t{1} << 62, half, 1, 1}, 2, -half}));
}

TEST(Overlap, OfTheWholeAddressSpace) {
  constexpr int64_t kMost = INT64_MAX;
  const Footprint all{0, 1, kMost, kMost}, bytes{0, kMost, 1, 1};
  const Footprint last{uintptr_t{kMost} - 1, 1, 1, 1};
  for (const Footprint& x : {all, bytes}) {
    EXPECT_TRUE(overlap(x, x));
    EXPECT_TRUE(overlap(x, last));
    EXPECT_TRUE(overlap(last, x));
    EXPECT_FALSE(overlap(x, Footprint{uintptr_t{kMost}, 1, 1, 1}));
  }
  EXPECT_TRUE(overlap(all, bytes));
  const Footprint even{0, kMost / 2, 1, 2}, odd{1, kMost / 2, 1, 2};
  EXPECT_FALSE(overlap(even, odd));
}

double seconds_of(const auto& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Neighbouring Fibonacci numbers make Euclid's algorithm longest. Bounds are a hundred times what
// it takes, for machines that are busy.
TEST(Overlap, IsLogarithmic) {
  constexpr int64_t kF60 = 1548008755920, kF61 = 2504730781961;
  const double seconds = seconds_of([] {
    for (int64_t trial = 0; trial < 20000; ++trial) {
      const Footprint x{0, 1000000, 1, kF60};
      const Footprint y{static_cast<uintptr_t>(kF61 / 2 + trial), 1000000, 1, kF61};
      static_cast<void>(overlap(x, y));
    }
  });
  EXPECT_LT(seconds, 5.0);
}

// Vectors of a batch that interleave (element j of vector i at j * batch + i): legal, and every
// address range meets every other.
TEST(Overlap, OfInterleavedBatchesIsQuick) {
  constexpr int64_t batch = 1 << 16;
  const BatchedFootprint even{{0, 64, 4, 8 * batch}, batch, 8};
  const BatchedFootprint odd{{4, 64, 4, 16 * batch}, batch, 16};
  const double seconds = seconds_of([&] {
    EXPECT_FALSE(overlaps_itself(even));
    EXPECT_FALSE(overlap(even, even, /*same_index_may=*/true));
    EXPECT_FALSE(overlap(even, odd));
  });
  EXPECT_LT(seconds, 5.0);
}

// The last alone of 100001 interleaved vectors meets the first.
TEST(Overlap, OfALargeBatchWithItself) {
  constexpr int64_t batch = 100001;
  const BatchedFootprint x{{0, 2, 4, 4 * (batch - 1)}, batch, 4};
  EXPECT_TRUE(overlaps_itself(x));
  EXPECT_FALSE(overlaps_itself({x.matrix, batch - 1, 4}));
}

}  // namespace
}  // namespace mygemm
