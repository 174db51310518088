// Products of 16-bit operands: the main loop of the consumer warps. Device only.
#pragma once

#include <type_traits>

#include "kernels/gemm/tensor16/feed.cuh"
#include "ptx/shared.cuh"
#include "ptx/wgmma.cuh"

namespace mygemm::tensor16 {

// A thread's sums of 64 x kColumns results of its warpgroup, as wgmma has them.
template <class Tile>
using Results = float[Tile::kColumns / 2];

// A consumer warp that has read a stage frees it in all blocks of the cluster that copy to it,
// those with the same rows or the same columns: each lane at one rank. Ranks are worked out once;
// in the loop of the products they have ptxas run these one after the other (C7515). Lane 0, which
// has read the stage's work item, arrives in its own block.
template <class Tile>
struct StageFreeing {
  static constexpr int kM = Tile::kClusterM, kN = Tile::kClusterN;
  static_assert((kM & (kM - 1)) == 0 && (kN & (kN - 1)) == 0, "ranks are told apart by bits");
  unsigned rank = 0;
  bool arrives;

  __device__ __forceinline__ explicit StageFreeing(int lane) : arrives(lane < kFreeingLanes<Tile>) {
    if constexpr (Tile::kCluster > 1) {
      const int other = lane < kM ? lane : (lane - kM + 1) * kM;
      rank = static_cast<unsigned>(other) ^ ptx::cluster_rank();
    }
  }
  __device__ __forceinline__ void operator()(uint64_t* free) const {
    if constexpr (Tile::kCluster == 1) {
      if (arrives) ptx::mbarrier_arrive(free);
    } else {
      if (arrives) ptx::mbarrier_arrive_in(rank, free);
    }
  }
};

// The elements of the operands, and how they lie.
template <bool kBf16_, Major kA_, Major kB_>
struct Operands {
  static constexpr bool kBf16 = kBf16_;
  static constexpr Major kA = kA_, kB = kB_;
};

// The Operands of a product by number.
__device__ __forceinline__ int layout_of(bool transa, bool transb, mygemmDataType_t type) {
  return ptx::warp_uniform((transa ? 1 : 0) + (transb ? 2 : 0) + (type == MYGEMM_R_16BF ? 4 : 0));
}
__device__ __forceinline__ int layout_of(const GemmProblem& p) {
  return layout_of(p.transa, p.transb, p.a.type);
}

// Calls body with the Operands of a number; kBf16Alone: those that are not FP32 are BF16.
template <bool kBf16Alone, class Body>
__device__ __forceinline__ void with_operands(int layout, const Body& body) {
  const auto of_type = [&](auto bf16) {
    constexpr bool kBf16 = decltype(bf16)::value;
    switch (layout % 4) {
      case 0: return body(Operands<kBf16, Major::kMN, Major::kK>{});
      case 1: return body(Operands<kBf16, Major::kK, Major::kK>{});
      case 2: return body(Operands<kBf16, Major::kMN, Major::kMN>{});
      default: return body(Operands<kBf16, Major::kK, Major::kMN>{});
    }
  };
  if (kBf16Alone || layout >= 4) return of_type(std::true_type{});
  if constexpr (!kBf16Alone) of_type(std::false_type{});
}

// The first of an array's elements, which stay in registers.
template <int kCount, int kAll>
__device__ __forceinline__ float (&first_of(float (&all)[kAll]))[kCount] {
  static_assert(kCount <= kAll);
  return reinterpret_cast<float(&)[kCount]>(all);
}

// Adds the products of `steps` k steps to `sum`, those in the ring of `s` from `place` on; of the
// first kColumns columns.
template <class Operands, class Tile, int kColumns = Tile::kColumns, class Shared>
__device__ __forceinline__ void multiply(Results<Tile>& sum, Shared& s,
                                         persistent::RingPlace<Tile::kStages>& place, int steps,
                                         int warp, int lane) {
  constexpr bool kMNMajorA = Operands::kA == Major::kMN, kMNMajorB = Operands::kB == Major::kMN;
  constexpr int kGroups = Tile::kBlockK / 16;  // of 16 k, as the tensor cores take them
  // From one group to the next, in units of 16 bytes.
  constexpr int kNextA = (kMNMajorA ? 16 * Tile::kLineBytes : 32) / 16;
  constexpr int kNextB = (kMNMajorB ? 16 * Tile::kLineBytes : 32) / 16;
  const unsigned a = ptx::in_uniform_register(ptx::wgmma_matrix_16<kMNMajorA>(
      ptx::shared_address(s.a) + static_cast<unsigned>(warp / 4 * (64 * Tile::kLineBytes))));
  const unsigned b =
      ptx::in_uniform_register(ptx::wgmma_matrix_16<kMNMajorB>(ptx::shared_address(s.b)));
  const StageFreeing<Tile> free_stage(lane);
  int previous = place.slot;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    const unsigned stage_a = a + static_cast<unsigned>(place.slot * (Tile::kStageA / 16));
    const unsigned stage_b = b + static_cast<unsigned>(place.slot * (Tile::kStageB / 16));
    ptx::wgmma_fence();
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      ptx::wgmma_16<Operands::kBf16, kColumns, kMNMajorA, kMNMajorB>(
          first_of<kColumns / 2>(sum), stage_a + g * kNextA, stage_b + g * kNextB, true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait_for_operands<1>();
    if (step > 0) free_stage(&s.free[previous]);
    previous = place.slot;
    place.advance(1);
  }
  ptx::wgmma_wait(first_of<kColumns / 2>(sum));
  free_stage(&s.free[previous]);
  if (steps == 0) place.advance(1);
}

}  // namespace mygemm::tensor16
