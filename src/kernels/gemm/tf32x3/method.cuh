// Three TF32 products for each FP32 one, as a method of the kernels on tensor cores (tensor/).
// Device only.
#pragma once

#include "kernels/gemm/tf32x3/multiply.cuh"
#include "kernels/gemm/tf32x3/split.cuh"

namespace mygemm::tf32x3 {

struct Method {
  using Part = float;
  // An unsplit K-major B is its own high part.
  template <class Operands>
  static constexpr bool kFreesB = Operands::kB == Major::kMN;
  template <class Operands>
  static constexpr int kPartsOfB = kFreesB<Operands> ? 2 : 1;

  template <class Operands>
  static constexpr bool kInPairs = false;
  using StatisticsOfB = tf32x3::StatisticsOfB;
  static constexpr bool kTellsFirstStep = false;

  // Splits a part of a k step of B, `step`, into low and high part.
  template <class Tile, class Operands, int kParts, int kStage>
  static __device__ __forceinline__ void split_b(float (&to)[kParts][kStage], const float* step,
                                                 const tensor::OperandMap&, int part,
                                                 StatisticsOfB& seen, int warp, int lane) {
    if constexpr (kFreesB<Operands>) {
      split_transposed<Tile>(step, to[1], to[0], part, seen, warp, lane);
    } else {
      split_in_place<Tile>(step, to[0], part, seen, warp, lane);
    }
  }

  // From 2^-113 on both parts of a value are as precise as any.
  static constexpr float kExact = 0x1p-113f;

  template <class Tile, class Shared, class Rows, class First>
  static __device__ __forceinline__ WorkItem multiply(tensor::Results<Tile>& sum, float& least,
                                                      Shared& s, int& unit, const Rows& rows,
                                                      const First&) {
    return tf32x3::multiply<Tile>(sum, least, s, unit, rows);
  }
};

}  // namespace mygemm::tf32x3
