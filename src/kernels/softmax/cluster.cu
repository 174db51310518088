// Softmax of wide rows, read once: a row lives in the shared memory of a cluster of blocks, in its
// own type, while the next row is on its way. Lowest SM: 90.
//
// Each warp feeds itself: it owns a run of the row (wide.h) and a ring of slots for its tiles, into
// which it starts bulk copies as soon as it has stored what a slot held. All that warps exchange is
// the maxima and sums of their runs: each goes to every block of the cluster, and counts there on a
// barrier. Clusters draw their rows from a counter, because multiprocessors do not get the same
// share of the memory.
#include "kernels/launch.h"
#include "kernels/rows.h"
#include "kernels/softmax/cluster.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// What the blocks of a cluster tell each other of one row. Two take turns: a warp may be a row
// ahead of another one. Every value is sent to every block as 8 bytes.
struct Exchange {
  uint64_t barrier;
  uint64_t row_after_next;
  MaxSum run[kClusterWarps << kMostLog2Blocks];
};

// Slots of tiles, their barriers and the maxima of each lane's part of them follow it in shared
// memory.
struct SharedStorage {
  Exchange exchange[2];
};
static_assert(sizeof(SharedStorage) == kClusterStorageBytes);

// A place in a warp's ring of slots, and in turns of two.
struct Position {
  int slot = 0;
  unsigned phase = 0;

  __device__ void advance(int slots) {
    if (++slot == slots) {
      slot = 0;
      phase ^= 1;
    }
  }
};

// To every block of the cluster: one lane each. A cluster of one block has nobody to send to.
__device__ __forceinline__ void send(void* to, uint64_t* barrier, uint64_t value) {
  const unsigned lane = threadIdx.x % 32, blocks = ptx::cluster_blocks();
  if (blocks == 1) {
    if (lane == 0) *static_cast<uint64_t*>(to) = value;
  } else if (lane < blocks) {
    ptx::store_async_8(to, barrier, lane, value);
  }
}

// Until all that was sent of a row is there.
__device__ __forceinline__ void wait_for_all(uint64_t* barrier, unsigned phase) {
  if (ptx::cluster_blocks() == 1) {
    __syncthreads();
  } else {
    ptx::mbarrier_wait(barrier, phase);
  }
}

// One row as a warp sees it: its run's tiles, numbered from 0.
template <class Format>
struct OwnRun {
  static constexpr int kTileColumns = WideRow<Format>::kTileColumns;
  char *in, *dy, *out;  // where its first tile lies
  int begin, end;       // the row's columns, from the run's first one on
  // Bulk copies may bring the whole pack in which the row begins or ends: the rest of it is of the
  // rows before and after this one.
  bool head_whole, tail_whole;

  __device__ OwnRun(const SoftmaxProblem& p, int64_t row, int64_t first_tile) {
    const int shift = shift_of<Format>(p.out, row);
    const int64_t first = first_tile * kTileColumns - shift;
    in = address_of(p.in, row, first);
    dy = p.backward ? address_of(p.dy, row, first) : nullptr;
    out = address_of(p.out, row, first);
    begin = first_tile == 0 ? shift : 0;
    end = static_cast<int>(p.cols - first);
    const bool dense = p.in.ld == p.cols && (!p.backward || p.dy.ld == p.cols);
    head_whole = dense && row > 0;
    tail_whole = dense && row + 1 < p.rows;
  }
  // Where tile k's packs are loaded from: those that are not whole from global memory, unless a
  // bulk copy has brought them.
  __device__ Source source(int k, const unsigned char* slot, const char* global) const {
    const bool copied =
        k == 0 && begin > 0 ? head_whole && (end >= kTileColumns || tail_whole) : tail_whole;
    return {slot, copied ? reinterpret_cast<const char*>(slot) : global};
  }
  // Calls body(place of the lane's packs in tile k).
  template <class Body>
  __device__ __forceinline__ void with_place(int k, Body body) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int left = end - k * kTileColumns;
    if (left >= kTileColumns && (k > 0 || begin == 0)) return body(FullPlace{lane});
    body(
        TilePlace<Format>{lane, 32, k == 0 ? begin : 0, left < kTileColumns ? left : kTileColumns});
  }
};

