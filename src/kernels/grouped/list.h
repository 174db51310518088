// The list of a group's products, which a kernel of its own makes in the workspace ahead of the one
// that computes them: so sizes, pointers and leading dimensions may be known on the device only,
// and are worked out once. Pure.
#pragma once

#include <cstddef>

#include "grouped_sizes.h"

namespace mygemm::grouped {

// A product: the fields of its GemmProblem that differ from the call's.
struct Product {
  struct Matrix {
    void* data;
    int64_t ld;
  };

  int64_t m, n, k;
  int64_t before;  // of the stacked size, in the products before this one
  Matrix a, b, c, d;
  const void* bias;
};

// The product as a problem, from that of the call.
constexpr GemmProblem problem_of(const GemmProblem& call, const Product& x) {
  GemmProblem q = call;
  q.m = x.m, q.n = x.n, q.k = x.k;
  q.batch_count = 1;
  q.a = {x.a.data, nullptr, x.a.ld, 0, call.a.type};
  q.b = {x.b.data, nullptr, x.b.ld, 0, call.b.type};
  q.c = {x.c.data, nullptr, x.c.ld, 0, call.c.type};
  q.d = {x.d.data, nullptr, x.d.ld, 0, call.d.type};
  q.epilogue.bias = x.bias;
  q.epilogue.stride_bias = 0;
  return q;
}

// The tiles of a product: of so many rows and, at most, columns; those of the transposed product
// have columns of D as their rows.
struct Tiling {
  int rows, columns;
  bool transposed;

  constexpr int64_t tiles_m(const Product& x) const {
    return ceil_div(transposed ? x.n : x.m, rows);
  }
  constexpr int64_t tiles_n(const Product& x) const {
    return ceil_div(transposed ? x.m : x.n, columns);
  }
};

// A part of a product's columns.
struct Columns {
  int first, count;
};
// The columns of tile `number` of `tiles`: all of them as even as multiples of 32 can be, for a
// narrow tile takes longer for each column than others.
constexpr int kUnit = 32;
constexpr Columns even_columns(int64_t columns, int number, int tiles) {
  const auto units = static_cast<int>(ceil_div(columns, kUnit));
  const int each = units / tiles, more = units % tiles;
  return {kUnit * (number * each + (number < more ? number : more)),
          kUnit * (each + (number < more ? 1 : 0))};
}

// Kernels get it by value. tiles: count + 1 sums, element i those of the products before i.
struct ProductList {
  const Product* products;
  const int64_t* tiles;
  unsigned* next;  // of tiles that blocks take one after another, beyond each block's first
  int count;
  Tiling tiling;
};

// The arrays of a group, and what is copied of those in host memory.
constexpr int kArrays = 7;
constexpr int64_t kMostProducts = int64_t{1} << 24;

inline size_t list_bytes(const GroupedProblem& p) {
  const auto count = static_cast<size_t>(p.most.batch_count);
  const size_t copied = p.groups.on_device ? 0 : kArrays * sizeof(int64_t);
  return count * (sizeof(Product) + sizeof(int64_t) + copied) + 3 * sizeof(int64_t);
}

}  // namespace mygemm::grouped
