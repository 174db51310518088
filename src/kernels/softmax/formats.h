// The element types and layouts that softmax kernels are compiled for. Pure.
#pragma once

#include <type_traits>

#include "problem.h"

namespace mygemm {

// The element widths of a call's matrices.
enum class Widths { kFp32, k16Bit, kMixed };

// How exponentials are computed.
enum class Exp {
  k16Bit,       // for results of 16 bits
  kUnit,        // by the special function unit, whose error is 2.5 * 2^-24
  kPolynomial,  // to the last bit, by five instructions more
  kDirect,  // in two instructions, within 2^-22 for x near the reference and |x| 2^-25 elsewhere
};

// The element widths a kernel is compiled for, and how many elements one vectorised access moves.
// Kernels branch at run time between fp16 and bf16, which costs nothing measurable; a kernel for
// each combination of the three types would be four times as many.
//   kPack         elements of one access of a thread: a pack
//   kWords        32-bit registers that hold a pack
//   kAccurate     some result has more than 16 bits
//   kThorough     results in FP32 of rows that registers hold are within 4.5 ulp. Elsewhere that
//                 costs time (bench/experiments.md)
//   Total         type in which their lanes' sums are added: each rounding in FP32 is half an ulp
//   kKeepsFloats  packs are kept as floats, and exponentials replace x; otherwise packs are kept in
//                 their own type, in half the registers, and the cheap exponentials of 16-bit
//                 results are computed twice
template <int kWidestBytes, int kNarrowestBytes, int kPackElements>
struct Format {
  static constexpr int kWidest = kWidestBytes, kNarrowest = kNarrowestBytes;
  static constexpr int kPack = kPackElements;
  static constexpr bool kAccurate = kWidest == 4;
  static constexpr bool kThorough = kAccurate && kPack > 1;
  using Total = std::conditional_t<kThorough, double, float>;
  static constexpr bool kKeepsFloats = kPack < 8;
  static constexpr int kWords = kKeepsFloats ? kPack : kPack / 2;
  static constexpr Widths kWidths = kWidest != kNarrowest ? Widths::kMixed
                                    : kWidest == 4        ? Widths::kFp32
                                                          : Widths::k16Bit;
};

// A pack is 16 bytes of the wider elements. Rows that are not aligned to packs are moved by single
// elements, coalesced.
using Fp32Packs = Format<4, 4, 4>;
using Fp32Elements = Format<4, 4, 1>;
using Packs16 = Format<2, 2, 8>;
using Elements16 = Format<2, 2, 1>;
using MixedPacks = Format<4, 2, 4>;
using MixedElements = Format<4, 2, 1>;

// The exponentials of rows that registers hold, and of wide rows.
template <class Format>
constexpr Exp kNarrowExp = Format::kThorough   ? Exp::kPolynomial
                           : Format::kAccurate ? Exp::kUnit
                                               : Exp::k16Bit;
template <class Format>
constexpr Exp kWideExp = Format::kAccurate ? Exp::kUnit : Exp::k16Bit;

// Alignment of the rows of a call's matrices. It is the same for all rows and does not depend on
// their number, because the bits of a row's result depend on it.
enum class Layout {
  kPacks,   // every row consists of whole aligned packs
  kInStep,  // each row has the same offset from a multiple of a pack in all matrices
  kAny
};

// The properties of a call by which softmax kernels are selected. They depend on columns, types and
// alignment only.
struct RowShape {
  Widths widths;
  Layout layout;
  int64_t packs;  // that a row may touch; single elements where the layout is kAny
};

constexpr Widths widths_of(const SoftmaxProblem& p) {
  const int64_t in = element_bytes(p.in.type), out = element_bytes(p.out.type);
  const int64_t dy = p.backward ? element_bytes(p.dy.type) : in;
  if (in != out || in != dy) return Widths::kMixed;
  return in == 4 ? Widths::kFp32 : Widths::k16Bit;
}

// Elements of a pack.
constexpr int pack_of(Widths widths) {
  return widths == Widths::k16Bit ? Packs16::kPack : Fp32Packs::kPack;
}

inline Layout layout_of(const SoftmaxProblem& p, Widths widths) {
  const auto mask = static_cast<uint64_t>(pack_of(widths) - 1);  // packs are powers of two
  // Elements between a multiple of a pack and the first row, and the same for each next row.
  const auto offset = [mask](const TypedMatrix& matrix) {
    return reinterpret_cast<uintptr_t>(matrix.data) >> (matrix.type == MYGEMM_R_32F ? 2 : 1) & mask;
  };
  const auto advance = [mask](const TypedMatrix& matrix) {
    return static_cast<uint64_t>(matrix.ld) & mask;
  };
  const uint64_t in_offset = offset(p.in), in_advance = advance(p.in);
  const auto in_step = [&](const TypedMatrix& matrix) {
    return offset(matrix) == in_offset && advance(matrix) == in_advance;
  };
  if (!in_step(p.out) || (p.backward && !in_step(p.dy))) return Layout::kAny;
  const bool whole = ((static_cast<uint64_t>(p.cols) & mask) | in_offset | in_advance) == 0;
  return whole ? Layout::kPacks : Layout::kInStep;
}

inline RowShape row_shape(const SoftmaxProblem& p) {
  const Widths widths = widths_of(p);
  const Layout layout = layout_of(p, widths);
  // Divisors that the compiler knows.
  const auto in_packs = [widths](int64_t elements) {
    return widths == Widths::k16Bit ? elements / pack_of(Widths::k16Bit)
                                    : elements / pack_of(Widths::kFp32);
  };
  switch (layout) {
    case Layout::kPacks: return {widths, layout, in_packs(p.cols)};
    case Layout::kInStep: return {widths, layout, in_packs(p.cols - 1) + 2};
    case Layout::kAny: break;
  }
  return {widths, layout, p.cols};
}

// Calls body with the format of packs, or of single elements, for the widths.
template <class Body>
auto with_packs(Widths widths, Body body) {
  switch (widths) {
    case Widths::kFp32: return body(Fp32Packs{});
    case Widths::k16Bit: return body(Packs16{});
    case Widths::kMixed: break;
  }
  return body(MixedPacks{});
}
template <class Body>
auto with_elements(Widths widths, Body body) {
  switch (widths) {
    case Widths::kFp32: return body(Fp32Elements{});
    case Widths::k16Bit: return body(Elements16{});
    case Widths::kMixed: break;
  }
  return body(MixedElements{});
}

}  // namespace mygemm
