// The products of a group: the sizes of each, and each as a problem of its own. Pure; kernels use
// it too.
#pragma once

#include "problem.h"

namespace mygemm {

// `before`: how much of the stacked size belongs to the products before this one.
struct ProductSizes {
  int64_t m, n, k;
  int64_t before = 0;
};

constexpr int64_t size_within(int64_t size, int64_t most) {
  return size < 0 ? 0 : size > most ? most : size;
}

// The sizes of product i; sum: the stacked sizes of those before it, which groups with ends have
// themselves.
constexpr ProductSizes sizes_of(const GroupedProblem& p, int64_t i, int64_t sum) {
  const Groups& g = p.groups;
  const auto size = [&](const void* array, int64_t most) {
    return array ? size_within(g.element(array, i), most) : most;
  };
  if (g.stacked == Stacked::kNone) {
    return {size(g.m, p.most.m), size(g.n, p.most.n), size(g.k, p.most.k)};
  }
  int64_t own = g.element(g.stacked_sizes(), i);
  if (g.ends) {
    sum = i == 0 ? 0 : size_within(g.element(g.stacked_sizes(), i - 1), g.total);
    own = size_within(own, g.total) - sum;
  }
  const int64_t before = size_within(sum, g.total);
  const auto part = [&](int64_t most) {
    return size_within(size_within(own, most), g.total - before);
  };
  const GemmProblem& all = p.most;
  switch (g.stacked) {
    case Stacked::kM: return {part(all.m), all.n, all.k, before};
    case Stacked::kN: return {all.m, part(all.n), all.k, before};
    default: return {all.m, all.n, part(all.k), before};
  }
}

// The stacked size of a product.
constexpr int64_t stacked_size(const GroupedProblem& p, const ProductSizes& sizes) {
  switch (p.groups.stacked) {
    case Stacked::kM: return sizes.m;
    case Stacked::kN: return sizes.n;
    case Stacked::kK: return sizes.k;
    default: return 0;
  }
}

// The call with the sizes of a product, its matrices where they were.
constexpr GemmProblem with_sizes(GemmProblem call, const ProductSizes& sizes) {
  call.m = sizes.m, call.n = sizes.n, call.k = sizes.k;
  return call;
}

// Product i, as a batch of one. Elements of pointer arrays are left where they are, and so are
// matrices that are not read.
constexpr GemmProblem product_of(const GroupedProblem& p, int64_t i, const ProductSizes& sizes) {
  const Groups& g = p.groups;
  GemmProblem q = with_sizes(p.most, sizes);
  q.batch_count = 1;
  // along: elements from one of the stacked size to the next, 0 where the matrices have strides.
  const auto place = [&](Operand* x, const void* lds, int64_t along) {
    if (x->pointers) {
      x->pointers += i;
    } else if (x->data) {
      x->data = x->at(along != 0 ? sizes.before * along : i * x->stride);
    }
    if (lds) x->ld = g.element(lds, i);
    x->stride = 0;
  };
  const bool in_place = q.in_place();
  const bool m = g.stacked == Stacked::kM, n = g.stacked == Stacked::kN;
  const bool k = g.stacked == Stacked::kK;
  if (!p.most.scales_only()) {
    place(&q.a, g.lda, m ? (q.transa ? q.a.ld : 1) : k ? (q.transa ? 1 : q.a.ld) : 0);
    place(&q.b, g.ldb, n ? (q.transb ? 1 : q.b.ld) : k ? (q.transb ? q.b.ld : 1) : 0);
  }
  place(&q.d, g.ldd, m ? 1 : n ? q.d.ld : 0);
  if (in_place) {
    q.c = q.d;
  } else if (!q.epilogue.beta.is(0.0f)) {
    place(&q.c, g.ldc, m ? 1 : n ? q.c.ld : 0);
  }
  if (q.epilogue.bias) {
    const int64_t bytes = i * q.epilogue.stride_bias * element_bytes(q.d.type);
    q.epilogue.bias = static_cast<const char*>(q.epilogue.bias) + bytes;
    q.epilogue.stride_bias = 0;
  }
  return q;
}

// The call's matrices as a batch of one size: those that share the stacked size have all of it.
constexpr GemmProblem with_total(const GroupedProblem& p) {
  GemmProblem q = p.most;
  switch (p.groups.stacked) {
    case Stacked::kM: q.m = p.groups.total; break;
    case Stacked::kN: q.n = p.groups.total; break;
    case Stacked::kK: q.k = p.groups.total; break;
    default: break;
  }
  return q;
}

}  // namespace mygemm
