// Tests the emulator's 16-bit types: every bit pattern to float and back, and rounding at and
// around the middle between every two neighbours.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace {

bool same_float(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b);
}

TEST(EmulatedTypes, EveryHalfComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const __half half{static_cast<uint16_t>(bits)};
    const float value = __half2float(half);
    const bool is_nan = (bits & 0x7FFF) > 0x7C00;
    ASSERT_EQ(value != value, is_nan);
    ASSERT_EQ(__float2half_rn(value).bits, is_nan ? 0x7FFFu : bits);
#if defined(__GNUC__) && !defined(__clang__)
    ASSERT_TRUE(same_float(value, static_cast<float>(std::bit_cast<_Float16>(half.bits))));
#endif
  }
}

TEST(EmulatedTypes, EveryBfloatComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = __bfloat162float({static_cast<uint16_t>(bits)});
    ASSERT_TRUE(same_float(value, std::bit_cast<float>(bits << 16)));
    ASSERT_EQ(__float2bfloat16_rn(value).bits, (bits & 0x7FFF) > 0x7F80 ? 0x7FFFu : bits);
  }
}

// Between every two neighbours: just below the middle, the middle (to even), and just above.
template <class T>
void check_rounding(T (*narrow)(float), float (*widen)(T), unsigned infinity) {
  for (unsigned bits = 0; bits + 1 < infinity; ++bits) {
    const float low = widen({static_cast<uint16_t>(bits)});
    const float high = widen({static_cast<uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    const unsigned even = bits + bits % 2;
    ASSERT_EQ(narrow(std::nextafterf(middle, low)).bits, bits);
    ASSERT_EQ(narrow(middle).bits, even);
    ASSERT_EQ(narrow(std::nextafterf(middle, high)).bits, bits + 1);
    ASSERT_EQ(narrow(-middle).bits, even | 0x8000);
  }
}

TEST(EmulatedTypes, RoundingIsToNearestEven) {
  check_rounding<__half>(__float2half_rn, __half2float, 0x7C00);
  check_rounding<__nv_bfloat16>(__float2bfloat16_rn, __bfloat162float, 0x7F80);
  EXPECT_EQ(__float2half_rn(65519.996f).bits, 0x7BFFu);
  EXPECT_EQ(__float2half_rn(65520.0f).bits, 0x7C00u);
  EXPECT_EQ(__float2bfloat16_rn(std::numeric_limits<float>::max()).bits, 0x7F80u);
}

}  // namespace
