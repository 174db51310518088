// The rules of grouped products, in the order that grouped.h states: sizes and leading dimensions,
// those in arrays too where host code can read them; nothing to do; pointers, byte counts, overlap.
#include <algorithm>

#include "grouped_sizes.h"
#include "rules.h"

namespace mygemm {
namespace {

// The call's leading dimension of a matrix counts where there is no array of them.
GemmProblem with_legal_lds(const GroupedProblem& p) {
  GemmProblem q = with_total(p);
  const Groups& g = p.groups;
  const auto replace = [](const void* array, int64_t rows, Operand* x) {
    if (array) x->ld = std::max<int64_t>(1, rows);
  };
  const bool in_place = q.in_place();
  replace(g.lda, q.a_rows(), &q.a);
  replace(g.ldb, q.b_rows(), &q.b);
  replace(g.ldd, q.m, &q.d);
  replace(g.ldc, q.m, &q.c);
  if (in_place) q.c = q.d;
  return q;
}

bool array_ok(const Groups& g, const char* argument, const void* array) {
  const auto size = static_cast<uintptr_t>(index_bytes(g.type));
  return reinterpret_cast<uintptr_t>(array) % size == 0 ||
         refuse("%s = %p of groups is not a multiple of %zu bytes", argument, array, size);
}

bool arrays_ok(const Groups& g) {
  return array_ok(g, "m", g.m) && array_ok(g, "n", g.n) && array_ok(g, "k", g.k) &&
         array_ok(g, "lda", g.lda) && array_ok(g, "ldb", g.ldb) && array_ok(g, "ldc", g.ldc) &&
         array_ok(g, "ldd", g.ldd);
}

bool size_ok(const Groups& g, const char* argument, const void* array, int64_t i, int64_t most) {
  if (!array || g.ends) return true;
  const int64_t size = g.element(array, i);
  return (size >= 0 && size <= most) ||
         refuse("%s[%lld] = %lld of groups is not within 0 and %s = %lld", argument, number(i),
                number(size), argument, number(most));
}

bool own_ld_ok(const Groups& g, const char* argument, const void* array, int64_t i, int64_t rows,
               const char* rule) {
  if (!array) return true;
  const int64_t ld = g.element(array, i);
  return ld >= std::max<int64_t>(1, rows) ||
         refuse("%s[%lld] = %lld of groups is smaller than %s = %lld", argument, number(i),
                number(ld), rule, number(std::max<int64_t>(1, rows)));
}

// The byte count of a matrix whose leading dimension is in an array.
bool own_ld_fits(const Groups& g, const char* argument, const void* array, int64_t i, int64_t rows,
                 int64_t columns, const Operand& x) {
  if (!array || rows == 0 || columns == 0) return true;
  const int64_t ld = g.element(array, i);
  return elements_of(columns, rows, ld) <= kAddressSpace / element_bytes(x.type) ||
         refuse("%s[%lld] = %lld of groups places %lld columns beyond the address space", argument,
                number(i), number(ld), number(columns));
}

bool end_ok(const GroupedProblem& p, const char* argument, int64_t i, int64_t most) {
  const Groups& g = p.groups;
  const int64_t end = g.element(g.stacked_sizes(), i);
  const int64_t begin = i == 0 ? 0 : g.element(g.stacked_sizes(), i - 1);
  if (end < begin || end - begin > most) {
    return refuse("%s[%lld] = %lld of groups (ends = 1) is not within %lld and that + %s = %lld",
                  argument, number(i), number(end), number(begin), argument, number(most));
  }
  return end <= g.total || refuse("%s[%lld] = %lld of groups (ends = 1) exceeds total = %lld",
                                  argument, number(i), number(end), number(g.total));
}

// The elements of arrays in host memory.
bool elements_ok(const GroupedProblem& p) {
  const Groups& g = p.groups;
  if (g.all_alike()) return true;
  const bool in_place = p.most.in_place();
  int64_t sum = 0;
  for (int64_t i = 0; i < p.most.batch_count; ++i) {
    if (!size_ok(g, "m", g.m, i, p.most.m) || !size_ok(g, "n", g.n, i, p.most.n) ||
        !size_ok(g, "k", g.k, i, p.most.k)) {
      return false;
    }
    if (g.stacked != Stacked::kNone) {
      const char* argument = g.m ? "m" : g.n ? "n" : "k";
      const int64_t most = g.m ? p.most.m : g.n ? p.most.n : p.most.k;
      if (g.ends) {
        if (!end_ok(p, argument, i, most)) return false;
        continue;
      }
      const int64_t size = g.element(g.stacked_sizes(), i);
      if (size > g.total - sum) {
        return refuse("%s[0] to %s[%lld] of groups add up to more than total = %lld", argument,
                      argument, number(i), number(g.total));
      }
      sum += size;
    }
    const GemmProblem q = with_sizes(p.most, sizes_of(p, i, 0));
    const bool ta = q.transa, tb = q.transb;
    if (!own_ld_ok(g, "lda", g.lda, i, q.a_rows(), ta ? "max(1, k)" : "max(1, m)") ||
        !own_ld_ok(g, "ldb", g.ldb, i, q.b_rows(), tb ? "max(1, n)" : "max(1, k)") ||
        (!in_place && !own_ld_ok(g, "ldc", g.ldc, i, q.m, "max(1, m)")) ||
        !own_ld_ok(g, "ldd", g.ldd, i, q.m, "max(1, m)")) {
      return false;
    }
  }
  return true;
}

bool shapes_ok(const GroupedProblem& p) {
  const Groups& g = p.groups;
  return (g.stacked == Stacked::kNone || not_negative("total", g.total)) &&
         not_negative("m", p.most.m) && not_negative("n", p.most.n) &&
         not_negative("k", p.most.k) &&
         validate(with_legal_lds(p), Check::kShapesOnly) != Verdict::kInvalid && arrays_ok(g) &&
         (g.on_device || elements_ok(p));
}

// Matrices that products share are one, others a batch.
bool add_footprint(const char* name, const GroupedProblem& p, const Operand& x, int64_t rows,
                   int64_t columns, bool shared, BatchedFootprint* footprint) {
  const int64_t batch = shared ? 1 : p.most.batch_count;
  return make_footprint(name, x.data, columns, rows, x.ld, batch, shared ? 0 : x.stride,
                        element_bytes(x.type), footprint);
}

bool stacked_pointers_ok(const GroupedProblem& p) {
  const GemmProblem q = with_total(p);
  const bool reads = !q.scales_only();
  const bool reads_c = !q.in_place() && !q.epilogue.beta.is(0.0f);
  const auto placed = [](const char* name, const Operand& x) {
    return pointer_ok(name, x.data, element_bytes(x.type));
  };
  const Stacked stacked = p.groups.stacked;
  BatchedFootprint a{}, b{}, c{}, d{}, bias{};
  if (!pointer_ok("alpha", q.epilogue.alpha.address, sizeof(float)) ||
      !pointer_ok("beta", q.epilogue.beta.address, sizeof(float)) ||
      (reads && (!placed("A", q.a) || !placed("B", q.b))) || (reads_c && !placed("C", q.c)) ||
      !placed("D", q.d) ||
      (q.epilogue.bias && !pointer_ok("bias", q.epilogue.bias, element_bytes(q.d.type)))) {
    return false;
  }
  if (!add_footprint("D", p, q.d, q.m, q.n, shares_d(stacked), &d) ||
      (!shares_d(stacked) && !distinct_outputs("D", d, q.d.stride))) {
    return false;
  }
  if (reads && (!add_footprint("A", p, q.a, q.a_rows(), q.a_cols(), shares_a(stacked), &a) ||
                !add_footprint("B", p, q.b, q.b_rows(), q.b_cols(), shares_b(stacked), &b))) {
    return false;
  }
  if (reads && overlap(a, d)) return refuse("D overlaps A");
  if (reads && overlap(b, d)) return refuse("D overlaps B");
  if (reads_c) {
    if (!add_footprint("C", p, q.c, q.m, q.n, shares_d(stacked), &c)) return false;
    if (overlap(c, d)) {
      return refuse(
          "D overlaps C (where C is D, pointer, leading dimension and stride are the same)");
    }
  }
  if (!q.epilogue.bias || p.most.m == 0) return true;
  if (!make_footprint("bias", q.epilogue.bias, 1, p.most.m, p.most.m, q.batch_count,
                      q.epilogue.stride_bias, element_bytes(q.d.type), &bias)) {
    return false;
  }
  return !overlap(bias, d) || refuse("D overlaps bias");
}

// The matrices of leading dimensions in host memory, of those that a call looks at.
bool own_lds_fit(const GroupedProblem& p) {
  const Groups& g = p.groups;
  if (!g.has_leading_dimensions() || g.on_device) return true;
  const bool reads = !p.most.scales_only();
  const bool reads_c = !p.most.in_place() && !p.most.epilogue.beta.is(0.0f);
  for (int64_t i = 0; i < p.most.batch_count; ++i) {
    const GemmProblem q = with_sizes(p.most, sizes_of(p, i, 0));
    if ((reads && (!own_ld_fits(g, "lda", g.lda, i, q.a_rows(), q.a_cols(), q.a) ||
                   !own_ld_fits(g, "ldb", g.ldb, i, q.b_rows(), q.b_cols(), q.b))) ||
        (reads_c && !own_ld_fits(g, "ldc", g.ldc, i, q.m, q.n, q.c)) ||
        !own_ld_fits(g, "ldd", g.ldd, i, q.m, q.n, q.d)) {
      return false;
    }
  }
  return true;
}

// Where leading dimensions are those of arrays, overlap is not looked for: see grouped.h.
bool pointers_ok(const GroupedProblem& p) {
  if (p.groups.stacked != Stacked::kNone) return stacked_pointers_ok(p);
  return validate(with_legal_lds(p), Check::kEverything) != Verdict::kInvalid && own_lds_fit(p);
}

}  // namespace

Verdict validate(const GroupedProblem& p, Check check) {
  const GemmProblem q = with_total(p);
  const bool keeps_c = q.only_scales() && q.scales_only() && q.epilogue.beta.is(1.0f);
  return verdict(p, check, q.m == 0 || q.n == 0 || q.batch_count == 0 || keeps_c, shapes_ok,
                 pointers_ok);
}

}  // namespace mygemm
