// The element types and layouts that softmax kernels are compiled for. Pure.
#pragma once

#include "problem.h"

namespace mygemm {

// Which widths of elements a call's matrices have, and how many elements are moved at once. Between
// fp16 and bf16 kernels branch at run time, which costs nothing measurable; kernels for each mix of
// the three types would be four times as many.
//   kPack   elements that a thread moves at once: a pack
//   kWords  32-bit registers that a pack is kept in
//   kAccurate      some result has more than 16 bits
//   kKeepsFloats   packs are kept as floats, and exponentials in the place of x; else as they came,
//                  half the registers, and the cheap exponentials of 16-bit results are taken twice
template <int kWidestBytes, int kNarrowestBytes, int kPackElements>
struct Format {
  static constexpr int kWidest = kWidestBytes, kNarrowest = kNarrowestBytes;
  static constexpr int kPack = kPackElements;
  static constexpr bool kAccurate = kWidest == 4;
  static constexpr bool kKeepsFloats = kPack < 8;
  static constexpr int kWords = kKeepsFloats ? kPack : kPack / 2;
};

// Rows are moved by packs of 16 bytes of their wider elements where that can be, else by single
// elements, neighbouring threads neighbouring ones.
using Fp32Packs = Format<4, 4, 4>;
using Fp32Elements = Format<4, 4, 1>;
using Packs16 = Format<2, 2, 8>;
using Elements16 = Format<2, 2, 1>;
using MixedPacks = Format<4, 2, 4>;
using MixedElements = Format<4, 2, 1>;

enum class Widths { kFp32, k16Bit, kMixed };

constexpr Widths widths_of(const SoftmaxProblem& p) {
  const int64_t in = element_bytes(p.in.type), out = element_bytes(p.out.type);
  const int64_t dy = p.backward ? element_bytes(p.dy.type) : in;
  if (in != out || in != dy) return Widths::kMixed;
  return in == 4 ? Widths::kFp32 : Widths::k16Bit;
}

// How the rows of a call's matrices lie, one for all rows, and no matter how many: the bits of a
// row depend on it.
enum class Layout {
  kPacks,   // every row is whole packs, aligned to their size
  kInStep,  // every row is as far past a multiple of a pack in one matrix as in the others
  kAny
};

// Elements of a pack of the problem's widths.
constexpr int64_t pack_of(const SoftmaxProblem& p) {
  return widths_of(p) == Widths::k16Bit ? Packs16::kPack : Fp32Packs::kPack;
}

inline Layout layout_of(const SoftmaxProblem& p) {
  const int64_t pack = pack_of(p);
  // Elements that a matrix's first row, and each row from the one before it, is out of step.
  const auto shift = [pack](const TypedMatrix& matrix) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(matrix.data) /
                                static_cast<uintptr_t>(element_bytes(matrix.type))) %
           pack;
  };
  const auto in_step = [&](const TypedMatrix& matrix) {
    return shift(matrix) == shift(p.in) && matrix.ld % pack == p.in.ld % pack;
  };
  if (!in_step(p.out) || (p.backward && !in_step(p.dy))) return Layout::kAny;
  const bool whole = p.cols % pack == 0 && p.in.ld % pack == 0 && shift(p.in) == 0;
  return whole ? Layout::kPacks : Layout::kInStep;
}

// Calls body with the packs, or the single elements, of the problem's widths.
template <class Body>
auto with_packs(const SoftmaxProblem& p, Body body) {
  switch (widths_of(p)) {
    case Widths::kFp32: return body(Fp32Packs{});
    case Widths::k16Bit: return body(Packs16{});
    case Widths::kMixed: break;
  }
  return body(MixedPacks{});
}
template <class Body>
auto with_elements(const SoftmaxProblem& p, Body body) {
  switch (widths_of(p)) {
    case Widths::kFp32: return body(Fp32Elements{});
    case Widths::k16Bit: return body(Elements16{});
    case Widths::kMixed: break;
  }
  return body(MixedElements{});
}

// What a thread moves of wide rows: elements of a pack, or 1.
inline int64_t pack_elements(const SoftmaxProblem& p) {
  return layout_of(p) == Layout::kAny ? 1 : pack_of(p);
}

// Packs that any row of the layout may touch.
inline int64_t packs_of_row(const SoftmaxProblem& p) {
  const int64_t pack = pack_of(p);
  switch (layout_of(p)) {
    case Layout::kPacks: return p.cols / pack;
    case Layout::kInStep: return (p.cols - 1) / pack + 2;
    case Layout::kAny: break;
  }
  return p.cols;
}

}  // namespace mygemm
