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
  // Waits for the next tile, and loads it.
  __device__ __forceinline__ void load_tile(Tile<Format>& x) const {
    ptx::mbarrier_wait(&full[read.slot], read.phase);
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
  const Scale scale(s, true);
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
    const float weight = p.has_gradient() ? p.weight(number.now) : 0.0f;
    int drawn = number.after + streams;
    if (group_warp == 0 && lane == 0) {
      if (blocks > 1) ptx::mbarrier_arrive_expect_tx(&exchange.barrier, sent_bytes);
      if (own.first_run == 0 && counter) {
        drawn = 3 * streams + static_cast<int>(atomicAdd(counter, 1u));
      }
    }

    Tile<Format> e[kTiles];  // exponentials, each tile's against the largest logit so far
    float maximum[kTiles];
    LaneLoss<Format> loss;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      if (i < own.count) {
        const TileOfRow<Format> tile(row, own.first + i);
        feed.load_tile(e[i]);
        if (!tile.full()) mask<Format>(e[i], tile.place(), p.x.type, -INFINITY);
        loss.add(p, scale, e[i], own.first + i, tile.place(), place);
        feed.free_slot(number);
        maximum[i] = loss.sum.seen.maximum;
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
      send(&exchange.target, &exchange.barrier, __float_as_uint(loss.target));
    }
    if (own.first_run == 0) {
      drawn = __shfl_sync(0xffffffffu, drawn, 0);
      send(&exchange.row, &exchange.barrier, static_cast<unsigned>(drawn));
    }
    if (blocks == 1) {
      __syncwarp();  // the lane that wrote and the one that arrives may be two
      if (ptx::elect_one()) ptx::mbarrier_arrive(&exchange.barrier);
    }
    ptx::mbarrier_wait(&exchange.barrier, turn.phase);
    const MaxSum others = combine_runs<false>(scale, run, cluster_runs);
    const float logit = __uint_as_float(static_cast<unsigned>(exchange.target));
    const RowSums whole(scale, target, others, logit);
    // The loss is computed once the registers are free again.
    if (own.first_run == 0 && lane == 0) shared.left[group] = whole.parts;
    if (number.next < p.rows) given = p.target(number.next);
    __syncwarp();  // keeps the compiler from holding the parts in registers
    if (p.has_gradient()) {
      const RowGradient result(p, scale, target, whole, weight);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        if (i < own.count) {
          const TileOfRow<Format> tile(row, own.first + i);
          finish_tile(scale, e[i], maximum[i], result, own.first + i, place);
          if (tile.full()) {
            store(e[i], tile.address(p.dx), p.dx.type, FullPlace{lane});
          } else {
            store(e[i], tile.address(p.dx), p.dx.type, tile.place());
          }
        }
      }
    }
    if (own.first_run == 0) {
      float of_row = 0.0f;
      if (smooth) {
        of_row = combine_means(
            cluster_runs, [&](int i) { return __uint_as_float(static_cast<unsigned>(mean[i])); });
      }
      if (lane == 0) store_loss(p, number.now, target, shared.left[group], of_row);
    }
    // Broadcast from one lane, so that the compiler knows the value to be warp-uniform.
    drawn = ptx::warp_uniform(static_cast<int>(exchange.row));
    number = {number.next, number.after, drawn};
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
