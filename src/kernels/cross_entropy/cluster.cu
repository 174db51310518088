// Cross entropy of wide rows, read once: the registers of a cluster of blocks hold the exponentials
// of a row between its sum and its gradient, while the next rows come to shared memory. Lowest
// SM: 90.
//
// Each warp owns one run of the row and a ring of slots for its tiles, and is its own producer: a
// slot is refilled as soon as its tile is in registers. Rows that follow are drawn from a counter,
// because multiprocessors do not get equal fractions of the memory bandwidth.
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/tiles.cuh"
#include "kernels/launch.h"
#include "kernels/softmax/exchange.cuh"
#include "kernels/softmax/own_tiles.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// A cluster's row, and the two after it, whose tiles may be in slots or on their way.
struct RowNumbers {
  int now, next, after;

  __device__ __forceinline__ int behind(int row) const { return row == now ? next : after; }
};

// The ring of a warp: its slots are filled with the tiles of one row after another.
template <class Format>
struct TileFeed {
  const CrossEntropyProblem& p;
  const ClusterRing& ring;
  const OwnTiles& own;
  unsigned char* slots;
  uint64_t* full;
  const int used_slots;  // at most the tiles of two rows
  int load_row;
  int loaded = 0;   // tiles of load_row
  Position read{};  // of the next tile to read

  __device__ __forceinline__ unsigned char* slot(int number) const {
    return slots + number * ring.slot_bytes;
  }
  // Starts the copy of the next tile.
  __device__ __forceinline__ void start_tile(int to, const RowNumbers& rows) {
    if (loaded == own.count) {
      loaded = 0;
      load_row = rows.behind(load_row);
    }
    if (load_row < p.rows) {
      const WideRow<Format> row(p.softmax(), load_row);
      start_copy(p.x, TileOfRow<Format>(row, own.first + loaded), p.rows - 1, slot(to), &full[to]);
    }
    ++loaded;
  }
  __device__ __forceinline__ void wait_for_tile() const {
    ptx::mbarrier_wait(&full[read.slot], read.phase);
  }
  // Takes the target's logit out of the tile, which then has -inf there; every lane gets it.
  __device__ __forceinline__ float take_target(const TargetPlace<Format>& place) const {
    constexpr int kPack = Format::kPack;
    float taken = 0.0f;
    if (place.element >= 0) {
      const int pack = place.element / kPack * 32 + place.lane;
      with_type<Format>(p.x.type, [&](auto zero) {
        using T = decltype(zero);
        T* const logit =
            reinterpret_cast<T*>(slot(read.slot)) + pack * kPack + place.element % kPack;
        taken = to_float(*logit);
        *logit = from_float<T>(-INFINITY);
      });
    }
    return __shfl_sync(0xffffffffu, taken, place.lane);
  }
  __device__ __forceinline__ void load_tile(Tile<Format>& x) const {
    load(x, slot(read.slot), p.x.type, FullPlace{static_cast<int>(threadIdx.x % 32)}, 0.0f);
  }
  // Refills the slot of that tile, once every lane has worked on it.
  __device__ __forceinline__ void free_slot(const RowNumbers& rows) {
    ptx::fence_bulk();
    __syncwarp();  // no lane reads the slot any more
    start_tile(read.slot, rows);
    read.advance(used_slots);
  }
};

