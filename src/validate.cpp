// The rules of softmax and transpose, in the order that mygemm.h states: sizes and leading
// dimensions; nothing to do; pointers, byte counts, overlap. Enumerations and structs of the ABI.
#include "validate.h"

#include <algorithm>
#include <cmath>

#include "rules.h"

namespace mygemm {
namespace {

bool shapes_ok(const SoftmaxProblem& p) {
  return not_negative("rows", p.rows) && not_negative("cols", p.cols) &&
         (std::isfinite(p.scale) || refuse("scale = %g is not finite", p.scale)) &&
         ld_ok(p.backward ? "ldy" : "ldx", p.in.ld, p.cols, "max(1, cols)", "") &&
         (!p.backward || ld_ok("lddy", p.dy.ld, p.cols, "max(1, cols)", "")) &&
         ld_ok(p.backward ? "lddx" : "ldy", p.out.ld, p.cols, "max(1, cols)", "");
}

// Checks that `in` is exactly where the output is, or shares no byte with it.
bool in_place_or_distinct(const char* in_name, const TypedMatrix& in, const BatchedFootprint& x,
                          const char* out_name, const TypedMatrix& out, const BatchedFootprint& y) {
  const bool in_place =
      in.data == out.data && in.ld == out.ld && element_bytes(in.type) == element_bytes(out.type);
  return in_place || !overlap(x, y) ||
         refuse(
             "%s overlaps %s (in place needs the same pointer, the same ld and types of one "
             "width)",
             out_name, in_name);
}

bool pointers_ok(const SoftmaxProblem& p) {
  const char* in_name = p.backward ? "y" : "x";
  const char* out_name = p.backward ? "dx" : "y";
  BatchedFootprint in{}, dy{}, out{};
  const auto describe = [&](const char* name, const TypedMatrix& m, BatchedFootprint* footprint) {
    const int64_t size = element_bytes(m.type);
    return make_footprint(name, m.data, p.rows, p.cols, m.ld, 1, 0, size, footprint);
  };
  return pointer_ok(in_name, p.in.data, element_bytes(p.in.type)) &&
         (!p.backward || pointer_ok("dy", p.dy.data, element_bytes(p.dy.type))) &&
         pointer_ok(out_name, p.out.data, element_bytes(p.out.type)) &&
         describe(in_name, p.in, &in) && (!p.backward || describe("dy", p.dy, &dy)) &&
         describe(out_name, p.out, &out) &&
         in_place_or_distinct(in_name, p.in, in, out_name, p.out, out) &&
         (!p.backward || in_place_or_distinct("dy", p.dy, dy, out_name, p.out, out));
}

bool shapes_ok(const TransposeProblem& p) {
  const int64_t e = p.element_size;
  return (e == 1 || e == 2 || e == 4 || e == 8 || e == 16 ||
          refuse("element_size = %lld is none of 1, 2, 4, 8, 16", number(e))) &&
         not_negative("rows", p.rows) && not_negative("cols", p.cols) &&
         not_negative("batch_count", p.batch_count) &&
         ld_ok("ldin", p.ldin, p.cols, "max(1, cols)", "") &&
         ld_ok("ldout", p.ldout, p.rows, "max(1, rows)", "");
}

bool pointers_ok(const TransposeProblem& p) {
  const int64_t alignment = std::min<int64_t>(p.element_size, 8);
  BatchedFootprint in{}, out{};
  if (!pointer_ok("in", p.in, alignment) || !pointer_ok("out", p.out, alignment) ||
      !make_footprint("in", p.in, p.rows, p.cols, p.ldin, p.batch_count, p.stride_in,
                      p.element_size, &in) ||
      !make_footprint("out", p.out, p.cols, p.rows, p.ldout, p.batch_count, p.stride_out,
                      p.element_size, &out) ||
      !distinct_outputs("out", out, p.stride_out)) {
    return false;
  }
  const bool in_place = p.in_place() && (p.batch_count == 1 || p.stride_in == p.stride_out);
  return !overlap(in, out, /*same_index_may=*/in_place) ||
         refuse("out overlaps in (%s)", p.in_place() ? "in place, batches need stride_in = "
                                                       "stride_out and room for both layouts"
                                                     : "only out = in is allowed");
}

}  // namespace

Verdict validate(const SoftmaxProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0, shapes_ok, pointers_ok);
}

Verdict validate(const TransposeProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0 || p.batch_count == 0, shapes_ok,
                 pointers_ok);
}

bool valid_operation(const char* argument, int value) {
  return (value >= MYGEMM_OP_N && value <= MYGEMM_OP_C) ||
         refuse("%s = %d is not a mygemmOperation_t", argument, value);
}

bool valid_data_type(const char* argument, int value) {
  return value == MYGEMM_R_32F || value == MYGEMM_R_16F || value == MYGEMM_R_16BF ||
         refuse("%s = %d is not a mygemmDataType_t", argument, value);
}

bool valid_softmax_mode(int value) {
  return value == MYGEMM_SOFTMAX || value == MYGEMM_LOG_SOFTMAX ||
         refuse("mode = %d is not a mygemmSoftmaxMode_t", value);
}

bool valid_product_math(int value) {
  return value == MYGEMM_MATH_OF_HANDLE || value == MYGEMM_MATH_DEFAULT ||
         value == MYGEMM_MATH_STRICT || value == MYGEMM_MATH_FAST ||
         refuse("math = %d is neither a mygemmMathMode_t nor MYGEMM_MATH_OF_HANDLE", value);
}

bool valid_activation(int value) {
  return (value >= MYGEMM_ACTIVATION_NONE && value <= MYGEMM_ACTIVATION_GELU_GRADIENT) ||
         refuse("activation = %d is not a mygemmActivation_t", value);
}

bool valid_fill(int value) {
  return (value >= MYGEMM_FILL_FULL && value <= MYGEMM_FILL_UPPER) ||
         refuse("fill = %d is not a mygemmFill_t", value);
}

bool valid_sums(int value) {
  return (value >= MYGEMM_SUMS_NONE && value <= MYGEMM_SUMS_OF_B) ||
         refuse("sums_of = %d is not a mygemmSums_t", value);
}

Status check_struct(const char* argument, const char* initialiser, const void* given,
                    size_t known_bytes) {
  const size_t struct_size = *static_cast<const size_t*>(given);
  if (struct_size < known_bytes) {
    return fail(MYGEMM_STATUS_INVALID_VALUE,
                "%s->struct_size = %zu is smaller than %zu; start from %s", argument, struct_size,
                known_bytes, initialiser);
  }
  // A newer caller may know more fields; one that it uses must not be ignored in silence.
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (size_t i = known_bytes; i < struct_size; ++i) {
    if (bytes[i] != 0) {
      return fail(MYGEMM_STATUS_NOT_SUPPORTED,
                  "%s sets a field at byte %zu, past the %zu bytes that this library knows",
                  argument, i, known_bytes);
    }
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
