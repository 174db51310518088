// Products on tensor cores: the rows of A and the results that a lane of a consumer warp has.
// Device only.
#pragma once

#include "kernels/gemm/tensor/feed.cuh"
#include "ptx/shared.cuh"

namespace mygemm::tensor {

// Results of a thread, in the order of wgmma: 2 columns of 2 rows, for every 8 columns.
template <class Tile>
using Results = float[Tile::kBlockN / 2];

// The places of a thread's values of A in a stage, and the rows of its results in the tile. Of 8 k
// a lane has two, t = lane % 4 and t + 4, or, kInPairs, 2 t and the next, of two rows. Any
// assignment of rows to warps is correct, and any order of k that B has too: these are such that
// the loads of 32 lanes have no bank conflicts. A warp has 16 neighbouring rows, but where A is
// MN-major and k are not in pairs, 8 neighbours and the 8 that are 16 further on.
template <Major kMajor, bool kInPairs_>
struct RowsOfA {
  static constexpr bool kKMajor = kMajor == Major::kK, kInPairs = kInPairs_;
  static constexpr bool kNeighbours = kKMajor || kInPairs;
  static_assert(!(kKMajor && kInPairs), "such loads have bank conflicts");

  unsigned first;  // bytes from the beginning of the stage: the first row's, at the lane's first k

  __device__ RowsOfA(int warp, int lane, const OperandMap&) {
    const unsigned group = lane / 4, t = lane % 4;
    if (kKMajor) {
      first = (16 * warp + group) * 128 + group * 16 + t * 4;
    } else if (kInPairs) {
      const unsigned chunk = warp % 2 * 4 + group / 4;
      first = warp / 2 * 4096 + 2 * t * 128 + (chunk ^ 2 * t) * 16 + group % 4 * 4;
    } else {
      const unsigned chunk = warp % 2 * 2 + group / 4 * 4;
      first = warp / 2 * 4096 + t * 128 + (chunk ^ t) * 16 + group % 4 * 4;
    }
  }

  // The places of the four values of products of 8 k, the group-th from k on, in the order in which
  // wgmma_tf32() takes them. k is a multiple of 16, and the compiler need not know it.
  __device__ __forceinline__ unsigned place(int value, unsigned stage, unsigned k,
                                            int group) const {
    const int half = value / 2, row = value % 2;
    if (kKMajor) return stage + (first ^ (k * 4 + (2 * group + half) * 16)) + row * 8 * 128;
    if (kInPairs) return stage + (first ^ (row * 32 + half * 16)) + (k + 8 * group + half) * 128;
    return stage + k * 128 + (first ^ (row * 16 + half * 64)) + (8 * group + 4 * half) * 128;
  }
  __device__ __forceinline__ void load(unsigned (&x)[4], unsigned stage, unsigned k,
                                       int group) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = ptx::load_shared_4(place(i, stage, k, group));
  }
  __device__ __forceinline__ void store(const unsigned (&x)[4], unsigned stage, unsigned k,
                                        int group) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) ptx::store_shared_4(place(i, stage, k, group), x[i]);
  }

  // The tile's row of a warp's row number `index`.
  static __device__ __forceinline__ int row(int warp, int index) {
    if (kNeighbours) return 16 * warp + index;
    return warp / 2 * 32 + warp % 2 * 8 + index / 8 * 16 + index % 8;
  }

  // The sum over the lanes that load values of the same rows: the rows of a lane's results as they
  // are stored, of index lane / 4 and 8 further on.
  static __device__ __forceinline__ float sum_of_rows(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    x += __shfl_xor_sync(0xffffffffu, x, 2);
    if (!kNeighbours) x += __shfl_xor_sync(0xffffffffu, x, 16);
    return x;
  }
};

// The same where A came by shifted maps, whose lines are 4 banks apart and have up to 4 different
// shifts. A warp has 16 neighbouring rows. Value h (0 or 1) of a lane in the c-th group of 8 k is
//   A MN-major: that of k = 4 (2 t + h) + c, whose lines are neighbours in the stage: no conflicts;
//   A K-major: that of k = 8 c + 4 h + (t ^ c). 8 neighbouring rows are two lines of each map, and
//     loads have up to four-way bank conflicts. They hardly count: with two-way ones, 4096^3 TN
//     took 0.6 % less time on an H200. The exclusive or of t is for those who split B:
//     split_shifted.cuh.
template <Major kMajor, int kBlock>
struct ShiftedRowsOfA {
  static constexpr bool kKMajor = kMajor == Major::kK, kNeighbours = true;
  using Stage = ShiftedStage<kMajor, kBlock>;

  const ShiftedMaps& maps;
  unsigned first;  // bytes from the beginning of the stage: the first row's, at the first k
  unsigned t;

  __device__ ShiftedRowsOfA(int warp, int lane, const ShiftedMaps& a) : maps(a), t(lane % 4) {
    const int row = 16 * warp + lane / 4;
    first = (kKMajor ? Stage::number_of(row) * Stage::kPitch + a.shifts[row % ShiftedMaps::kMaps]
                     : 2 * t * Stage::kPitch + row) *
            sizeof(float);
  }

  __device__ __forceinline__ unsigned place(int value, unsigned stage, int c) const {
    const int h = value / 2, lower = value % 2;
    if (kKMajor) {
      constexpr int kEightRows = 8 / ShiftedMaps::kMaps * Stage::kPitch;
      return stage + first + ((t ^ c) + 8 * c + 4 * h + lower * kEightRows) * sizeof(float);
    }
    return stage + first +
           (maps.shifts[c] + (8 * c + h) * Stage::kPitch + lower * 8) * sizeof(float);
  }
  __device__ __forceinline__ void load(unsigned (&x)[4], unsigned stage, unsigned,
                                       int group) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = ptx::load_shared_4(place(i, stage, group));
  }
  __device__ __forceinline__ void store(const unsigned (&x)[4], unsigned stage, unsigned,
                                        int group) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) ptx::store_shared_4(place(i, stage, group), x[i]);
  }

  static __device__ __forceinline__ int row(int warp, int index) { return 16 * warp + index; }
  static __device__ __forceinline__ float sum_of_rows(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
  }
};

// Those of a tile's Method.
template <class Tile, class Operands>
using RowsOf = std::conditional_t<Operands::kShifted, ShiftedRowsOfA<Operands::kA, Tile::kBlockM>,
                                  RowsOfA<Operands::kA, Tile::Method::template kInPairs<Operands>>>;

}  // namespace mygemm::tensor
