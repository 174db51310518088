// Emulator of the CUDA runtime: the scheduler of the threads of resident clusters. See execution.h.
#include "execution.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "device_functions.h"
#include "mbarrier.h"
#include "products.h"
#include "resident.h"
#include "start_order.h"
#include "transfer.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace emulator {

std::vector<Block> blocks;
std::vector<Thread> threads;
unsigned num_threads;

Thread* threads_of(unsigned block) { return &threads[size_t{block} * num_threads]; }

namespace {

constexpr const char* kBlockBarrier = "__syncthreads";
constexpr const char* kClusterBarrier = "cluster_sync";
constexpr const char* kAside = "its turn";

const Grid* running_grid;
std::vector<unsigned> resident_clusters;  // that have not ended, by their place in `blocks`
unsigned running_block;                   // the running thread's block among the resident ones
unsigned current;                         // the running thread's number within it
Thread* running;
std::minstd_rand chance;
std::vector<unsigned> block_order, warp_order, lane_order(kWarpSize);
unsigned running_warp;
size_t next_lane;  // of lane_order: those before it have run

BlockRange blocks_of(unsigned cluster) {
  const unsigned size = running_grid->cluster_blocks;
  return {cluster * size, (cluster + 1) * size};
}

// The next thread of the running warp that can run, from then on the running one; or nullptr.
Thread* next_thread() {
  while (next_lane < kWarpSize) {
    const unsigned i = running_warp * kWarpSize + lane_order[next_lane++];
    Thread* const thread = threads_of(running_block) + i;
    if (i >= num_threads || thread->state != State::kReady) continue;
    current = i;
    running = thread;
    threadIdx = thread->index;
    return thread;
  }
  return nullptr;
}

// Suspends the running thread. The warp's next one goes on without a switch to the scheduler and
// back: half of all switches, which took a tenth of the time.
void suspend() {
  if (Thread* const next = next_thread()) {
    next->fiber->replace_running();
  } else {
    Fiber::suspend();
  }
}

// A fiber serves one CUDA thread after another.
void thread_main() {
  for (;;) {
    running_grid->kernel();
    wait_for_copies(-1);  // all copies, committed or not
    running->state = State::kExited;
    Block& block = blocks[running_block];
    if (--block.threads_left == 0 && running_grid->may_overlap && !block.waited_for_grid) {
      stop("a block ends without griddepcontrol.wait, in a grid that may overlap");
    }
    suspend();
  }
}

void wait_at(const char* name, unsigned mask, Site site, const void* object = nullptr) {
  Thread& self = *running;
  self.state = State::kWaiting;
  self.name = name;
  self.mask = mask;
  self.object = object;
  self.site = site;
}

// Ascending, descending or random.
void shuffle(std::vector<unsigned>* order) {
  const auto kind = chance() % 3;
  std::iota(order->begin(), order->end(), 0u);
  if (kind == 1) std::reverse(order->begin(), order->end());
  if (kind == 2) std::shuffle(order->begin(), order->end(), chance);
}

// Runs each thread of the warp that can run until it waits.
bool run_warp(unsigned warp) {
  shuffle(&lane_order);
  running_warp = warp;
  next_lane = 0;
  Thread* const first = next_thread();
  if (first) first->fiber->resume();
  return first != nullptr;
}

// Runs every warp as far as it gets, one after another: each runs ahead of some and behind others
// by as much as barriers allow.
bool run_warps() {
  bool progress = false;
  shuffle(&warp_order);
  for (const unsigned warp : warp_order) {
    while (run_warp(warp)) progress = true;
  }
  return progress;
}

bool same_text(const char* one, const char* other) {
  return one == other || std::strcmp(one, other) == 0;
}

// True where all of `count` threads wait at the same barrier of this name; they can then continue.
// A barrier after some threads have left is refused, as is one reached from two places: hardware
// may accept these, the language does not guarantee them.
bool pass_barrier(const char* name, Thread* first, size_t count) {
  const bool all_there = std::all_of(first, first + count, [&](const Thread& thread) {
    return thread.state == State::kWaiting && thread.name == name &&
           thread.site.line == first->site.line && same_text(thread.site.file, first->site.file);
  });
  if (!all_there) return false;
  std::for_each(first, first + count, [](Thread& thread) { thread.state = State::kReady; });
  return true;
}

// Runs every block as far as it gets, one after another: as warps do, each runs ahead of some.
bool run_blocks() {
  bool progress = false;
  shuffle(&block_order);
  for (const unsigned block : block_order) {
    running_block = block;
    blockIdx = blocks[block].index;
    if (blocks[block].threads_left == 0) continue;
    while (run_warps() || pass_barrier(kBlockBarrier, threads_of(block), num_threads)) {
      progress = true;
    }
  }
  return progress;
}

bool pass_cluster_barriers() {
  bool progress = false;
  const unsigned size = running_grid->cluster_blocks;
  for (unsigned first = 0; first < blocks.size(); first += size) {
    if (!pass_barrier(kClusterBarrier, threads_of(first), size_t{size} * num_threads)) continue;
    publish_barriers({first, first + size});
    progress = true;
  }
  return progress;
}

// True where the lanes of self's mask, which all wait, wait at the same function with that mask.
bool lanes_agree(const Thread& self) {
  const Thread* const warp = &self - lane();
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if ((self.mask >> i & 1) == 0) continue;
    if (warp[i].mask != self.mask || !same_text(warp[i].name, self.name)) return false;
  }
  return true;
}

