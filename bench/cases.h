// The problems that are measured: the contents of a line of MYGEMM_LOG or of a bench command, in
// the same words. Plain structs and pure functions; nothing here measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributions.h"
#include "mygemm/mygemm.h"

namespace bench {

// Options and values as on the command line: {"--transa", "N"}, {"-m", "4096"}, ...
using Fields = std::vector<std::pair<std::string, std::string>>;

// Leading dimensions of 0 and absent strides stand for the smallest legal ones until complete().
struct SgemmCase {
  std::string transa = "N", transb = "N";  // N, T or C
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  std::optional<int64_t> stride_a, stride_b, stride_c;
  std::string form;               // "single", "strided" or "pointers"
  std::string data = kUsualData;  // of A and B: a name in distributions.h
  // Of A, of B, and of C and D: f32, f16, bf16; btype is atype by default. The general product's
  // alone, where they are not f32.
  std::string atype = "f32", btype, dtype = "f32";
  std::string invariance = "none";  // or "batch"

  bool fp32_operands() const { return atype == "f32" && btype == "f32"; }
};

// The general product: C is D, or has the plain product's ldc and stride_c and a place of its own.
struct GemmCase : SgemmCase {
  int64_t ldd = 0;
  std::optional<int64_t> stride_d;
  int64_t bias = 0;  // 1: one value for each row of D
  std::optional<int64_t> stride_bias;
  std::string activation = "none";  // or "relu", "gelu", "relu-gradient", "gelu-gradient"
  int64_t aux = 0;                  // 1: the activation leaves aux, or reads it, as gradients do
  int64_t ldaux = 0;
  std::optional<int64_t> stride_aux;
  std::string sums = "none";  // or "d", "a", "b"
  std::optional<int64_t> stride_sums;
  int64_t c_is_d = 1, reads_c = 0;  // reads_c: beta is 1, else 0
  std::string fill = "full";        // or "lower", "upper": the triangle of D
};

inline bool is_gradient(const GemmCase& c) {
  return c.activation.find("gradient") != std::string::npos;
}
// Whether aux holds bits.
inline bool has_bits(const GemmCase& c) { return c.activation.rfind("relu", 0) == 0; }

// In the gradient x, dy and y stand for y, dy and dx, as in a log line.
struct SoftmaxCase {
  std::string mode = "softmax";       // or "log"
  std::string direction = "forward";  // or "backward"
  int64_t rows = 0, cols = 0;
  std::string xtype = "f32", dytype = "f32", ytype = "f32";  // f32, f16, bf16
  int64_t ldx = 0, lddy = 0, ldy = 0;

  bool backward() const { return direction == "backward"; }
};

// In a log line dxtype, lddx and dloss stand only where there is a gradient.
struct CrossEntropyCase {
  int64_t rows = 0, cols = 0;
  std::string xtype = "f32", dxtype;  // dxtype: that of x by default
  std::string gradient = "apart";     // or "none", "in-place"
  std::string target_type = "i64";    // or "i32"
  int64_t ldx = 0, lddx = 0;
  int64_t dloss = 0, stride_dloss = 1;  // dloss: 1: the losses have gradients
  int64_t loss = 1, lse = 0;            // 1: asked for
  double gradient_scale = 1, label_smoothing = 0, z_loss = 0;

  bool has_gradient() const { return gradient != "none"; }
};

struct TransposeCase {
  int64_t element_size = 4;
  int64_t rows = 0, cols = 0;
  int64_t ldin = 0, ldout = 0;
  int64_t batch = 1;
  std::optional<int64_t> stride_in, stride_out;
  int64_t in_place = 0;
};

// Throws where a size is below 1: there is nothing to measure.
void require_positive(const char* option, int64_t value);

// Fills in omitted fields; sizes must be positive.
SgemmCase complete(SgemmCase problem);
GemmCase complete(GemmCase problem);
SoftmaxCase complete(SoftmaxCase problem);
CrossEntropyCase complete(CrossEntropyCase problem);
TransposeCase complete(TransposeCase problem);

// The subcommand, and the first word of a log line after "mygemm".
inline const char* operation_name(const SgemmCase&) { return "sgemm"; }
inline const char* operation_name(const GemmCase&) { return "gemm"; }
inline const char* operation_name(const SoftmaxCase&) { return "softmax"; }
inline const char* operation_name(const CrossEntropyCase&) { return "cross_entropy"; }
inline const char* operation_name(const TransposeCase&) { return "transpose"; }

Fields fields(const SgemmCase& problem);
Fields fields(const GemmCase& problem);
Fields fields(const SoftmaxCase& problem);
Fields fields(const CrossEntropyCase& problem);
Fields fields(const TransposeCase& problem);

// A few words for the table, e.g. "4096 x 4096 x 64 NT", with the kind of data where that is not
// the usual one.
std::string label(const SgemmCase& problem);
std::string label(const GemmCase& problem);
std::string label(const SoftmaxCase& problem);
std::string label(const CrossEntropyCase& problem);
std::string label(const TransposeCase& problem);

double flops(const SgemmCase& problem);
double bytes(const SgemmCase& problem);         // A, B and C once each
double bytes(const SoftmaxCase& problem);       // read + written
double bytes(const CrossEntropyCase& problem);  // read + written, matrices only
double bytes(const TransposeCase& problem);     // read + written

mygemmDataType_t data_type(const std::string& name);

}  // namespace bench
