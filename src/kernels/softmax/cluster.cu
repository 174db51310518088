// Softmax of wide rows, read once: the shared memory of a cluster of blocks holds a row, in its own
// type, while the next row is being loaded. Lowest SM: 90.
//
// Each warp is its own producer: it owns one or two runs of the row (wide.h) and a ring of slots
// for their tiles, and starts the bulk copy into a slot as soon as it has read the slot's previous
// tile. (A producer warp for all warps was slower, 0.84 of a copy where this has 0.95: all warps
// then wait for the slowest one at every tile.) Warps exchange only the maxima and sums of their
// runs: each is sent to every block of the cluster and counted there on a barrier. Clusters draw
// their rows from a counter, because multiprocessors do not get equal fractions of the memory
// bandwidth.
#include "kernels/launch.h"
#include "kernels/softmax/exchange.cuh"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/own_tiles.cuh"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {
namespace {

// Whether exponentials are kept in the slot in place of x, which requires the same width; otherwise
// they are computed twice.
template <class Format, bool kBackward>
constexpr bool kWritesBack =
    Format::kKeepsFloats&& Format::kWidest == Format::kNarrowest && !kBackward;

// A lane's part of a tile, and the maximum against which its exponentials were computed.
template <class Format, bool kBackward>
struct Part {
  WideTile<Format, kBackward> tile;
  float maximum;
};

// The state of a warp and its operations on tiles. Tiles held in registers free their slots as soon
// as they are added to the sum.
template <class Format, bool kBackward, int kHeld>
struct Warp {
  const SoftmaxProblem& p;
  const ClusterRing& ring;
  unsigned char* slots;
  uint64_t* full;
  float* maxima;  // of each lane's part of each tile
  const OwnTiles own;
  const int used_slots;  // at most the tiles of two rows
  const Scale scale;
  Position add_at{}, write_at{};  // of the next tile to add, to write
  int loaded = 0;                 // tiles of load_row
  WideRow<Format> load_row;
  LaneSum sum{};
  MaxSum first_run{-INFINITY, 0.0f};  // of two
  Part<Format, kBackward> held[kHeld > 0 ? kHeld : 1]{};

  __device__ __forceinline__ FullPlace all() const { return {static_cast<int>(threadIdx.x) % 32}; }
  __device__ __forceinline__ unsigned char* slot(const Position& at) const {
    return slots + at.slot * ring.slot_bytes;
  }

  // Starts the copies of the next tile: after the last one of a row, the first one of `next_row`.
  __device__ __forceinline__ void start_tile(int slot, int64_t next_row) {
    if (loaded == own.count) {
      loaded = 0;
      load_row = WideRow<Format>(p, next_row);
    }
    if (load_row.row < p.rows) {
      const TileOfRow<Format> tile(load_row, own.first + loaded);
      unsigned char* to = slots + slot * ring.slot_bytes;
      start_copy(p.in, tile, p.rows - 1, to, &full[slot]);
      if (kBackward) start_copy(p.dy, tile, p.rows - 1, to + ring.tile_bytes_in, &full[slot]);
    }
    ++loaded;
  }
  // Refills the slot of the next tile to write, which has been read; `next_row` is as above.
  __device__ __forceinline__ void free_slot(int64_t next_row) {
    ptx::fence_bulk();
    __syncwarp();  // no lane reads the slot any more
    start_tile(write_at.slot, next_row);
    write_at.advance(used_slots);
  }
  __device__ __forceinline__ void load_slot(const unsigned char* from,
                                            WideTile<Format, kBackward>& tile) const {
    if constexpr (kBackward) {
      load(tile.x, from, p.in.type, all(), 0.0f);
      load(tile.dy[0], from + ring.tile_bytes_in, p.dy.type, all(), 0.0f);
    } else {
      load_x(p, tile.x, from, all());
    }
  }

