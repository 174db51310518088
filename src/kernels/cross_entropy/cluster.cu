// Cross entropy of wide rows, read once: the shared memory of a cluster of blocks holds a row, in
// its own type, between its sum and its gradient, while the next row is being loaded. Lowest
// SM: 90.
//
// As in the softmax's cluster kernel, each warp owns one run of the row and a ring of slots for its
// tiles, starts the copies into them itself, and adds tiles of the next row while the other blocks'
// sums of this one arrive; rows that follow are drawn from a counter.
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/tiles.cuh"
#include "kernels/launch.h"
#include "kernels/softmax/exchange.cuh"
#include "kernels/softmax/own_tiles.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// Whether exponentials are kept in the slot in place of logits; else they are computed twice.
template <class Format>
constexpr bool kWritesBack = Format::kWidths == Widths::kFp32;

// A row that a warp adds up, and what it has added so far.
template <class Format>
struct RowInWork {
  WideRow<Format> row;
  Target target;
  TargetPlace<Format> place;
  LaneLoss<Format> loss{};
  float logit = 0.0f;  // the target's, where its tile is the warp's
  int added = 0;       // tiles

  __device__ __forceinline__ RowInWork(const CrossEntropyProblem& p, int number, int64_t given)
      : row(p.softmax(), number), target(p, given), place(target, row) {}
};

// The state of a warp and its operations on tiles.
template <class Format>
struct Warp {
  const CrossEntropyProblem& p;
  const ClusterRing& ring;
  unsigned char* slots;
  uint64_t* full;
  float* maxima;  // of each lane's part of each tile
  const OwnTiles own;
  const int used_slots;  // at most the tiles of two rows
  const Scale scale;
  Position add_at{}, write_at{};  // of the next tile to add, to write
  int load_row;
  int loaded = 0;  // tiles of load_row

  __device__ __forceinline__ FullPlace all() const { return {static_cast<int>(threadIdx.x) % 32}; }
  __device__ __forceinline__ unsigned char* slot(int number) const {
    return slots + number * ring.slot_bytes;
  }
  // Starts the copy of the next tile: after the last one of a row, the first one of `next_row`.
  __device__ __forceinline__ void start_tile(int to, int next_row) {
    if (loaded == own.count) {
      loaded = 0;
      load_row = next_row;
    }
    if (load_row < p.rows) {
      const WideRow<Format> row(p.softmax(), load_row);
      start_copy(p.x, TileOfRow<Format>(row, own.first + loaded), p.rows - 1, slot(to), &full[to]);
    }
    ++loaded;
  }
  // Takes the target's logit out of the tile in a slot, which then has -inf there; every lane gets
  // it.
  __device__ __forceinline__ float take_target(int from, const TargetPlace<Format>& place) const {
    constexpr int kPack = Format::kPack;
    float taken = 0.0f;
    if (place.element >= 0) {
      const int pack = place.element / kPack * 32 + place.lane;
      with_type<Format>(p.x.type, [&](auto zero) {
        using T = decltype(zero);
        T* const logit = reinterpret_cast<T*>(slot(from)) + pack * kPack + place.element % kPack;
        taken = to_float(*logit);
        *logit = from_float<T>(-INFINITY);
      });
    }
    return __shfl_sync(0xffffffffu, taken, place.lane);
  }

  // Adds the next tile of a row.
  __device__ __forceinline__ void add_tile(RowInWork<Format>& work) {
    const int number = own.first + work.added++;
    ptx::mbarrier_wait(&full[add_at.slot], add_at.phase);
    if (number == work.place.tile) work.logit = take_target(add_at.slot, work.place);
    Tile<Format> x;
    load(x, slot(add_at.slot), p.x.type, all(), 0.0f);
    const TileOfRow<Format> tile(work.row, number);
    if (!tile.full()) mask<Format>(x, tile.place(), p.x.type, -INFINITY);
    const float maximum = work.loss.add(p, scale, x, number, tile.place(), work.place);
    if constexpr (Format::kKeepsFloats) maxima[add_at.slot * 32] = maximum;
    if constexpr (kWritesBack<Format>) store(x, slot(add_at.slot), p.x.type, all());
    add_at.advance(used_slots);
  }
  // Writes the gradient of tile k, and refills its slot.
  __device__ __forceinline__ void write_tile(const RowInWork<Format>& work, int k,
                                             const RowGradient& gradient, int next_row) {
    Tile<Format> e;
    load(e, slot(write_at.slot), p.x.type, all(), 0.0f);
    if constexpr (Format::kKeepsFloats) {
      const float maximum = maxima[write_at.slot * 32];
      if constexpr (!kWritesBack<Format>) tile_exponentials(p, scale, e, maximum);
      finish_tile(scale, e, maximum, gradient);
    } else {
      finish_logits<Format>(p, scale, e, gradient);
    }
    free_slot(next_row);
    const int number = own.first + k;
    const TileOfRow<Format> tile(work.row, number);
    if (tile.full()) {
      store(e, tile.address(p.dx), p.dx.type, all());
    } else {
      store(e, tile.address(p.dx), p.dx.type, tile.place());
    }
    if (number == work.place.tile) {
      write_target(p, gradient, work.row.row, work.target, work.place);
    }
  }
  // Refills the slot of the next tile to write, which has been read; `next_row` is as above.
  __device__ __forceinline__ void free_slot(int next_row) {
    ptx::fence_bulk();
    __syncwarp();  // no lane reads the slot any more
    start_tile(write_at.slot, next_row);
    write_at.advance(used_slots);
  }
};

