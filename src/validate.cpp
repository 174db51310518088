// The rules of the ABI, one family a function, in the order that mygemm.h states: sizes and
// leading dimensions; nothing to do; pointers, byte counts, overlap.
#include "validate.h"

#include <algorithm>
#include <cmath>

#include "overlap.h"

namespace mygemm {
namespace {

// fail() as an operand of || and &&.
[[gnu::format(printf, 1, 2)]] bool refuse(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  fail_with(MYGEMM_STATUS_INVALID_VALUE, format, arguments);
  va_end(arguments);
  return false;
}

long long number(int64_t value) { return static_cast<long long>(value); }

bool not_negative(const char* argument, int64_t value) {
  return value >= 0 || refuse("%s = %lld is negative", argument, number(value));
}

// `rule` is the sentence's right-hand side, e.g. "max(1, m)"; `why` an addition in parentheses.
bool ld_ok(const char* argument, int64_t ld, int64_t extent, const char* rule, const char* why) {
  const int64_t smallest = std::max<int64_t>(1, extent);
  return ld >= smallest || refuse("%s = %lld is smaller than %s = %lld%s", argument, number(ld),
                                  rule, number(smallest), why);
}

bool pointer_ok(const char* argument, const void* pointer, int64_t alignment) {
  if (!pointer) return refuse("%s is NULL", argument);
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) == 0 ||
         refuse("%s = %p is not a multiple of %lld bytes", argument, pointer, number(alignment));
}

constexpr int64_t kAddressSpace = INT64_MAX;  // bytes

// From the first element of a matrix to its last.
Wide elements_of(int64_t runs, int64_t run_length, int64_t ld) {
  return (Wide{runs} - 1) * ld + run_length;
}

// A batch of strided matrices in bytes, or a refusal where its extent does not fit 63 bits or
// runs past the end of the address space.
bool make_footprint(const char* argument, const void* data, int64_t runs, int64_t run_length,
                    int64_t ld, int64_t batch, int64_t batch_stride, int64_t element_size,
                    BatchedFootprint* footprint) {
  if (runs == 1) ld = run_length;  // a single run goes nowhere, whatever its ld
  const Wide one = elements_of(runs, run_length, ld);
  const Wide shift = batch > 1 ? (Wide{batch} - 1) * batch_stride : 0;
  const Wide elements = one + (shift < 0 ? -shift : shift);
  // In elements first: 127 bits do not hold the bytes of every element count.
  bool fits = std::max(elements, Wide{ld}) <= kAddressSpace / element_size;
  if (fits) {
    const Wide base = static_cast<Wide>(reinterpret_cast<uintptr_t>(data));
    fits = base + std::min<Wide>(shift, 0) * element_size >= 0 &&
           base + (std::max<Wide>(shift, 0) + one) * element_size <= kAddressSpace;
  }
  if (!fits) {
    return refuse(
        "%s spans %.3g bytes, which does not fit the address space (ld = %lld, "
        "stride = %lld, batch_count = %lld)",
        argument, static_cast<double>(elements) * static_cast<double>(element_size), number(ld),
        number(batch_stride), number(batch));
  }
  *footprint = {
      {reinterpret_cast<uintptr_t>(data), runs, run_length * element_size, ld * element_size},
      batch,
      batch > 1 ? batch_stride * element_size : 0};
  return true;
}

// The matrices of an output batch must not overlap one another.
bool distinct_outputs(const char* argument, const BatchedFootprint& out, int64_t stride) {
  return !overlaps_itself(out) || refuse("stride of %s = %lld makes matrices of the batch overlap",
                                         argument, number(stride));
}

// The operands' names in the caller's function, for messages.
struct GemmNames {
  const char *a, *b, *c, *d, *ldd;
};

GemmNames names_of(const GemmProblem& p) {
  if (p.output_is_c) return {"A", "B", "C", "C", "ldc"};
  if (p.pointer_arrays) return {"A_array", "B_array", "C_array", "D_array", "ldd"};
  return {"A", "B", "C", "D", "ldd"};
}

bool shapes_ok(const GemmProblem& p) {
  const bool ta = p.transa, tb = p.transb;
  return not_negative("m", p.m) && not_negative("n", p.n) && not_negative("k", p.k) &&
         not_negative("batch_count", p.batch_count) &&
         ld_ok("lda", p.a.ld, p.a_rows(), ta ? "max(1, k)" : "max(1, m)",
               ta ? " (transa = T)" : " (transa = N)") &&
         ld_ok("ldb", p.b.ld, p.b_rows(), tb ? "max(1, n)" : "max(1, k)",
               tb ? " (transb = T)" : " (transb = N)") &&
         (p.in_place() || ld_ok("ldc", p.c.ld, p.m, "max(1, m)", "")) &&
         ld_ok(names_of(p).ldd, p.d.ld, p.m, "max(1, m)", "");
}

// Checks an array of matrix pointers, and its elements where host code can read them.
bool array_ok(const char* argument, const Operand& x, const GemmProblem& p) {
  if (!pointer_ok(argument, static_cast<const void*>(x.pointers), sizeof(void*))) return false;
  const int64_t size = element_bytes(x.type);
  for (int64_t i = 0; p.readable_arrays && i < p.batch_count; ++i) {
    const void* matrix = x.pointers[i];
    if (!matrix || reinterpret_cast<uintptr_t>(matrix) % static_cast<uintptr_t>(size) != 0) {
      return refuse("%s[%lld] = %p is NULL or not a multiple of %lld bytes", argument, number(i),
                    matrix, number(size));
    }
  }
  return true;
}

// Which operands a product looks at.
struct GemmReads {
  bool inputs;  // A and B
  bool c;       // where it is not D
};

bool bias_placed(const GemmProblem& p) {
  return !p.epilogue.bias || pointer_ok("bias", p.epilogue.bias, element_bytes(p.d.type));
}

// Checks the byte count of each matrix of an array, wherever it may be.
bool matrix_fits(const char* argument, const Operand& x, int64_t rows, int64_t columns) {
  const Wide elements = elements_of(columns, rows, x.ld);
  return elements <= kAddressSpace / element_bytes(x.type) ||
         refuse(
             "each matrix of %s spans %.3g bytes, which does not fit the address space (ld = %lld)",
             argument, static_cast<double>(elements) * static_cast<double>(element_bytes(x.type)),
             number(x.ld));
}

bool arrays_ok(const GemmProblem& p, const GemmNames& names, const GemmReads& reads) {
  if (reads.inputs && !(array_ok(names.a, p.a, p) && array_ok(names.b, p.b, p))) return false;
  if (reads.c && !array_ok(names.c, p.c, p)) return false;
  if (!array_ok(names.d, p.d, p) || !bias_placed(p)) return false;
  if (reads.inputs && !(matrix_fits(names.a, p.a, p.a_rows(), p.a_cols()) &&
                        matrix_fits(names.b, p.b, p.b_rows(), p.b_cols()))) {
    return false;
  }
  if (reads.c && !matrix_fits(names.c, p.c, p.m, p.n)) return false;
  if (!matrix_fits(names.d, p.d, p.m, p.n)) return false;
  return !reads.c || p.c.pointers != p.d.pointers ||
         refuse("C_array is D_array, but ldc = %lld is not ldd = %lld", number(p.c.ld),
                number(p.d.ld));
}

bool matrices_placed(const GemmProblem& p, const GemmNames& names, const GemmReads& reads) {
  const auto placed = [](const char* name, const Operand& x) {
    return pointer_ok(name, x.data, element_bytes(x.type));
  };
  return (!reads.inputs || (placed(names.a, p.a) && placed(names.b, p.b))) &&
         (!reads.c || placed(names.c, p.c)) && placed(names.d, p.d) && bias_placed(p);
}

// Checks byte counts, and that D overlaps no operand that is read.
bool matrices_apart(const GemmProblem& p, const GemmNames& names, const GemmReads& reads) {
  const auto describe = [&](const char* name, const Operand& x, int64_t rows, int64_t columns,
                            BatchedFootprint* footprint) {
    return make_footprint(name, x.data, columns, rows, x.ld, p.batch_count, x.stride,
                          element_bytes(x.type), footprint);
  };
  BatchedFootprint d{};
  if (!describe(names.d, p.d, p.m, p.n, &d) || !distinct_outputs(names.d, d, p.d.stride)) {
    return false;
  }
  const auto apart = [&](const char* name, const Operand& x, int64_t rows, int64_t columns,
                         const char* why) {
    BatchedFootprint input{};
    return describe(name, x, rows, columns, &input) &&
           (!overlap(d, input) || refuse("%s overlaps %s%s", names.d, name, why));
  };
  const Operand bias{const_cast<void*>(p.epilogue.bias), nullptr, p.m, p.epilogue.stride_bias,
                     p.d.type};
  return (!reads.inputs || (apart(names.a, p.a, p.a_rows(), p.a_cols(), "") &&
                            apart(names.b, p.b, p.b_rows(), p.b_cols(), ""))) &&
         (!reads.c ||
          apart(names.c, p.c, p.m, p.n,
                " (where C is D, pointer, leading dimension and stride are the same)")) &&
         (!bias.data || apart("bias", bias, p.m, 1, ""));
}

bool pointers_ok(const GemmProblem& p) {
  const GemmNames names = names_of(p);
  const GemmReads reads{!p.scales_only(), !p.in_place() && !p.epilogue.beta.is(0.0f)};
  constexpr int64_t kFloat = sizeof(float);
  if (!pointer_ok("alpha", p.epilogue.alpha.address, kFloat) ||
      !pointer_ok("beta", p.epilogue.beta.address, kFloat)) {
    return false;
  }
  if (p.pointer_arrays) return arrays_ok(p, names, reads);
  return matrices_placed(p, names, reads) && matrices_apart(p, names, reads);
}

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

template <class Problem>
Verdict verdict(const Problem& problem, Check check, bool nothing_to_do) {
  if (!shapes_ok(problem)) return Verdict::kInvalid;
  if (check == Check::kShapesOnly) return Verdict::kOk;
  if (nothing_to_do) return Verdict::kDone;
  return pointers_ok(problem) ? Verdict::kOk : Verdict::kInvalid;
}

}  // namespace

Verdict validate(const GemmProblem& p, Check check) {
  const bool keeps_c = !p.fused && p.scales_only() && p.epilogue.beta.is(1.0f);
  return verdict(p, check, p.m == 0 || p.n == 0 || p.batch_count == 0 || keeps_c);
}

Verdict validate(const SoftmaxProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0);
}

Verdict validate(const TransposeProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0 || p.batch_count == 0);
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
  return (value >= MYGEMM_ACTIVATION_NONE && value <= MYGEMM_ACTIVATION_GELU) ||
         refuse("activation = %d is not a mygemmActivation_t", value);
}

Status supported_types(const GemmProblem& p) {
  const auto supported = [](const char* argument, mygemmDataType_t type) {
    return type == MYGEMM_R_32F
               ? MYGEMM_STATUS_SUCCESS
               : fail(MYGEMM_STATUS_NOT_SUPPORTED,
                      "%s = %d: products of this version take MYGEMM_R_32F = %d only", argument,
                      type, MYGEMM_R_32F);
  };
  RETURN_IF_ERROR(supported("atype", p.a.type));
  RETURN_IF_ERROR(supported("btype", p.b.type));
  RETURN_IF_ERROR(supported("ctype", p.c.type));
  return supported("dtype", p.d.type);
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
