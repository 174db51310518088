// How the operands of a product lie in memory, and how kernels bring them into shared memory. Pure.
#pragma once

#include "problem.h"

namespace mygemm {

// The direction in which an operand is contiguous: along k, or along m (A) or n (B).
enum class Major : uint8_t { kK, kMN };

constexpr Major major_of_a(const GemmProblem& p) { return p.transa ? Major::kK : Major::kMN; }
constexpr Major major_of_b(const GemmProblem& p) { return p.transb ? Major::kMN : Major::kK; }

// How a k step of an operand comes into shared memory.
enum class OperandLoad : uint8_t {
  kTensorMap,    // by the tensor memory accelerator
  kShiftedMaps,  // the same, where lines begin anywhere: see has_shifted_maps()
  kCopy16,       // copies of 16 bytes
  kCopy4,        // copies of 4 bytes, which take any alignment
  kTransposing   // copies of 4 bytes that turn a K-major operand into an MN-major one
};

// Every matrix of the operand begins at a multiple of 16 bytes, and so do its columns. The
// alignment of matrices in pointer arrays is not known.
inline bool columns_aligned(const Operand& x, int64_t batch_count) {
  const int64_t within_16_bytes = element_bytes(x.type) == 4 ? 3 : 7;
  return !x.pointers && reinterpret_cast<uintptr_t>(x.data) % 16 == 0 &&
         (x.ld & within_16_bytes) == 0 && (batch_count == 1 || (x.stride & within_16_bytes) == 0);
}

// Whether a tensor map can describe the operand: see TensorMapShape for the rules.
inline bool has_tensor_map(const Operand& x, int64_t batch_count) {
  constexpr int64_t kMostPitch = int64_t{1} << 36;
  return columns_aligned(x, batch_count) && x.ld > 0 && x.ld < kMostPitch &&
         (batch_count == 1 || (x.stride >= 0 && x.stride < 4 * kMostPitch));
}

// Whether four tensor maps can describe an operand of FP32 whose lines, along its contiguous
// direction, begin at any multiple of 4 bytes. Every fourth line is a multiple of 16 bytes further
// on. So the lines r, r + 4, and so on, beginning at the multiple of 16 bytes before them, are a
// tensor in which all elements lie the same number of places, 0 to 3, further on. Every map has
// lines.
inline bool has_shifted_maps(const Operand& x, int64_t lines, int64_t batch_count) {
  constexpr int64_t kMostPitch = int64_t{1} << 34;
  return x.type == MYGEMM_R_32F && !x.pointers && reinterpret_cast<uintptr_t>(x.data) % 4 == 0 &&
         lines >= 4 && x.ld > 0 && x.ld < kMostPitch &&
         (batch_count == 1 || (x.stride >= 0 && x.stride % 4 == 0 && x.stride < 16 * kMostPitch));
}

// The transposed product, D^T = op(B)^T op(A)^T. C, D and the bias stay as they are: a kernel that
// computes it stores the transpose of its results.
constexpr GemmProblem transposed(const GemmProblem& p) {
  GemmProblem q = p;
  q.transa = !p.transb, q.transb = !p.transa;
  q.m = p.n, q.n = p.m;
  q.a = p.b, q.b = p.a;
  return q;
}

}  // namespace mygemm