template <class Format>
__global__ void __launch_bounds__(kClusterThreads, 1)
    cross_entropy_cluster(const CrossEntropyProblem p, const WideRows rows, const ClusterRing ring,
                          unsigned* counter) {
  auto& shared = shared_storage<LossStorage>();
  const int warp_number = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  const int blocks = static_cast<int>(ptx::cluster_blocks());
  const int clusters = static_cast<int>(ptx::cluster_count());
  const OwnTiles own(rows, ring, warp_number);
  const bool smooth = p.label_smoothing > 0.0f;
  int number = static_cast<int>(ptx::cluster_number()), next = number + clusters;
  const int all_slots = kClusterWarps * ring.slots, first_slot = warp_number * ring.slots;
  auto* slots = reinterpret_cast<unsigned char*>(&shared + 1);
  auto* full = reinterpret_cast<uint64_t*>(slots + all_slots * ring.slot_bytes);
  auto* maxima = reinterpret_cast<float*>(full + all_slots);
  Warp<Format> warp{p,
                    ring,
                    slots + first_slot * ring.slot_bytes,
                    full + first_slot,
                    maxima + first_slot * 32 + lane,
                    own,
                    ring.slots < 2 * own.count ? ring.slots : 2 * own.count,
                    logit_scale(p),
                    {},
                    {},
                    number};
  if (lane == 0) {
    for (int slot = 0; slot < ring.slots; ++slot) ptx::mbarrier_init(&warp.full[slot], 1);
    if (warp_number == 0) {
      for (LossExchange& exchange : shared.exchange) {
        ptx::mbarrier_init(&exchange.barrier, kExchangeArrivals);
      }
    }
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_sync();  // every block's barriers exist
  for (int slot = 0; slot < warp.used_slots; ++slot) warp.start_tile(slot, next);

  const int cluster_runs = blocks * kClusterWarps;
  const auto sent_bytes = static_cast<unsigned>(8 * (cluster_runs * (smooth ? 2 : 1) + 2));
  Position turn;  // of the two exchanges
  RowInWork<Format> now(p, number, p.target(number));
  while (number < p.rows) {
    LossExchange& exchange = shared.exchange[turn.slot];
    const int64_t given = next < p.rows ? p.target(next) : 0;
    const float weight = p.has_gradient() ? p.weight(number) : 0.0f;
    int after_next = next + clusters;
    if (threadIdx.x == 0 && own.first_run == 0 && counter) {
      after_next = 2 * clusters + static_cast<int>(atomicAdd(counter, 1u));
    }
    while (now.added < own.count) warp.add_tile(now);
    const MaxSum run = now.loss.sum.template run<false>(warp.scale);
    send(&exchange.run[own.first_run], &exchange.barrier, bits_of(run));
    if (smooth) {
      const float mean = warp_reduce<Sum>(now.loss.mean);
      send(&exchange.mean[own.first_run], &exchange.barrier, __float_as_uint(mean));
    }
    const int target_tile = now.place.tile;
    const bool has_target = own.first <= target_tile && target_tile < own.first + own.count;
    if (has_target || (own.first_run == 0 && target_tile < 0)) {
      send(&exchange.target, &exchange.barrier, __float_as_uint(now.logit));
    }
    if (own.first_run == 0) {
      after_next = ptx::warp_uniform(after_next);
      send(&exchange.row_after_next, &exchange.barrier, static_cast<unsigned>(after_next));
    }
    arrive(&exchange.barrier, sent_bytes);
    // While the other blocks' values arrive: adds the tiles of the next row that are in slots.
    RowInWork<Format> then(p, next, given);
    if (next < p.rows) {
      while (then.added < warp.used_slots - own.count) warp.add_tile(then);
    }
    ptx::mbarrier_wait(&exchange.barrier, turn.phase);
    // Broadcast from one lane, so that the compiler knows the value to be warp-uniform.
    after_next = ptx::warp_uniform(static_cast<int>(exchange.row_after_next));
    const MaxSum others = combine_runs<false>(warp.scale, exchange.run, cluster_runs);
    const LossParts parts = parts_of<kLossExp<Format>>(
        warp.scale, now.target, others, __uint_as_float(static_cast<unsigned>(exchange.target)));
    if (p.has_gradient()) {
      const RowGradient gradient = gradient_of_row<kLossExp<Format>>(p, now.target, parts, weight);
      for (int k = 0; k < own.count; ++k) {
        warp.write_tile(now, k, gradient, warp.load_row == number ? next : after_next);
      }
    } else {
      for (int k = 0; k < own.count; ++k) {
        warp.free_slot(warp.load_row == number ? next : after_next);
      }
    }
    if (own.first_run == 0) {
      float mean = 0.0f;
      if (smooth) {
        mean = combine_means(cluster_runs, [&](int i) {
          return __uint_as_float(static_cast<unsigned>(exchange.mean[i]));
        });
      }
      if (lane == 0) store_loss(p, number, now.target, parts, mean);
    }
    number = next;
    next = after_next;
    now = then;
    turn.advance(2);
  }
}

}  // namespace

Status cuda::launch_cross_entropy_cluster(const CrossEntropyProblem& p,
                                          const CrossEntropyConfig& config,
                                          const LaunchContext& context) {
  unsigned* counter = nullptr;
  if (config.workspace_bytes > 0) {
    counter = static_cast<unsigned*>(context.workspace);
    CUDA_TRY(cudaMemsetAsync(counter, 0, config.workspace_bytes, context.stream));
  }
  return with_packs(config.shape.widths, [&](auto format) {
    return launch(context, cross_entropy_cluster<decltype(format)>, config, p, config.rows,
                  config.ring, counter);
  });
}

}  // namespace mygemm