template <class Format>
__global__ void __launch_bounds__(kClusterThreads, 1)
    cross_entropy_cluster(const CrossEntropyProblem p, const WideRows rows, const ClusterRing ring,
                          int groups, unsigned* counter) {
  constexpr int kTiles = tiles_of_run(Format::kWidths, Format::kPack);
  auto& shared = shared_storage<LossStorage>();
  const SoftmaxProblem s = p.softmax();
  const Scale scale = logit_scale(p);
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  const int blocks = static_cast<int>(ptx::cluster_blocks());
  const int group_warps = kClusterWarps / groups, group = warp / group_warps;
  const int group_warp = warp % group_warps, cluster_runs = blocks * group_warps;
  const int streams = static_cast<int>(ptx::cluster_count()) * groups;  // of rows
  const int first = static_cast<int>(ptx::cluster_number()) * groups + group;
  const OwnTiles own(rows, static_cast<int>(ptx::cluster_rank()) * group_warps + group_warp, 1);
  const bool smooth = p.label_smoothing > 0.0f;
  RowNumbers number{first, first + streams, first + 2 * streams};
  auto* slots = reinterpret_cast<unsigned char*>(&shared + 1);
  auto* full = reinterpret_cast<uint64_t*>(slots + kClusterWarps * ring.slots * ring.slot_bytes);
  TileFeed<Format> feed{p,
                        ring,
                        own,
                        slots + warp * ring.slots * ring.slot_bytes,
                        full + warp * ring.slots,
                        ring.slots < 2 * own.count ? ring.slots : 2 * own.count,
                        first};
  if (lane == 0) {
    for (int slot = 0; slot < ring.slots; ++slot) ptx::mbarrier_init(&feed.full[slot], 1);
    if (warp == 0) {
      for (LossExchange& exchange : shared.exchange) {
        ptx::mbarrier_init(&exchange.barrier,
                           blocks == 1 ? static_cast<unsigned>(group_warps) : 1u);
      }
    }
    if (warp == 0) {
      for (uint64_t& ready : shared.ready) ptx::mbarrier_init(&ready, 1);
    }
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_sync();  // every block's barriers exist
  for (int slot = 0; slot < feed.used_slots; ++slot) feed.start_tile(slot, number);

  const auto sent_bytes = static_cast<unsigned>(8 * (cluster_runs * (smooth ? 2 : 1) + 2));
  Position turn;  // of the group's two exchanges
  int64_t given = number.now < p.rows ? p.target(number.now) : 0;
  while (number.now < p.rows) {
    const int at = 2 * group + turn.slot;
    LossExchange& exchange = shared.exchange[at];
    MaxSum* const run = shared.run + at * (kMostClusterRuns / groups);
    uint64_t* const mean = shared.mean + at * (kMostClusterRuns / groups);
    const WideRow<Format> row(s, number.now);
    const Target target(p, given);
    const TargetPlace<Format> place(target, row);
    const float weight = p.has_gradient() && group_warp == 0 ? p.weight(number.now) : 0.0f;
    if (number.next < p.rows) given = p.target(number.next);
    int drawn = number.after + streams;
    if (group_warp == 0 && lane == 0) {
      if (blocks > 1) ptx::mbarrier_arrive_expect_tx(&exchange.barrier, sent_bytes);
      if (own.first_run == 0 && counter) {
        drawn = 3 * streams + static_cast<int>(atomicAdd(counter, 1u));
      }
    }

    Tile<Format> e[kTiles];  // exponentials, each tile's against its largest logit
    float maximum[kTiles];
    LaneLoss<Format> loss;
    float logit = 0.0f;  // the target's
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      if (i < own.count) {
        const TileOfRow<Format> tile(row, own.first + i);
        feed.wait_for_tile();
        if (own.first + i == place.tile) logit = feed.take_target(place);
        feed.load_tile(e[i]);
        if (!tile.full()) mask<Format>(e[i], tile.place(), p.x.type, -INFINITY);
        maximum[i] = loss.add(p, scale, e[i], own.first + i, tile.place(), place);
        feed.free_slot(number);
      }
    }
    const MaxSum whole_run = loss.sum.template run<false>(scale);
    send(&run[own.first_run], &exchange.barrier, bits_of(whole_run));
    if (smooth) {
      const float of_run = warp_reduce<Sum>(loss.mean);
      send(&mean[own.first_run], &exchange.barrier, __float_as_uint(of_run));
    }
    const bool has_target = own.first <= place.tile && place.tile < own.first + own.count;
    if (has_target || (own.first_run == 0 && place.tile < 0)) {
      send(&exchange.target, &exchange.barrier, __float_as_uint(logit));
    }
    if (own.first_run == 0) {
      drawn = __shfl_sync(0xffffffffu, drawn, 0);
      send(&exchange.row, &exchange.barrier, static_cast<unsigned>(drawn));
    }
    if (blocks == 1) {
      __syncwarp();  // the lane that wrote and the one that arrives may be two
      if (ptx::elect_one()) ptx::mbarrier_arrive(&exchange.barrier);
    }
    RowGradient& result = shared.result[at];
    if (group_warp == 0) {
      ptx::mbarrier_wait(&exchange.barrier, turn.phase);
      const MaxSum others = combine_runs<false>(scale, run, cluster_runs);
      float of_row = 0.0f;
      if (smooth && own.first_run == 0) {
        of_row = combine_means(
            cluster_runs, [&](int i) { return __uint_as_float(static_cast<unsigned>(mean[i])); });
      }
      if (lane == 0) {
        const LossParts parts = parts_of<kWideExp<Format>>(
            scale, target, others, __uint_as_float(static_cast<unsigned>(exchange.target)));
        RowGradient whole = gradient_of_row(p, scale, target, parts, weight);
        whole.row_after = static_cast<int>(exchange.row);
        result = whole;
        ptx::mbarrier_arrive(&shared.ready[at]);
        // The loss is computed once the registers are free again.
        if (own.first_run == 0) {
          shared.left[group] = parts;
          shared.left_mean[group] = of_row;
        }
      }
      __syncwarp();
    }
    ptx::mbarrier_wait(&shared.ready[at], turn.phase);
    if (p.has_gradient()) {
      const RowGradient whole = result;
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        if (i < own.count) {
          const TileOfRow<Format> tile(row, own.first + i);
          if (tile.full()) {
            write_tile<Format>(p, scale, e[i], maximum[i], whole, tile.address(p.dx),
                               FullPlace{lane});
          } else {
            write_tile<Format>(p, scale, e[i], maximum[i], whole, tile.address(p.dx), tile.place());
          }
          if (own.first + i == place.tile) write_target(p, whole, row.row, target, place);
        }
      }
    }
    if (own.first_run == 0 && lane == 0) {
      store_loss(p, number.now, target, shared.left[group], shared.left_mean[group]);
    }
    // Broadcast from one lane, so that the compiler knows the value to be warp-uniform.
    number = {number.next, number.after, ptx::warp_uniform(result.row_after)};
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
  const auto run = [&](auto format) {
    return launch(context, cross_entropy_cluster<Kept<decltype(format)>>, config, p, config.rows,
                  config.ring, config.groups, counter);
  };
  return with_packs(config.shape.widths, run);
}

}  // namespace mygemm