// One lane starts the copies of a tile's whole packs. What is not whole is loaded when it is used.
template <class Format, bool kBackward>
__device__ __forceinline__ void start_tile(const SoftmaxProblem& p, const OwnRun<Format>& run,
                                           int k, unsigned char* slot, uint64_t* full,
                                           int tile_bytes_in) {
  constexpr int kPack = Format::kPack, kTileColumns = OwnRun<Format>::kTileColumns;
  const int left = run.end - k * kTileColumns;
  const int first = k == 0 && run.begin > 0 && !run.head_whole ? kPack : 0;
  const int last = (left + (run.tail_whole ? kPack - 1 : 0)) / kPack * kPack;
  const int count = (left < kTileColumns ? last : kTileColumns) - first;
  const int in_bytes = static_cast<int>(element_bytes(p.in.type));
  const int dy_bytes = kBackward ? static_cast<int>(element_bytes(p.dy.type)) : 0;
  ptx::mbarrier_arrive_expect_tx(
      full, static_cast<unsigned>(count > 0 ? count * (in_bytes + dy_bytes) : 0));
  if (count <= 0) return;
  ptx::bulk_load(slot + first * in_bytes, run.in + (k * kTileColumns + first) * in_bytes,
                 static_cast<unsigned>(count * in_bytes), full);
  if constexpr (kBackward) {
    ptx::bulk_load(slot + tile_bytes_in + first * dy_bytes,
                   run.dy + (k * kTileColumns + first) * dy_bytes,
                   static_cast<unsigned>(count * dy_bytes), full);
  }
}

// Exponentials stay in the slot where they are as wide as x, and need not be taken again.
template <class Format>
constexpr bool kWritesBack = Format::kKeepsFloats&& Format::kWidest == Format::kNarrowest;

template <class Format, class Place>
__device__ __forceinline__ void load_slot(const SoftmaxProblem& p, const Scale& scale,
                                          const OwnRun<Format>& run, int k,
                                          const unsigned char* slot, const Place& at,
                                          Tile<Format>& x) {
  const int64_t bytes = k * OwnRun<Format>::kTileColumns * element_bytes(p.in.type);
  load_x(p, scale, x, run.source(k, slot, run.in + bytes), at);
}

template <class Format, class Place>
__device__ __forceinline__ void load_slot(const SoftmaxProblem& p, const OwnRun<Format>& run, int k,
                                          const unsigned char* slot, int tile_bytes_in,
                                          const Place& at, Tile<Format>& y, Tile<Format>& dy) {
  const int64_t columns = k * OwnRun<Format>::kTileColumns;
  load(y, run.source(k, slot, run.in + columns * element_bytes(p.in.type)), p.in.type, at, 0.0f);
  load(dy, run.source(k, slot + tile_bytes_in, run.dy + columns * element_bytes(p.dy.type)),
       p.dy.type, at, 0.0f);
}

// What a warp has in shared memory.
struct Ring {
  unsigned char* tiles;
  uint64_t* full;
  float* maxima;  // of each lane's part of each tile
  int slots, slot_bytes, tile_bytes_in;

  __device__ Ring(const ClusterRing& shape, SharedStorage& shared)
      : slots(shape.slots), slot_bytes(shape.slot_bytes), tile_bytes_in(shape.tile_bytes_in) {
    const int warp = static_cast<int>(threadIdx.x) / 32, all = kClusterWarps * slots;
    auto* first = reinterpret_cast<unsigned char*>(&shared + 1);
    tiles = first + warp * slots * slot_bytes;
    full = reinterpret_cast<uint64_t*>(first + all * slot_bytes) + warp * slots;
    maxima = reinterpret_cast<float*>(first + all * (slot_bytes + 8)) + warp * slots * 32;
  }
  __device__ unsigned char* tile(const Position& at) const { return tiles + at.slot * slot_bytes; }
  __device__ float& maximum(const Position& at) const {
    return maxima[at.slot * 32 + static_cast<int>(threadIdx.x) % 32];
  }
};