  // Adds tile k, the next one, to the lane's sum; keep(part) stores the lane's part of it.
  template <class Keep>
  __device__ __forceinline__ void add_tile(const WideRow<Format>& row, int k, Keep keep) {
    ptx::mbarrier_wait(&full[add_at.slot], add_at.phase);
    const TileOfRow<Format> tile(row, own.first + k);
    Part<Format, kBackward> part;
    load_slot(slot(add_at), part.tile);
    if (!tile.full()) {
      mask<Format>(part.tile.x, tile.place(), p.in.type, kBackward ? 0.0f : -INFINITY);
      if (kBackward) mask<Format>(part.tile.dy[0], tile.place(), p.dy.type, 0.0f);
    }
    if constexpr (kBackward || kWritesBack<Format, kBackward>) {
      part.tile.add_to(sum, p, scale);
    } else {
      WideTile<Format, kBackward> copy = part.tile;
      copy.add_to(sum, p, scale);
    }
    part.maximum = sum.seen.maximum;
    keep(part);
    add_at.advance(used_slots);
    if (own.runs > 1 && k + 1 == own.of_first_run) {
      first_run = sum.run<kBackward>(scale);
      sum = LaneSum();
    }
  }
  __device__ __forceinline__ void add_tile(const WideRow<Format>& row, int k) {
    add_tile(row, k, [&](const Part<Format, kBackward>& part) {
      if constexpr (kWritesBack<Format, kBackward>) {
        if (p.log_mode()) return;
        maxima[add_at.slot * 32] = part.maximum;
        store(part.tile.x, slot(add_at), p.in.type, all());
      }
    });
  }

