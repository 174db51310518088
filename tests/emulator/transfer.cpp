// Emulator of the CUDA runtime: copies and stores in flight. See transfer.h.
#include "transfer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "execution.h"
#include "mbarrier.h"
#include "memory.h"
#include "tensor_map.h"

namespace emulator {
namespace {

constexpr const char* kBox = "cp.async.bulk.tensor";
constexpr const char* kBoxStore = "cp.async.bulk.tensor to global memory";
constexpr const char* kBulk = "cp.async.bulk";
constexpr const char* kStore = "st.async";

struct Transfer {
  const char* name;  // of the instruction
  unsigned block;    // that it goes to, among the resident ones
  std::byte* to;
  size_t bytes;
  uint64_t* barrier;
  // The bytes: those of a box; those at an address; or a value, from the block of a rank.
  TensorMap map = {};
  std::array<int, 3> at = {};
  const void* from = nullptr;
  uint64_t value = 0;
  unsigned rank = 0;

  void land() const;
  void describe() const;  // to stderr
};

std::vector<Transfer> in_flight;

// A store of a box that its thread has not waited for.
struct Store {
  unsigned block, thread;
  int commits;  // of the thread, from its own on; 0: it is not committed
  std::function<void()> carry_out;

  bool is_of_this_thread() const { return block == resident_block() && thread == thread_number(); }
};

std::vector<Store> stores;

void Transfer::land() const {
  if (name == kBox) {
    copy_box(to, map, {at[0], at[1], at[2]});
  } else {
    std::memcpy(to, name == kBulk ? from : &value, bytes);
  }
}

void Transfer::describe() const {
  if (name == kBox) {
    std::fprintf(stderr, "copy of box (%d, %d, %d)", at[0], at[1], at[2]);
  } else if (name == kBulk) {
    std::fprintf(stderr, "copy of plain bytes");
  } else {
    std::fprintf(stderr, "store by block %u of the cluster", rank);
  }
}

void start(const Transfer& transfer) {
  std::memset(transfer.to, 0xFF, transfer.bytes);
  in_flight.push_back(transfer);
}

TensorMap read_map(const CUtensorMap* map, const char* what) {
  require_hopper(what);
  TensorMap result;
  std::memcpy(&result, map, sizeof result);
  if (!is_multiple(map, 64) || result.mark != kTensorMapMark) stop("%s: no tensor map", what);
  return result;
}

void require_destination(const void* shared, size_t bytes, size_t alignment, const char* what) {
  if (!is_multiple(shared, alignment)) {
    stop("misaligned %s to %p, which is no multiple of %zu", what, shared, alignment);
  }
  if (!in_shared_memory(shared, bytes)) {
    stop("%s of %zu bytes to %p, beyond the block's shared memory", what, bytes, shared);
  }
}

// The map of a copy of a box at `shared`.
TensorMap read_box(const CUtensorMap* map, const void* shared, const char* what) {
  const TensorMap tensor = read_map(map, what);
  require_destination(shared, tensor.box_bytes(), alignment_of(tensor), what);
  if (tensor.swizzled && tensor.element_bytes() * static_cast<size_t>(tensor.box[0]) != 128) {
    stop("%s with a swizzle of rows of fewer than 128 bytes is not emulated", what);
  }
  return tensor;
}

// Starts the copy of a box to the place in a resident block that `shared` is in this one, and to
// that block's barrier.
void start_box_in(unsigned block, void* shared, const CUtensorMap* map, uint64_t* barrier,
                  const int (&at)[3]) {
  require_previous_grid(kBox);
  const TensorMap tensor = read_box(map, shared, kBox);
  std::byte* const to = shared_address(block, shared_offset(resident_block(), shared));
  const int x = at[0];
  if (tensor.element_bytes() * static_cast<size_t>(x) % 16 != 0) {
    // On a GPU that is an illegal instruction.
    stop("%s of a box that begins at element %d of a line, no multiple of 16 bytes", kBox, x);
  }
  start({.name = kBox,
         .block = block,
         .to = to,
         .bytes = tensor.box_bytes(),
         .barrier = barrier,
         .map = tensor,
         .at = {x, at[1], at[2]}});
}

}  // namespace

void prefetch_map(const CUtensorMap* map) { read_map(map, "prefetch.tensormap"); }

void start_box(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3]) {
  require_fenced(barrier, kBox);
  start_box_in(resident_block(), shared, map, barrier, at);
}

void start_boxes(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3],
                 unsigned blocks) {
  require_hopper(kBox);
  if (!clustered()) stop("%s to a cluster in a grid without clusters", kBox);
  if (blocks >> cluster_blocks() != 0) {
    stop("%s to blocks %x of a cluster of %u", kBox, blocks, cluster_blocks());
  }
  for (unsigned rank = 0; rank < cluster_blocks(); ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    const unsigned block = resident_block(rank), from = resident_block();
    if (has_ended(block)) stop("%s to block %u of the cluster, which has ended", kBox, rank);
    auto* const done =
        reinterpret_cast<uint64_t*>(shared_address(block, shared_offset(from, barrier)));
    require_known(done, kBox);
    start_box_in(block, shared, map, done, at);
  }
}

void start_box_store(const CUtensorMap* map, const void* shared, const int (&at)[3]) {
  require_previous_grid(kBoxStore);
  const TensorMap tensor = read_box(map, shared, kBoxStore);
  const int x = at[0], y = at[1], z = at[2];
  const auto* const from = static_cast<const std::byte*>(shared);
  const auto store = [=] { store_box(from, tensor, {x, y, z}); };
  if (random_number() % 2 == 0) {
    store();
    stores.push_back({resident_block(), thread_number(), 0, [] {}});
  } else {
    stores.push_back({resident_block(), thread_number(), 0, store});
  }
}

