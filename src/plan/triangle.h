// How a triangle of a product, D = alpha op(A) op(B) + beta C where fill says, is divided: into
// rectangles beside the diagonal, and whole blocks along it, whose sums go through scratch memory,
// since no kernel for large tiles leaves a part of them alone. D of n rows in blocks of b:
//
//   |\        level 1: a rectangle of n/2 x n/2; level 2: two of n/4 x n/4, one batch; and so on
//   | \       down to b x b; then n/b blocks on the diagonal, one batch, and the pass that stores
//   |--\      their triangles.
//   |  |\     Small triangles, pointer arrays, and handles without a workspace take a kernel that
//   |--|-\    computes the elements of the triangle alone.
//
// Pure; gemm_triangle.h runs the steps.
#pragma once

#include "plan/plan.h"

namespace mygemm {

struct TriangleSteps {
  int64_t block = 0;      // rows of a block on the diagonal; 0: one kernel computes the triangle
  int levels = 0;         // of rectangles
  int64_t at_once = 0;    // blocks whose sums fit the scratch memory
  size_t sums_bytes = 0;  // scratch memory: the end of the workspace; on the host the call's own
};

// At most half of the workspace is scratch memory; the products have the rest.
TriangleSteps divide_triangle(const GemmProblem& p, const DeviceTraits& device,
                              const PlanOptions& options);

// Columns of the sums of a block are whole float4.
constexpr int64_t sums_ld(int64_t block) { return ceil_div(block, 4) * 4; }

// A part of a problem as a batch: `count` matrices of rows x columns elements of D, the first from
// (i, j) on, each `step` rows and columns further on than the one before.
struct TrianglePart {
  int64_t i, j, rows, columns;
  int64_t count = 1, step = 0;
};

GemmProblem part_of(const GemmProblem& p, int64_t matrix, const TrianglePart& part);

// The rectangle below a diagonal block, or beside it: `size` columns of the lower triangle from
// `first` on and `rows` rows behind them, or the other way round; `count` such, 2 size apart.
TrianglePart rectangle(const GemmProblem& p, int64_t first, int64_t size, int64_t rows,
                       int64_t count);

// The workspace with which divide_triangle() would not divide otherwise, and the products have what
// they want.
Status triangle_workspace(const GemmProblem& p, const DeviceTraits& device, const char* forced,
                          size_t* bytes);

// The steps, and the plan of the first of their products, as text. given: see explain().
std::string explain_triangle(const GemmProblem& p, const DeviceTraits& device,
                             const PlanOptions& options, const GemmProblem& given);

}  // namespace mygemm
