// Grouped products of 16-bit operands on tensor cores: tiles and maps. Pure.
#pragma once

#include "kernels/gemm/tensor16/tensor16.h"

namespace mygemm {

// Columns of a tile are as many as a product has use for: see even_columns(). kMapped: operands are
// stacked, or strided, and tensor maps of the whole of them bring them; otherwise the producer
// warps copy each product's own.
using Grouped16Mapped = Tensor16Tile<256>;
using Grouped16Copied = Tensor16Tile<128, 1, 1, false>;

namespace grouped {

// Whether D^T is computed: columns of a tile run along the size that is not the same for all.
constexpr bool is_transposed(const GroupedProblem& p) { return p.groups.m && !p.groups.n; }

// The reason why tensor maps cannot bring both operands, or nullptr.
inline const char* unfit_for_maps(const GroupedProblem& p) {
  const Groups& g = p.groups;
  if (with_total(p).scales_only()) return "nothing is read of A and B";
  const bool stacked_k = g.stacked == Stacked::kK;
  // A map ends where k does; the end of a stacked k is cut off in shared memory.
  if (g.k && !stacked_k) return "k is not the same for all products";
  // Copies begin at multiples of 16 bytes of a line.
  const bool a_along = g.stacked == Stacked::kM ? !p.most.transa : stacked_k && p.most.transa;
  const bool b_along = g.stacked == Stacked::kN ? p.most.transb : stacked_k && !p.most.transb;
  if (a_along || b_along) return "an operand is stacked along its lines";
  if (p.most.pointer_arrays || g.lda || g.ldb) return "no tensor map describes all products";
  const auto has_map = [&](const Operand& x, bool stacked) {
    return has_tensor_map(x, stacked || stacked_k ? 1 : p.most.batch_count);
  };
  const bool both =
      has_map(p.most.a, g.stacked == Stacked::kM) && has_map(p.most.b, g.stacked == Stacked::kN);
  return both ? nullptr : "no tensor map describes both operands";
}

// Whether the accelerator stores results, by a tensor map of the whole of D: multiples of 16 bytes.
inline bool maps_results(const GroupedProblem& p) {
  const GemmProblem whole = with_total(p);
  return !p.most.pointer_arrays && !p.groups.ldd &&
         has_tensor_map(whole.d, shares_d(p.groups.stacked) ? 1 : p.most.batch_count) &&
         whole.m * element_bytes(whole.d.type) % 16 == 0;
}

}  // namespace grouped

}  // namespace mygemm