  // Computes the results of a tile from the row's maximum and sum.
  __device__ __forceinline__ void finish_part(const MaxSum& row, const Reference& to,
                                              const RowFactor& factor,
                                              Part<Format, kBackward>& part) const {
    if constexpr (kBackward) {
      gradients(p, part.tile.x, part.tile.dy[0], row.sum);
    } else {
      if (!p.log_mode()) {
        if constexpr (kWritesBack<Format, kBackward>) {
          change_reference(scale, part.tile.x, part.maximum, to);
        } else if constexpr (Format::kKeepsFloats) {
          exponentials<kWideExp<Format>>(p, scale, part.tile.x, to);
        }
      }
      finish(p, scale, part.tile.x, row.maximum, factor);
    }
  }
  __device__ __forceinline__ void store_part(const WideRow<Format>& row, int k,
                                             const Part<Format, kBackward>& part) const {
    const TileOfRow<Format> tile(row, own.first + k);
    const Tile<Format>& result = kBackward ? part.tile.dy[0] : part.tile.x;
    if (tile.full()) {
      store(result, tile.address(p.out), p.out.type, all());
    } else {
      store(result, tile.address(p.out), p.out.type, tile.place());
    }
  }
  // Writes the results of tile k, the next one in a slot.
  __device__ __forceinline__ void write_tile(const WideRow<Format>& row, int k, const MaxSum& whole,
                                             const Reference& to, const RowFactor& factor,
                                             int64_t next_row) {
    Part<Format, kBackward> part;
    if (kWritesBack<Format, kBackward> && !p.log_mode()) {
      load(part.tile.x, slot(write_at), p.in.type, all(), 0.0f);
      part.maximum = maxima[write_at.slot * 32];
    } else {
      load_slot(slot(write_at), part.tile);
    }
    finish_part(whole, to, factor, part);
    free_slot(next_row);
    store_part(row, k, part);
  }
};

template <class Format, bool kBackward, int kHeld>
__global__ void __launch_bounds__(kClusterThreads, 1)
    softmax_cluster(const SoftmaxProblem p, const WideRows rows, const ClusterRing ring,
                    unsigned long long* counter) {
  auto& shared = shared_storage<ClusterStorage>();
  const int warp_number = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  const int blocks = static_cast<int>(ptx::cluster_blocks());
  const int64_t clusters = ptx::cluster_count();
  const OwnTiles own(rows, ring, warp_number);
  int64_t number = ptx::cluster_number(), next = number + clusters;
  const int all_slots = kClusterWarps * ring.slots, first_slot = warp_number * ring.slots;
  auto* slots = reinterpret_cast<unsigned char*>(&shared + 1);
  auto* full = reinterpret_cast<uint64_t*>(slots + all_slots * ring.slot_bytes);
  auto* maxima = reinterpret_cast<float*>(full + all_slots);
  Warp<Format, kBackward, kHeld> warp{p,
                                      ring,
                                      slots + first_slot * ring.slot_bytes,
                                      full + first_slot,
                                      maxima + first_slot * 32 + lane,
                                      own,
                                      ring.slots < 2 * own.count ? ring.slots : 2 * own.count,
                                      Scale(p, Format::kAccurate),
                                      {},
                                      {},
                                      0,
                                      WideRow<Format>(p, number)};
  if (lane == 0) {
    for (int s = 0; s < ring.slots; ++s) ptx::mbarrier_init(&warp.full[s], kBackward ? 2 : 1);
    if (warp_number == 0) {
      for (ClusterExchange& exchange : shared.exchange) {
        ptx::mbarrier_init(&exchange.barrier, kExchangeArrivals);
      }
    }
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_sync();  // every block's barriers exist
  for (int slot = 0; slot < warp.used_slots; ++slot) warp.start_tile(slot, next);

  const int cluster_runs = blocks * kClusterWarps * own.runs;
  const auto sent_bytes = static_cast<unsigned>(8 * (cluster_runs + 1));
  Position turn;  // of the two exchanges
  int added = 0;  // of the row's tiles
  while (number < p.rows) {
    ClusterExchange& exchange = shared.exchange[turn.slot];
    const WideRow<Format> row(p, number);
    int64_t after_next = next + clusters;
    if (threadIdx.x == 0 && own.first_run == 0 && counter) {
      after_next = 2 * clusters + static_cast<int64_t>(atomicAdd(counter, 1ull));
    }
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (i < own.count) {
        warp.add_tile(row, i, [&](const Part<Format, kBackward>& part) {
          warp.held[i] = part;
          warp.free_slot(next);
        });
      }
      ++added;
    }
    for (; added < own.count; ++added) warp.add_tile(row, added);
    const MaxSum last_run = warp.sum.template run<kBackward>(warp.scale);
    if (own.runs > 1) {
      send(&exchange.run[own.first_run], &exchange.barrier, bits_of(warp.first_run));
    }
    send(&exchange.run[own.first_run + own.runs - 1], &exchange.barrier, bits_of(last_run));
    if (own.first_run == 0) {
      after_next = __shfl_sync(0xffffffffu, after_next, 0);
      send(&exchange.row_after_next, &exchange.barrier, static_cast<uint64_t>(after_next));
    }
    arrive(&exchange.barrier, sent_bytes);
    // While the other blocks' values arrive: adds the tiles of the next row that are in slots.
    warp.sum = LaneSum();
    added = 0;
    if (kHeld == 0 && next < p.rows) {
      const WideRow<Format> next_row(p, next);
      for (; added < warp.used_slots - own.count; ++added) warp.add_tile(next_row, added);
    }
    ptx::mbarrier_wait(&exchange.barrier, turn.phase);
    // Broadcast from one lane, so that the compiler knows the value to be warp-uniform.
    after_next = __shfl_sync(0xffffffffu, exchange.row_after_next, 0);
    const MaxSum whole = combine_runs<kBackward>(warp.scale, exchange.run, cluster_runs);
    const Reference to(warp.scale, whole.maximum);
    const RowFactor factor =
        kBackward ? RowFactor{} : factor_of<kWideExp<Format>>(p, warp.scale, whole);

#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      if (i < own.count) {
        warp.finish_part(whole, to, factor, warp.held[i]);
        warp.store_part(row, i, warp.held[i]);
      }
    }
    for (int k = kHeld; k < own.count; ++k) {
      warp.write_tile(row, k, whole, to, factor, warp.load_row.row == number ? next : after_next);
    }
    number = next;
    next = after_next;
    turn.advance(2);
  }
}

}  // namespace

Status cuda::launch_softmax_cluster(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                    const LaunchContext& context) {
  unsigned long long* counter = nullptr;
  if (config.workspace_bytes > 0) {
    counter = static_cast<unsigned long long*>(context.workspace);
    CUDA_TRY(cudaMemsetAsync(counter, 0, config.workspace_bytes, context.stream));
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(config.blocks);
  shape.threads = config.threads;
  shape.shared_bytes = config.shared_bytes;
  shape.cluster_blocks = config.cluster_blocks;
  return with_packs(config.shape.widths, [&](auto format) {
    using Format = decltype(format);
    const auto run = [&](auto backward) {
      constexpr bool kBackward = decltype(backward)::value;
      constexpr int kHeld = held_tiles(Format::kWidths, kBackward);
      return launch(context,
                    config.ring.held > 0 ? softmax_cluster<Format, kBackward, kHeld>
                                         : softmax_cluster<Format, kBackward, 0>,
                    shape, p, config.rows, config.ring, counter);
    };
    return p.backward ? run(std::true_type{}) : run(std::false_type{});
  });
}

}  // namespace mygemm
