// The rules of matrix products, in the order that mygemm.h states: sizes and leading dimensions;
// nothing to do; pointers, byte counts, overlap.
#include "rules.h"

namespace mygemm {
namespace {

// The operands' names in the caller's function, for messages.
struct GemmNames {
  const char *a, *b, *c, *d, *ldd;
};

GemmNames names_of(const GemmProblem& p) {
  if (p.output_is_c) return {"A", "B", "C", "C", "ldc"};
  if (p.pointer_arrays) return {"A_array", "B_array", "C_array", "D_array", "ldd"};
  return {"A", "B", "C", "D", "ldd"};
}

// Columns of bits, and matrices of them, begin at whole words.
bool aux_shape_ok(const GemmProblem& p) {
  if (!p.epilogue.has_aux()) return true;
  const auto whole_words = [&](const char* argument, int64_t bits) {
    return !p.epilogue.aux_is_bits() || bits % 32 == 0 ||
           refuse("%s = %lld is not a multiple of 32 (aux holds bits)", argument, number(bits));
  };
  return ld_ok("ldaux", p.epilogue.ldaux, p.m, "max(1, m)", "") &&
         whole_words("ldaux", p.epilogue.ldaux) &&
         (p.batch_count <= 1 || whole_words("stride_aux", p.epilogue.stride_aux));
}

// A triangle is of a square D, and nothing but alpha and beta is applied to it.
bool fill_ok(const GemmProblem& p) {
  if (p.fill == MYGEMM_FILL_FULL) return true;
  const char* triangle = p.fill == MYGEMM_FILL_LOWER ? "MYGEMM_FILL_LOWER" : "MYGEMM_FILL_UPPER";
  if (p.m != p.n) {
    return refuse("fill = %s, but D is not square (m = %lld, n = %lld)", triangle, number(p.m),
                  number(p.n));
  }
  const char* extra = p.epilogue.bias                                   ? "bias"
                      : p.epilogue.activation != MYGEMM_ACTIVATION_NONE ? "activation"
                      : p.sums.of != MYGEMM_SUMS_NONE                   ? "sums_of"
                                                                        : nullptr;
  return !extra || refuse("fill = %s cannot be combined with %s", triangle, extra);
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
         ld_ok(names_of(p).ldd, p.d.ld, p.m, "max(1, m)", "") && aux_shape_ok(p) && fill_ok(p);
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
  bool a, b;
  bool c;  // where it is not D

  explicit GemmReads(const GemmProblem& p)
      : a(!p.scales_only() || (p.sums.of == MYGEMM_SUMS_OF_A && p.k > 0)),
        b(!p.scales_only() || (p.sums.of == MYGEMM_SUMS_OF_B && p.k > 0)),
        c(!p.in_place() && !p.epilogue.beta.is(0.0f)) {}
};

// Bias, aux and sums, which are never arrays of pointers.
bool vectors_placed(const GemmProblem& p) {
  constexpr int64_t kFloat = sizeof(float);
  return (!p.epilogue.bias || pointer_ok("bias", p.epilogue.bias, element_bytes(p.d.type))) &&
         (!p.epilogue.has_aux() || pointer_ok("aux", p.epilogue.aux, kFloat)) &&
         (p.sums.of == MYGEMM_SUMS_NONE || pointer_ok("sums", p.sums.data, kFloat));
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
  if (reads.a && !array_ok(names.a, p.a, p)) return false;
  if (reads.b && !array_ok(names.b, p.b, p)) return false;
  if (reads.c && !array_ok(names.c, p.c, p)) return false;
  if (!array_ok(names.d, p.d, p) || !vectors_placed(p)) return false;
  if (reads.a && !matrix_fits(names.a, p.a, p.a_rows(), p.a_cols())) return false;
  if (reads.b && !matrix_fits(names.b, p.b, p.b_rows(), p.b_cols())) return false;
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
  return (!reads.a || placed(names.a, p.a)) && (!reads.b || placed(names.b, p.b)) &&
         (!reads.c || placed(names.c, p.c)) && placed(names.d, p.d) && vectors_placed(p);
}

// The places that a product reads and writes: none that is written may overlap another one. (C and
// D are the same place where C is D.)
class Places {
 public:
  explicit Places(int64_t batch) : batch_(batch) {}

  // Columns of a matrix of elements of a size. False where the place does not fit the address space
  // or overlaps one that came before; `why` explains the rule of such an overlap.
  bool add(const char* name, const void* data, int64_t rows, int64_t columns, int64_t ld,
           int64_t stride, int64_t size, bool written, const char* why = "") {
    Place& place = places_[count_];
    place = {name, {}, written};
    if (!make_footprint(name, data, columns, rows, ld, batch_, stride, size, &place.footprint) ||
        (written && !distinct_outputs(name, place.footprint, stride))) {
      return false;
    }
    for (int i = 0; i < count_; ++i) {
      const Place& other = places_[i];
      if ((!written && !other.written) || !overlap(other.footprint, place.footprint)) continue;
      const bool first = other.written;
      return refuse("%s overlaps %s%s", first ? other.name : name, first ? name : other.name, why);
    }
    ++count_;
    return true;
  }
  bool add(const char* name, const Operand& x, int64_t rows, int64_t columns, bool written,
           const char* why = "") {
    return add(name, x.data, rows, columns, x.ld, x.stride, element_bytes(x.type), written, why);
  }

