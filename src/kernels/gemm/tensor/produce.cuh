// Products on tensor cores: the producer warps, which bring k steps into shared memory and have the
// tile's Method split B. Device only.
#pragma once

#include "kernels/gemm/tensor/feed.cuh"
#include "ptx/bulk.cuh"

namespace mygemm::tensor {

// The work of the producer warps, until all k steps of the block are split. A part of step i is
// split once the products of step i - kPlanes have read its planes. When that holds for all parts,
// they have read their stage too, and the step kStages after them takes it. Where these warps write
// all of B's parts, B's stage is free as soon as all of them have split it.
template <class Tile, class Shared>
__device__ __forceinline__ void produce(Shared& s, const persistent::Args& args,
                                        const typename Shared::Operands::Maps& a,
                                        const typename Shared::Operands::Maps& b, int warp,
                                        int lane) {
  using Method = typename Tile::Method;
  constexpr int kAhead = Shared::kAhead, kPlanes = Shared::kPlanes;
  persistent::StepCursor<Tile> loads(args.schedule, ptx::warp_uniform(s.block), args.order),
      at = loads;
  persistent::RingPlace<Shared::kStages> place;
  persistent::RingPlace<Shared::kStagesB> place_b;
  persistent::RingPlace<kPlanes> plane;
  const auto note = [&] { return kPlanes * plane.parity + plane.slot; };
  const auto load_next = [&](int stage, int stage_b) {
    if (!loads.valid()) return;
    load_step<Tile>(s, args.p, a, b, loads, stage, stage_b, warp, lane);
    loads.advance(1, args.order);
  };
  for (int i = 0; i < kAhead; ++i) load_next(i, i);

  typename Method::StatisticsOfB seen;
  while (at.valid()) {
    const int stage_b = Shared::kFreesB ? place_b.slot : place.slot;
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    if (warp == 0 && lane == 0) s.items[note()] = at.item;
#pragma unroll
    for (int part = 0; part < Tile::kParts; ++part) {
      // The first kPlanes wait for nothing.
      ptx::mbarrier_wait(&s.free[plane.slot][part], plane.parity ^ 1);
      Method::template split_b<Tile, typename Shared::Operands>(s.parts[plane.slot], s.b[stage_b],
                                                                b, part, seen, warp, lane);
      const bool begins = Method::kTellsFirstStep && at.begins_item();
      if (part + 1 == Tile::kParts && (begins || at.ends_item())) {
        const auto of_warp = seen.of_warp();
        if (lane == 0) s.b_statistics[plane.slot][warp] = of_warp;
        if (at.ends_item()) seen = {};
      }
      ptx::fence_bulk();
      ptx::mbarrier_arrive(&s.split[plane.slot][part]);
    }
    const int next = place.slot < kPlanes ? place.slot + kAhead : place.slot - kPlanes;
    if constexpr (Shared::kFreesB) {
      if (!Shared::Operands::kMapped || loads_stage<Tile>(next, warp)) {
        ptx::mbarrier_wait(&s.split[plane.slot][Tile::kParts - 1], plane.parity);
      }
      load_next(next, stage_b);
    } else {
      load_next(next, next);
    }
    at.advance(1, args.order);
    place.advance(1);
    place_b.advance(1);
    plane.advance(1);
  }
  ptx::mbarrier_wait(&s.free[plane.slot][0], plane.parity ^ 1);
  if (warp == 0 && lane == 0) s.items[note()] = {kNoTile, 0, 0};
  ptx::mbarrier_arrive(&s.split[plane.slot][0]);
  if constexpr (!Shared::Operands::kMapped) ptx::cp_async_wait_all();
}

}  // namespace mygemm::tensor
