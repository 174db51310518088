// Six BF16 products for each FP32 one, as a method of the kernels on tensor cores (tensor/).
// Device only.
#pragma once

#include "kernels/gemm/bf16x6/multiply.cuh"
#include "kernels/gemm/bf16x6/split.cuh"
#include "kernels/gemm/bf16x6/split_shifted.cuh"

namespace mygemm::bf16x6 {

struct Method {
  using Part = uint16_t;  // the bits of a BF16 value
  template <class Operands>
  static constexpr bool kFreesB = true;
  template <class Operands>
  static constexpr int kPartsOfB = kPartsOfElement;
  template <class Operands>
  static constexpr bool kInPairs = Operands::kA == Major::kMN;

  using StatisticsOfB = bf16x6::StatisticsOfB;
  static constexpr bool kTellsFirstStep = true;
  static constexpr float kExact = bf16x6::kExact;

  // Splits a k step of B into its parts.
  template <class Tile, class Operands, int kPart>
  static __device__ __forceinline__ void split_b(uint16_t (&to)[kPartsOfElement][kPart],
                                                 const float* step,
                                                 const typename Operands::Maps& maps, int,
                                                 StatisticsOfB& seen, int warp, int lane) {
    static_assert(Operands::kB == Major::kK || kInPairs<Operands>, "as a line of B lies");
    if constexpr (!Operands::kShifted) {
      split_step<Tile, kInPairs<Operands>>(to, step, seen, warp, lane);
    } else if constexpr (Operands::kB == Major::kK) {
      split_shifted_columns<Tile, Operands::kA>(to, step, maps.shifts[warp], seen, warp, lane);
    } else {
      split_shifted_lines<Tile>(to, step, maps.shifts[warp], seen, warp, lane);
    }
  }

  template <class Tile, class Shared, class Rows, class First>
  static __device__ __forceinline__ WorkItem multiply(tensor::Results<Tile>& sum, float& least,
                                                      Shared& s, int& step, const Rows& rows,
                                                      const First& in_first_step) {
    return bf16x6::multiply<Tile>(sum, least, s, step, rows, in_first_step);
  }
};

}  // namespace mygemm::bf16x6