 private:
  struct Place {
    const char* name;
    BatchedFootprint footprint;
    bool written;
  };

  int64_t batch_;
  Place places_[7] = {};
  int count_ = 0;
};

bool aux_apart(const GemmProblem& p, Places* places) {
  const Epilogue& epilogue = p.epilogue;
  if (!epilogue.has_aux()) return true;
  const bool written = !epilogue.is_gradient();
  if (!epilogue.aux_is_bits()) {
    return places->add("aux", epilogue.aux, p.m, p.n, epilogue.ldaux, epilogue.stride_aux,
                       sizeof(float), written);
  }
  const int64_t bytes = written ? ceil_div(p.m, 8) : ceil_div(p.m, 32) * 4;
  return places->add("aux", epilogue.aux, bytes, p.n, epilogue.ldaux / 8, epilogue.stride_aux / 8,
                     1, written);
}

// Checks byte counts, and that nothing is written that is read or written elsewhere. The matrices
// of arrays of pointers are left out.
bool places_apart(const GemmProblem& p, const GemmNames& names, const GemmReads& reads) {
  Places places(p.batch_count);
  const bool strided = !p.pointer_arrays;
  if (strided && !places.add(names.d, p.d, p.m, p.n, true)) return false;
  if (strided && reads.a && !places.add(names.a, p.a, p.a_rows(), p.a_cols(), false)) return false;
  if (strided && reads.b && !places.add(names.b, p.b, p.b_rows(), p.b_cols(), false)) return false;
  if (strided && reads.c &&
      !places.add(names.c, p.c, p.m, p.n, false,
                  " (where C is D, pointer, leading dimension and stride are the same)")) {
    return false;
  }
  if (p.epilogue.bias && !places.add("bias", p.epilogue.bias, p.m, 1, p.m, p.epilogue.stride_bias,
                                     element_bytes(p.d.type), false)) {
    return false;
  }
  if (!aux_apart(p, &places)) return false;
  const int64_t sums = p.sums.of == MYGEMM_SUMS_OF_B ? p.n : p.m;
  return p.sums.of == MYGEMM_SUMS_NONE ||
         places.add("sums", p.sums.data, sums, 1, sums, p.sums.stride, sizeof(float), true);
}

bool pointers_ok(const GemmProblem& p) {
  const GemmNames names = names_of(p);
  const GemmReads reads(p);
  constexpr int64_t kFloat = sizeof(float);
  if (!pointer_ok("alpha", p.epilogue.alpha.address, kFloat) ||
      !pointer_ok("beta", p.epilogue.beta.address, kFloat)) {
    return false;
  }
  const bool placed =
      p.pointer_arrays ? arrays_ok(p, names, reads) : matrices_placed(p, names, reads);
  return placed && places_apart(p, names, reads);
}

}  // namespace

Verdict validate(const GemmProblem& p, Check check) {
  const bool keeps_c = p.only_scales() && p.scales_only() && p.epilogue.beta.is(1.0f) &&
                       p.sums.of == MYGEMM_SUMS_NONE;
  return verdict(p, check, p.m == 0 || p.n == 0 || p.batch_count == 0 || keeps_c, shapes_ok,
                 pointers_ok);
}

Status supported_types(const GemmProblem& p) {
  const auto alike = [](const char* first, const Operand& x, const char* second, const Operand& y,
                        const char* rule) {
    return x.type == y.type ? MYGEMM_STATUS_SUCCESS
                            : fail(MYGEMM_STATUS_NOT_SUPPORTED, "%s = %d, but %s = %d: %s", first,
                                   x.type, second, y.type, rule);
  };
  const bool a_is_fp32 = p.a.type == MYGEMM_R_32F, b_is_fp32 = p.b.type == MYGEMM_R_32F;
  const bool mixed =
      (a_is_fp32 && p.b.type == MYGEMM_R_16BF) || (b_is_fp32 && p.a.type == MYGEMM_R_16BF);
  if (!mixed) {
    RETURN_IF_ERROR(
        alike("atype", p.a, "btype", p.b, "A and B have one element type, or are FP32 and BF16"));
  }
  RETURN_IF_ERROR(alike("ctype", p.c, "dtype", p.d, "C and D have one element type"));
  constexpr const char* kFp32 = "D of a product with an FP32 operand is FP32";
  if (a_is_fp32) return alike("dtype", p.d, "atype", p.a, kFp32);
  if (b_is_fp32) return alike("dtype", p.d, "btype", p.b, kFp32);
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