// Completes copies or products that a thread waits for, in random order.
bool land_something() {
  if (chance() % 2 == 0) return land_transfers() || land_products();
  return land_products() || land_transfers();
}

// Lets a thread go on that has stepped aside.
bool call_back_one() {
  std::vector<Thread*> aside;
  for (size_t i = 0; i < blocks.size() * num_threads; ++i) {
    if (threads[i].state == State::kWaiting && threads[i].name == kAside) {
      aside.push_back(&threads[i]);
    }
  }
  if (aside.empty()) return false;
  aside[chance() % aside.size()]->state = State::kReady;
  return true;
}

void begin_cluster(BlockRange range, const uint3& first) {
  for (unsigned block = range.first; block < range.end; ++block) {
    Block& begun = blocks[block];
    begun.index = {first.x + block - range.first, first.y, first.z};
    begun.threads_left = num_threads;
    begun.waited_for_grid = false;
    begun.named_barriers = {};
    std::fill(begun.lanes_waiting.begin(), begun.lanes_waiting.end(), 0u);
    if (begun.shared) std::memset(begun.shared.get(), 0xFF, running_grid->shared_bytes);
    for (unsigned i = 0; i < num_threads; ++i) {
      threads_of(block)[i].state = State::kReady;
      threads_of(block)[i].copies.begin();
      threads_of(block)[i].waited_for_grid = false;
    }
  }
  forget_barriers(range);
  forget_transfers(range);
  forget_products(range);
}

bool has_ended(BlockRange range) {
  return std::all_of(blocks.begin() + range.first, blocks.begin() + range.end,
                     [](const Block& block) { return block.threads_left == 0; });
}

// Starts the next clusters where others have ended. A cluster to which stores are in flight has not
// ended: they would overwrite the shared memory of the next one.
bool replace_clusters(StartOrder* order) {
  bool progress = false;
  std::erase_if(resident_clusters, [&](unsigned cluster) {
    const BlockRange range = blocks_of(cluster);
    if (!has_ended(range) || transfers_in_flight(range)) return false;
    require_no_products(range);
    progress = true;
    if (order->all_started()) return true;
    begin_cluster(range, order->next());
    return false;
  });
  return progress;
}

// Not rounded up, so that the address sanitizer detects an access to the next byte.
void* allocate_shared(size_t bytes) {
  void* data = nullptr;
  if (bytes > 0 && posix_memalign(&data, kSharedAlignment, bytes) != 0) throw std::bad_alloc();
  return data;
}