// A tile joins the lane's sum. Its exponentials are against the largest x that the lane has seen.
template <class Format, class Place>
__device__ __forceinline__ void first_pass(const SoftmaxProblem& p, const Scale& scale,
                                           const OwnRun<Format>& run, int k, const Ring& ring,
                                           const Position& slot, const Place& at, LaneSum& sum) {
  Tile<Format> x;
  load_slot(p, scale, run, k, ring.tile(slot), at, x);
  sum.add<Format>(p, scale, x);
  if constexpr (kWritesBack<Format>) {
    if (p.log_mode()) return;
    ring.maximum(slot) = sum.seen.maximum;
#pragma unroll
    for (int i = 0; i < tile_packs(Format::kPack); ++i) {
      reinterpret_cast<uint4*>(ring.tile(slot))[at.pack(i)] =
          make_uint4(x.word[i][0], x.word[i][1], x.word[i][2], x.word[i][3]);
    }
  }
}

template <class Format, class Place>
__device__ __forceinline__ void second_pass(const SoftmaxProblem& p, const Scale& scale,
                                            const OwnRun<Format>& run, int k, const Ring& ring,
                                            const Position& slot, const Place& at,
                                            const MaxSum& row, const Reference& to, float factor) {
  Tile<Format> x;
  if (kWritesBack<Format> && !p.log_mode()) {
#pragma unroll
    for (int i = 0; i < tile_packs(Format::kPack); ++i) {
      const uint4 e = reinterpret_cast<const uint4*>(ring.tile(slot))[at.pack(i)];
      x.word[i][0] = e.x;
      x.word[i][1] = e.y;
      x.word[i][2] = e.z;
      x.word[i][3] = e.w;
    }
    factor *= weight(scale, ring.maximum(slot), to);
  } else {
    load_slot(p, scale, run, k, ring.tile(slot), at, x);
    if (Format::kKeepsFloats && !p.log_mode()) exponentials(p, scale, x, to);
  }
  finish(p, scale, x, row.maximum, factor);
  const int64_t bytes = k * OwnRun<Format>::kTileColumns * element_bytes(p.out.type);
  store(x, run.out + bytes, p.out.type, at);
}

