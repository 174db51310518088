// The data of the matrices whose products' errors are measured. Pure functions of an element's
// position, so that any thread can compute any element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// The two operands of a product; a line is a row of op(A) or a column of op(B).
enum class Side { kA, kB };

enum class Distribution {
  kNormal,
  kUniform,        // in (0, 1): every product has the same sign
  kUniformSigned,  // in (-1, 1)
  kWide,           // normal * 2^U(-20, 20): few terms of a sum matter
  kScaledLines,    // normal, every line * 2^s, s an integer in [-30, 30]
  kScaledDepth,    // normal, op(A)'s column l * 2^s(l), op(B)'s row l * 2^-s(l): normal products
  kMixedDepth,     // as that, but with s(l) negated in odd lines: half of C as that, half as kWide
  kIntegers,       // up to 2048 in magnitude, and so small that FP32 rounds no sum of k products
  kSparse,         // normal, nine in ten are 0
  kIdentity,       // op(A) has a single 1 in every row, op(B) is normal
  // From the literature on grading implementations of the BLAS; see docs/accuracy.md.
  kDisjoint,  // normal; row i of op(A) is 0 where column i of op(B) is not: C's diagonal is 0
  kGraded,    // y = x D, z = x / D, cyclically shifted from line to line; x in (1, 2), D graded
};

// "normal", "uniform", ...: in the order above, in lower case and with underscores.
const std::vector<std::string>& distribution_names();
Distribution distribution(const std::string& name);

// Element `l` of a line of `k`.
float element(Distribution distribution, uint32_t seed, Side side, int64_t line, int64_t l,
              int64_t k);

}  // namespace bench