void commit_box_stores() {
  require_hopper(kBoxStore);
  for (Store& store : stores) {
    if (store.is_of_this_thread()) ++store.commits;
  }
}

void wait_for_box_stores(int pending) {
  require_hopper(kBoxStore);
  const auto is_done = [=](const Store& store) {
    return store.is_of_this_thread() && store.commits > pending;
  };
  for (const Store& store : stores) {
    if (!store.is_of_this_thread()) continue;
    if (store.commits == 0) stop("a wait for stores of boxes that were not committed");
    if (is_done(store)) store.carry_out();
  }
  std::erase_if(stores, is_done);
}

void start_bulk(void* shared, const void* global, size_t bytes, uint64_t* barrier) {
  require_previous_grid(kBulk);
  require_fenced(barrier, kBulk);
  if (bytes == 0 || bytes % 16 != 0) stop("%s of %zu bytes", kBulk, bytes);
  require_destination(shared, bytes, 16, kBulk);
  if (!is_multiple(global, 16)) {
    stop("misaligned %s from %p, which is no multiple of 16", kBulk, global);
  }
  if (place_of(global, bytes) != Place::kDevice) {
    stop("%s of %zu bytes from %p, which do not all belong to an allocation", kBulk, bytes, global);
  }
  auto* const to = static_cast<std::byte*>(shared);
  start({.name = kBulk,
         .block = resident_block(),
         .to = to,
         .bytes = bytes,
         .barrier = barrier,
         .from = global});
}

void start_store(void* shared, uint64_t* barrier, unsigned rank, const void* value, size_t bytes) {
  require_hopper(kStore);
  if (!clustered()) stop("%s in a grid that was not launched as clusters", kStore);
  if (rank >= cluster_blocks()) {
    stop("%s to block %u of a cluster of %u", kStore, rank, cluster_blocks());
  }
  require_destination(shared, bytes, bytes, kStore);
  if (!in_shared_memory(barrier, sizeof *barrier)) {
    stop("%s on a barrier at %p, beyond the block's shared memory", kStore,
         static_cast<void*>(barrier));
  }
  const unsigned block = resident_block(rank);
  if (has_ended(block)) stop("%s to block %u of the cluster, which has ended", kStore, rank);
  const unsigned from = resident_block();
  std::byte* const to = shared_address(block, shared_offset(from, shared));
  auto* const done =
      reinterpret_cast<uint64_t*>(shared_address(block, shared_offset(from, barrier)));
  require_known(done, kStore);
  uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  start({.name = kStore,
         .block = block,
         .to = to,
         .bytes = bytes,
         .barrier = done,
         .value = bits,
         .rank = cluster_rank()});
}

void load_from_block(void* value, unsigned rank, const void* shared, size_t bytes) {
  constexpr const char* kWhat = "ld.shared::cluster";
  require_hopper(kWhat);
  if (rank >= cluster_blocks()) {
    stop("%s from block %u of a cluster of %u", kWhat, rank, cluster_blocks());
  }
  if (!is_multiple(shared, bytes) || !in_shared_memory(shared, bytes)) {
    stop("%s of %zu bytes at %p, misaligned or beyond the block's shared memory", kWhat, bytes,
         shared);
  }
  const unsigned block = resident_block(rank);
  if (has_ended(block)) stop("%s from block %u of the cluster, which has ended", kWhat, rank);
  std::memcpy(value, shared_address(block, shared_offset(resident_block(), shared)), bytes);
}

void forget_transfers(BlockRange cluster) {
  std::erase_if(in_flight, [=](const Transfer& t) { return cluster.contains(t.block); });
  std::erase_if(stores, [=](const Store& store) { return cluster.contains(store.block); });
}

bool land_transfers() {
  // From a random place on, so that transfers do not complete in the order in which they started.
  while (!in_flight.empty()) {
    const size_t chosen = random_number() % in_flight.size();
    const auto begin = in_flight.begin() + static_cast<std::ptrdiff_t>(chosen);
    const auto awaited = [](const Transfer& transfer) { return is_awaited(transfer.barrier); };
    auto next = std::find_if(begin, in_flight.end(), awaited);
    if (next == in_flight.end()) {
      next = std::find_if(in_flight.begin(), begin, awaited);
      if (next == begin) return false;
    }
    std::swap(*next, in_flight.back());
    const Transfer transfer = in_flight.back();
    in_flight.pop_back();
    transfer.land();
    if (count_arrived(transfer.barrier, transfer.bytes, transfer.name)) return true;
  }
  return false;
}

bool transfers_in_flight(BlockRange cluster) {
  return std::any_of(in_flight.begin(), in_flight.end(),
                     [=](const Transfer& t) { return cluster.contains(t.block); }) ||
         std::any_of(stores.begin(), stores.end(),
                     [=](const Store& store) { return cluster.contains(store.block); });
}

void report_transfers(unsigned block) {
  for (const Transfer& transfer : in_flight) {
    if (transfer.block != block) continue;
    std::fprintf(stderr, "  ");
    transfer.describe();
    std::fprintf(stderr,
                 ", %zu bytes, to the barrier at byte %zu of shared memory: nothing has waited for "
                 "it\n",
                 transfer.bytes, shared_offset(block, transfer.barrier));
  }
  for (const Store& store : stores) {
    if (store.block != block) continue;
    std::fprintf(stderr, "  store of a box by thread %u, which has not waited for it\n",
                 store.thread);
  }
}

}  // namespace emulator
