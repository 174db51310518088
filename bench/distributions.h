// The kinds of data that the matrices of measured products hold. They are made and named here, for
// errors (accuracy.h) and for speed (sgemm.h). Pure functions of an element's position, so that any
// thread can compute any line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// The two operands of a product; a line is a row of op(A) or a column of op(B).
enum class Side { kA, kB };

struct Line {
  uint32_t seed;
  Side side;
  int64_t number, k;  // of the line; of its elements
};

// The errors that FP32 sums of products of such data can have.
enum class Errors32 {
  kNone,      // no sum is rounded, in any order
  kRounding,  // those of rounded sums
  kAny        // products overflow or underflow, or elements are not finite
};

struct Distribution {
  const char* name;
  Errors32 errors;
  bool documented;  // docs/accuracy.md has errors of its products
  // Element l, given the figure that all elements of the line share; 0 where there is none.
  double (*element)(const Line& line, int64_t l, double shared);
  double (*shared)(const Line& line) = nullptr;
};

// The documented ones first.
const std::vector<Distribution>& distributions();
// Throws where none has the name.
const Distribution& distribution(const std::string& name);

std::vector<std::string> distribution_names();  // of all
std::vector<std::string> bounded_names();       // without those that can have any error
std::vector<std::string> documented_names();

// The data of a benchmark that asks for no other: the machine makes it (Machine::fill_random).
inline const char* const kUsualData = "uniform_signed";

// The layout of a column-major operand.
struct Lines {
  int64_t count, k;
  bool contiguous;  // a column holds a line
  int64_t ld;
};

// Fills a matrix whose first line has the number `first`.
void fill_matrix(const Distribution& distribution, uint32_t seed, Side side, const Lines& lines,
                 int64_t first, float* matrix);

}  // namespace bench
