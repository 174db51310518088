// Unit tests: where the 128-byte swizzle puts bytes.
#include <cstddef>
#include <set>

#include <gtest/gtest.h>

#include "kernels/swizzle.h"

namespace mygemm {
namespace {

constexpr int kPattern = 1024, kRow = 128, kChunk = 16, kRows = kPattern / kRow;
constexpr int kTested = 4 * kPattern;

TEST(Swizzle, IsABijectionWithinEvery1024Bytes) {
  std::set<int> seen;
  for (int i = 0; i < kTested; ++i) {
    EXPECT_EQ(swizzle_128b(i) / kPattern, i / kPattern) << i;
    seen.insert(swizzle_128b(i));
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kTested));
}

TEST(Swizzle, TwiceIsNothing) {
  for (int i = 0; i < kTested; ++i) EXPECT_EQ(swizzle_128b(swizzle_128b(i)), i);
}

TEST(Swizzle, RepeatsEvery1024Bytes) {
  for (int i = 0; i + kPattern < kTested; ++i) {
    EXPECT_EQ(swizzle_128b(i + kPattern), swizzle_128b(i) + kPattern) << i;
  }
}

TEST(Swizzle, KeepsChunksWholeAndInTheirRows) {
  for (int i = 0; i < kTested; ++i) {
    EXPECT_EQ(swizzle_128b(i), swizzle_128b(i / kChunk * kChunk) + i % kChunk) << i;
    EXPECT_EQ(swizzle_128b(i) / kRow, i / kRow) << i;
  }
}

TEST(Swizzle, PutsAColumnOfEightRowsInEightBankGroups) {
  for (int column = 0; column < kRow; column += kChunk) {
    std::set<int> groups;
    for (int row = 0; row < kRows; ++row) {
      groups.insert(swizzle_128b(row * kRow + column) % kRow / kChunk);
    }
    EXPECT_EQ(groups.size(), static_cast<size_t>(kRows)) << column;
  }
}

// The pattern of CUDA's documentation, which no formula of ours defines: row 1 swaps neighbours,
// row 7 runs backwards.
TEST(Swizzle, IsTheDocumentedPattern) {
  constexpr int kRow1[] = {1, 0, 3, 2, 5, 4, 7, 6};
  for (int chunk = 0; chunk < 8; ++chunk) {
    EXPECT_EQ(swizzle_128b(chunk * kChunk), chunk * kChunk);
    EXPECT_EQ(swizzle_128b(kRow + chunk * kChunk), kRow + kRow1[chunk] * kChunk);
    EXPECT_EQ(swizzle_128b(7 * kRow + chunk * kChunk), 7 * kRow + (7 - chunk) * kChunk);
  }
}

}  // namespace
}  // namespace mygemm
