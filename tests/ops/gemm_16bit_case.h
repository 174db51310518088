// Ops tests: one product of FP16 or BF16 operands, or of an FP32 and a BF16 one, through
// mygemm_gemm, in any of its forms, checked completely: each result is a number that the exact one,
// moved by no more than FP32 sums may err, rounds to; every other byte of every buffer is as before
// the call.
#pragma once

#include <cstdint>
#include <string>

#include "gemm_case.h"
#include "support/handle.h"

namespace mygemm_tests {

// The elements of A, B, C and the bias.
enum class Values {
  kOrdinary,  // between -1 and 1
  kIntegers,  // small ones: sums are exact, and results are those of one rounding
  kSpecial,   // with infinities, NaN, subnormal numbers, and results past the largest number
  // In an FP32 operand beside a BF16 one:
  kWide,     // from the smallest to 2^100: lines of one magnitude each, and lines of all magnitudes
  kAllBits,  // 24 significant bits, each sum with one product, by a power of two: sums are exact
};

struct Gemm16BitCase {
  mygemmDataType_t a = MYGEMM_R_16F, b = MYGEMM_R_16F, out = MYGEMM_R_16F;
  mygemmOperation_t transa = MYGEMM_OP_N, transb = MYGEMM_OP_N;
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1.25f, beta = -0.5f;
  Values values = Values::kOrdinary;
  mygemmMathMode_t math = MYGEMM_MATH_DEFAULT;
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_HOST;

  bool bias = false;
  bool own_c = false;  // C is not D
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  bool leaves_aux = false;  // RELU its bits, GELU t
  mygemmSums_t sums_of = MYGEMM_SUMS_NONE;
  mygemmFill_t fill = MYGEMM_FILL_FULL;

  int64_t padding = 0;   // elements between columns
  bool aligned = false;  // columns and bases at multiples of 16 bytes, beyond padding and offset
  size_t offset = 0;     // bytes of every base address past a multiple of 16; FP32: twice as many
  Form form = Form::kSingle;
  int64_t batch = 1;
  int a_step = 1, b_step = 1, d_step = 1;  // stride: 1 forward, 0 one matrix for all, -1 backward
  uint64_t seed = 1;

  int64_t ld_of(int64_t rows) const {
    const int64_t ld = rows + padding;
    return aligned ? (ld + 7) / 8 * 8 : ld;
  }
  bool mixed() const { return a != b; }
  bool scales_only() const { return k == 0 || alpha == 0; }
  bool is_gradient() const {
    return activation == MYGEMM_ACTIVATION_RELU_GRADIENT ||
           activation == MYGEMM_ACTIVATION_GELU_GRADIENT;
  }
  bool has_aux() const { return leaves_aux || is_gradient(); }
  bool aux_is_bits() const {
    return activation == MYGEMM_ACTIVATION_RELU || activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  }
  bool fills(int64_t i, int64_t j) const {
    return fill == MYGEMM_FILL_FULL || (fill == MYGEMM_FILL_LOWER ? i >= j : i <= j);
  }
  std::string text() const;
};

// Runs the case and, where it succeeds, checks everything. With a tally, the handle has a kernel
// forced that may refuse the case; without, the call must succeed.
void run_16bit(mygemmHandle_t handle, const Gemm16BitCase& gemm, RowTally* tally = nullptr);

}  // namespace mygemm_tests
