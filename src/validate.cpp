// The rules of cross entropy and transpose, in the order that mygemm.h states: sizes and
// leading dimensions; nothing to do; pointers, byte counts, overlap. Enumerations and structs of
// the ABI.
#include "validate.h"

#include <algorithm>

#include "rules.h"

namespace mygemm {

namespace {

bool shapes_ok(const CrossEntropyProblem& p) {
  return not_negative("rows", p.rows) && not_negative("cols", p.cols) &&
         ld_ok("ldx", p.x.ld, p.cols, "max(1, cols)", "") &&
         (!p.has_gradient() || (ld_ok("lddx", p.dx.ld, p.cols, "max(1, cols)", "") &&
                                not_negative("stride_dloss", p.dloss ? p.stride_dloss : 0))) &&
         ((p.label_smoothing >= 0.0f && p.label_smoothing <= 1.0f) ||
          refuse("label_smoothing = %g is not from 0 to 1", p.label_smoothing)) &&
         finite("z_loss", p.z_loss) && finite("gradient_scale", p.gradient_scale);
}

// An operand of a cross entropy as bytes.
struct NamedFootprint {
  const char* name;
  BatchedFootprint bytes;
};

bool pointers_ok(const CrossEntropyProblem& p) {
  const bool uses_dloss = p.has_gradient() && p.dloss;
  const int64_t x_size = element_bytes(p.x.type), dx_size = element_bytes(p.dx.type);
  const int64_t index_size = index_bytes(p.target_type);
  if (!pointer_ok("x", p.x.data, x_size) || !pointer_ok("targets", p.targets, index_size) ||
      (p.has_gradient() && !pointer_ok("dx", p.dx.data, dx_size)) ||
      (uses_dloss && !pointer_ok("dloss", p.dloss, 4)) ||
      (p.loss && !pointer_ok("loss", p.loss, 4)) || (p.lse && !pointer_ok("lse", p.lse, 4))) {
    return false;
  }
  NamedFootprint outputs[3], inputs[3];
  int written = 0, read = 0;
  // A matrix, or a vector as a matrix of one column.
  const auto add = [&](const char* name, const void* data, int64_t cols, int64_t ld, int64_t size,
                       NamedFootprint* list, int* count) {
    NamedFootprint& operand = list[(*count)++];
    operand.name = name;
    return make_footprint(name, data, p.rows, cols, ld, 1, 0, size, &operand.bytes);
  };
  // A stride of 0: one value, which a footprint has no word for.
  const int64_t distance = std::max<int64_t>(1, p.stride_dloss);
  const bool fit =
      add("x", p.x.data, p.cols, p.x.ld, x_size, inputs, &read) &&
      add("targets", p.targets, 1, 1, index_size, inputs, &read) &&
      (!p.has_gradient() || add("dx", p.dx.data, p.cols, p.dx.ld, dx_size, outputs, &written)) &&
      (!uses_dloss || add("dloss", p.dloss, 1, distance, 4, inputs, &read)) &&
      (!p.loss || add("loss", p.loss, 1, 1, 4, outputs, &written)) &&
      (!p.lse || add("lse", p.lse, 1, 1, 4, outputs, &written));
  if (!fit) return false;
  if (uses_dloss && p.stride_dloss == 0) inputs[read - 1].bytes.matrix.count = 1;
  for (int i = 0; i < written; ++i) {
    const bool is_gradient = i == 0 && p.has_gradient();
    if (is_gradient &&
        !in_place_or_distinct("x", p.x, inputs[0].bytes, "dx", p.dx, outputs[0].bytes)) {
      return false;
    }
    for (int j = is_gradient ? 1 : 0; j < read; ++j) {
      if (overlap(outputs[i].bytes, inputs[j].bytes)) {
        return refuse("%s overlaps %s", outputs[i].name, inputs[j].name);
      }
    }
    for (int j = 0; j < i; ++j) {
      if (overlap(outputs[i].bytes, outputs[j].bytes)) {
        return refuse("%s overlaps %s", outputs[i].name, outputs[j].name);
      }
    }
  }
  return true;
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

Verdict validate(const CrossEntropyProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0 || !p.has_output(), shapes_ok, pointers_ok);
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

bool valid_index_type(const char* argument, int value) {
  return value == MYGEMM_INDEX_32I || value == MYGEMM_INDEX_64I ||
         refuse("%s = %d is not a mygemmIndexType_t", argument, value);
}

bool valid_softmax_mode(int value) {
  return value == MYGEMM_SOFTMAX || value == MYGEMM_LOG_SOFTMAX ||
         refuse("mode = %d is not a mygemmSoftmaxMode_t", value);
}

bool valid_empty_rows(int value) {
  return value == MYGEMM_EMPTY_ROW_NAN || value == MYGEMM_EMPTY_ROW_ZERO ||
         refuse("empty_rows = %d is not a mygemmEmptyRow_t", value);
}

bool valid_product_math(int value) {
  return value == MYGEMM_MATH_OF_HANDLE || value == MYGEMM_MATH_DEFAULT ||
         value == MYGEMM_MATH_STRICT || value == MYGEMM_MATH_FAST ||
         refuse("math = %d is neither a mygemmMathMode_t nor MYGEMM_MATH_OF_HANDLE", value);
}

bool valid_product_invariance(int value) {
  return (value >= MYGEMM_INVARIANCE_OF_HANDLE && value <= MYGEMM_INVARIANCE_BATCH) ||
         refuse("invariance = %d is neither a mygemmInvariance_t nor MYGEMM_INVARIANCE_OF_HANDLE",
                value);
}

bool valid_activation(int value) {
  return (value >= MYGEMM_ACTIVATION_NONE && value <= MYGEMM_ACTIVATION_GELU_GRADIENT) ||
         refuse("activation = %d is not a mygemmActivation_t", value);
}

bool valid_fill(int value) {
  return (value >= MYGEMM_FILL_FULL && value <= MYGEMM_FILL_UPPER) ||
         refuse("fill = %d is not a mygemmFill_t", value);
}

bool valid_pointer_mode(const char* argument, int value) {
  return value == MYGEMM_POINTER_MODE_HOST || value == MYGEMM_POINTER_MODE_DEVICE ||
         refuse("%s = %d is not a mygemmPointerMode_t", argument, value);
}

bool valid_flag(const char* argument, int value) {
  return value == 0 || value == 1 || refuse("%s = %d is neither 0 nor 1", argument, value);
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