template <class Format, bool kBackward>
__global__ void __launch_bounds__(kClusterThreads)
    softmax_cluster(const SoftmaxProblem p, const WideRows rows, const ClusterRing shape,
                    unsigned long long* counter) {
  auto& shared = shared_storage<SharedStorage>();
  const Ring ring(shape, shared);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(ptx::cluster_rank());
  const int cluster_warps = static_cast<int>(ptx::cluster_blocks()) * kClusterWarps;
  const int64_t clusters = ptx::cluster_count();
  if (lane == 0) {
    for (int s = 0; s < ring.slots; ++s) ptx::mbarrier_init(&ring.full[s], 1);
    if (warp == 0) {
      for (Exchange& exchange : shared.exchange) ptx::mbarrier_init(&exchange.barrier, 1);
    }
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_sync();  // every block's barriers exist

  const Scale scale(p, Format::kAccurate);
  const int own_number = rank * kClusterWarps + warp;
  const bool has_run = own_number < rows.runs;
  const int64_t first_tile = has_run ? rows.first_tile(own_number) : 0;
  const int own_tiles =
      has_run ? static_cast<int>(rows.first_tile(own_number + 1) - first_tile) : 0;
  int64_t row_number = ptx::cluster_number(), next_number = row_number + clusters;
  OwnRun<Format> run(p, row_number, first_tile);
  Position fill, drain, turn;  // turn: of the two exchanges
  int filled = 0;              // tiles of this row and the next one that have been started
  int freed = 0;               // of this row's tiles, whose slots can take others

  // Starts a row's tiles from number `filled` - `before` on, while there are slots for them.
  const auto start_tiles = [&](const OwnRun<Format>& of, int before) {
    for (; filled - before < own_tiles && filled < freed + ring.slots; ++filled) {
      if (lane == 0) {
        start_tile<Format, kBackward>(p, of, filled - before, ring.tile(fill),
                                      &ring.full[fill.slot], ring.tile_bytes_in);
      }
      fill.advance(ring.slots);
    }
  };
  start_tiles(run, 0);

  // Adds the run's tiles from number `first` to `last`, which begin in a slot, to the lane's sum.
  const auto add_tiles = [&](const OwnRun<Format>& of, int first, int last, Position* at,
                             LaneSum* sum) {
    for (int k = first; k < last; ++k) {
      ptx::mbarrier_wait(&ring.full[at->slot], at->phase);
      of.with_place(k, [&](const auto& place) {
        if constexpr (kBackward) {
          Tile<Format> y, dy;
          load_slot(p, of, k, ring.tile(*at), ring.tile_bytes_in, place, y, dy);
          sum->template add<Format>(p, y, dy);
        } else {
          first_pass(p, scale, of, k, ring, *at, place, *sum);
        }
      });
      at->advance(ring.slots);
    }
  };
  LaneSum sum;
  Position at;    // of the next tile to add
  int added = 0;  // of this row's tiles

  while (row_number < p.rows) {
    Exchange& exchange = shared.exchange[turn.slot];
    const bool has_next = next_number < p.rows;
    const OwnRun<Format> next_run(p, has_next ? next_number : row_number, first_tile);
    if (has_next) start_tiles(next_run, own_tiles);
    int64_t after_next = next_number + clusters;
    if (threadIdx.x == 0) {
      if (cluster_warps > kClusterWarps) {
        ptx::mbarrier_arrive_expect_tx(&exchange.barrier,
                                       static_cast<unsigned>(8 * cluster_warps + 8));
      }
      if (rank == 0 && counter) {
        after_next = 2 * clusters + static_cast<int64_t>(atomicAdd(counter, 1ull));
      }
    }
    add_tiles(run, added, own_tiles, &at, &sum);
    const MaxSum own = sum.run<kBackward>(scale);
    send(&exchange.run[own_number], &exchange.barrier,
         uint64_t{__float_as_uint(own.sum)} << 32 | __float_as_uint(own.maximum));
    if (warp == 0 && rank == 0) {
      after_next = __shfl_sync(0xffffffffu, after_next, 0);
      send(&exchange.row_after_next, &exchange.barrier, static_cast<uint64_t>(after_next));
    }
    // While the others' parts come: the tiles of the next row that there were slots for.
    sum = LaneSum();
    added = filled - own_tiles;
    add_tiles(next_run, 0, added, &at, &sum);
    wait_for_all(&exchange.barrier, turn.phase);
    after_next = static_cast<int64_t>(exchange.row_after_next);
    const MaxSum whole = combine_runs<kBackward>(scale, exchange.run, cluster_warps);
    const Reference to(scale, whole.maximum);
    const float factor = kBackward ? 0.0f : factor_of<Format>(p, scale, whole);

    for (int k = 0; k < own_tiles; ++k) {
      run.with_place(k, [&](const auto& place) {
        if constexpr (kBackward) {
          Tile<Format> y, dy;
          load_slot(p, run, k, ring.tile(drain), ring.tile_bytes_in, place, y, dy);
          gradients(p, y, dy, whole.sum);
          const int64_t bytes = k * OwnRun<Format>::kTileColumns * element_bytes(p.out.type);
          store(dy, run.out + bytes, p.out.type, place);
        } else {
          second_pass(p, scale, run, k, ring, drain, place, whole, to, factor);
        }
      });
      ptx::fence_bulk();
      __syncwarp();  // no lane reads the slot any more
      drain.advance(ring.slots);
      ++freed;
      if (has_next) start_tiles(next_run, own_tiles);
    }
    filled -= own_tiles;
    freed = 0;
    row_number = next_number;
    run = next_run;
    next_number = after_next;
    turn.advance(2);
  }
  ptx::cluster_sync();  // no block ends while another one may still write to it
}

}  // namespace

Status cuda::launch_softmax_cluster(const SoftmaxRow&, const SoftmaxProblem& p,
                                    const LaunchContext& context) {
  const WideRows rows = wide_rows(p);
  const ClusterRing ring = cluster_ring(p, rows, *context.device);
  const int64_t clusters = clusters_of(p, ring, *context.device);
  unsigned long long* counter = nullptr;
  if (cluster_workspace_bytes(p, clusters) > 0 && context.workspace_bytes >= sizeof *counter) {
    counter = static_cast<unsigned long long*>(context.workspace);
    CUDA_TRY(cudaMemsetAsync(counter, 0, sizeof *counter, context.stream));
  }
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(clusters << ring.log2_blocks);
  shape.threads = kClusterThreads;
  shape.shared_bytes = static_cast<size_t>(ring.shared_bytes);
  shape.cluster_blocks = 1 << ring.log2_blocks;
  return with_packs(p, [&](auto format) {
    using Format = decltype(format);
    const auto kernel = p.backward ? softmax_cluster<Format, true> : softmax_cluster<Format, false>;
    return launch(context, kernel, shape, p, rows, ring, counter);
  });
}

}  // namespace mygemm
