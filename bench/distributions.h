// What the matrices hold whose products' errors are measured. Pure functions of an element's place,
// so that any thread can make any element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// The two operands of a product; a line is a row of op(A) or a column of op(B).
enum class Side { kA, kB };

enum class Distribution {
  kNormal,
  kUniform,      // in (0, 1): every product has the same sign
  kWide,         // normal * 2^U(-20, 20): few terms of a sum matter
  kScaledLines,  // normal, every line * 2^s, s an integer in [-30, 30]
  kScaledDepth,  // normal, op(A)'s column l * 2^s(l), op(B)'s row l * 2^-s(l): normal products
  kIntegers,     // up to 8 in magnitude, less where k is so large that FP32 sums would be rounded
};

// "normal", "uniform", "wide", "scaled_lines", "scaled_depth" and "integers".
const std::vector<std::string>& distribution_names();
Distribution distribution(const std::string& name);

// Element `l` of a line of `k`.
float element(Distribution distribution, uint32_t seed, Side side, int64_t line, int64_t l,
              int64_t k);

}  // namespace bench