void prepare(const Grid& grid, unsigned resident) {
  running_grid = &grid;
  gridDim = grid.blocks;
  blockDim = grid.threads;
  chance.seed(emulated_seed());
  num_threads = grid.threads.x * grid.threads.y * grid.threads.z;
  const unsigned num_warps = (num_threads + kWarpSize - 1) / kWarpSize;
  warp_order.resize(num_warps);
  block_order.resize(size_t{resident} * grid.cluster_blocks);
  blocks.resize(block_order.size());
  for (Block& block : blocks) {
    block.shared.reset(allocate_shared(grid.shared_bytes));
    block.lanes_waiting.resize(num_warps);
  }
  // Those of grids with more blocks, whose addresses may be in use again.
  forget_barriers({0, ~0u});
  const size_t in_all = blocks.size() * num_threads;
  if (threads.size() < in_all) threads.resize(in_all);
  for (size_t i = 0; i < in_all; ++i) {
    const unsigned number = static_cast<unsigned>(i % num_threads);
    threads[i].index = {number % grid.threads.x, number / grid.threads.x % grid.threads.y,
                        number / grid.threads.x / grid.threads.y};
    if (!threads[i].fiber) threads[i].fiber = std::make_unique<Fiber>(thread_main);
  }
}

}  // namespace

bool run(const Grid& grid) {
  StartOrder order(grid);
  prepare(grid, order.resident());
  resident_clusters.resize(order.resident());
  std::iota(resident_clusters.begin(), resident_clusters.end(), 0u);
  for (const unsigned cluster : resident_clusters) begin_cluster(blocks_of(cluster), order.next());
  while (run_blocks() || pass_cluster_barriers() || replace_clusters(&order) || land_something() ||
         call_back_one()) {
  }
  const bool finished = resident_clusters.empty();
  if (!finished) {
    std::fprintf(stderr, "emulator: the grid cannot finish, %s\n", order.description().c_str());
    for (const unsigned cluster : resident_clusters) report_blocks(blocks_of(cluster));
    threads.clear();  // fibers in the middle of a kernel cannot be reused
  }
  blocks.clear();
  return finished;
}

void wait_for_block(Site site) {
  wait_at(kBlockBarrier, ~0u, site);
  suspend();
}

void wait_for_cluster(Site site) {
  wait_at(kClusterBarrier, ~0u, site);
  suspend();
}

const LaneValues& exchange(const char* name, unsigned mask, uint64_t value, Site site) {
  wait_at(name, mask, site);
  Thread& self = *running;
  self.value = value;
  unsigned& waiting = blocks[running_block].lanes_waiting[current / kWarpSize];
  waiting |= 1u << lane();
  if ((mask >> lane() & 1) != 0 && (waiting & mask) == mask && lanes_agree(self)) {
    // The last to arrive distributes the values, and need not wait itself.
    Thread* const warp = &self - lane();
    LaneValues values;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      values[i] = (mask >> i & 1) != 0 ? warp[i].value : ~uint64_t{0};
    }
    for (unsigned i = 0; i < kWarpSize; ++i) {
      if ((mask >> i & 1) == 0) continue;
      warp[i].values = values;
      warp[i].state = State::kReady;
    }
    waiting &= ~mask;
  } else {
    suspend();
  }
  return self.values;
}

void wait_for_object(const char* name, const void* object, unsigned parity, Site site) {
  wait_at(name, parity, site, object);
  suspend();
}

void wait_for_flag(const unsigned* flag, Site site) {
  wait_at(kFlag, 0, site, flag);
  suspend();
}

void step_aside(Site site) {
  wait_at(kAside, 0, site);
  suspend();
}

void wake_waiters(const void* object) {
  for (size_t i = 0; i < blocks.size() * num_threads; ++i) {
    Thread& thread = threads[i];
    if (thread.state == State::kWaiting && thread.object == object) thread.state = State::kReady;
  }
}

unsigned random_number() { return static_cast<unsigned>(chance()); }

unsigned lane() { return current % kWarpSize; }

unsigned thread_number() { return current; }

void wait_for_previous_grid() {
  blocks[running_block].waited_for_grid = running->waited_for_grid = true;
}

void require_previous_grid(const char* instruction) {
  if (running_grid->may_overlap && !running->waited_for_grid) {
    stop("%s before griddepcontrol.wait, in a grid that may overlap", instruction);
  }
}

bool clustered() { return running_grid->clustered; }

unsigned cluster_blocks() { return running_grid->cluster_blocks; }

unsigned resident_block() { return running_block; }

size_t shared_bytes() { return running_grid->shared_bytes; }

void start_copy(void* to, const void* from, size_t bytes) {
  if (from != nullptr) require_previous_grid("cp.async");
  running->copies.start(to, from, bytes);
}

void commit_copies() { running->copies.commit(); }

void wait_for_copies(int pending_groups) { running->copies.wait(pending_groups); }

}  // namespace emulator
