// Emulator of the CUDA runtime: the scheduler of a cluster's threads. See execution.h.
#include "execution.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "copy_groups.h"
#include "device_functions.h"
#include "fiber.h"
#include "mbarrier.h"
#include "products.h"
#include "transfer.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace emulator {
namespace {

constexpr const char* kBlockBarrier = "__syncthreads";
constexpr const char* kClusterBarrier = "cluster_sync";

enum class State { kReady, kWaiting, kExited };

struct Thread {
  std::unique_ptr<Fiber> fiber;
  uint3 index{};
  State state = State::kReady;
  // What it waits at.
  const char* name = nullptr;
  unsigned mask = 0;
  const void* object = nullptr;  // a barrier in shared memory; the mask is then a parity
  Site site{};
  // The exchange with its warp.
  uint64_t value = 0;
  LaneValues values{};
  CopyGroups copies;
};

struct FreeDeleter {
  void operator()(void* data) const { std::free(data); }
};

struct Block {
  uint3 index{};
  std::unique_ptr<void, FreeDeleter> shared;
  std::vector<unsigned> lanes_waiting;  // of each warp, as bits: those that exchange values
  unsigned threads_left = 0;
};

const Grid* running_grid;
std::vector<Block> blocks;    // of the running cluster, by rank
std::vector<Thread> threads;  // block after block; their fibers are kept from launch to launch
unsigned num_threads;         // of a block
unsigned rank;                // of the running thread's block
unsigned current;             // the running thread's number within it
Thread* running;
std::minstd_rand chance;
std::vector<unsigned> block_order, warp_order, lane_order(kWarpSize);

Thread* threads_of(unsigned block) { return &threads[size_t{block} * num_threads]; }

unsigned seed() {
  const char* text = std::getenv("MYGEMM_EMULATED_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

// A fiber serves one CUDA thread after another.
void thread_main() {
  for (;;) {
    running_grid->kernel();
    wait_for_copies(-1);  // whatever is left, committed or not
    running->state = State::kExited;
    --blocks[rank].threads_left;
    Fiber::suspend();
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
  bool progress = false;
  Thread* const block = threads_of(rank);
  shuffle(&lane_order);
  for (const unsigned lane : lane_order) {
    const unsigned i = warp * kWarpSize + lane;
    if (i >= num_threads || block[i].state != State::kReady) continue;
    current = i;
    running = &block[i];
    threadIdx = block[i].index;
    block[i].fiber->resume();
    progress = true;
  }
  return progress;
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

// True where all of `count` threads wait at one and the same barrier of this name; they can then go
// on. A barrier after some threads have left is refused, as is one reached from two places:
// hardware may let it pass, the language does not promise it.
bool pass_barrier(const char* name, Thread* first, size_t count) {
  const bool all_there = std::all_of(first, first + count, [&](const Thread& thread) {
    return thread.state == State::kWaiting && thread.name == name &&
           thread.site.line == first->site.line &&
           std::strcmp(thread.site.file, first->site.file) == 0;
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
    rank = block;
    blockIdx = blocks[block].index;
    while (run_warps() || pass_barrier(kBlockBarrier, threads_of(block), num_threads)) {
      progress = true;
    }
  }
  return progress;
}

bool pass_cluster_barrier() {
  if (!pass_barrier(kClusterBarrier, threads.data(), blocks.size() * num_threads)) return false;
  publish_barriers();
  return true;
}

// True where the lanes of self's mask, which all wait, wait at the same function with that mask.
bool lanes_agree(const Thread& self) {
  const Thread* const warp = &self - lane();
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if ((self.mask >> i & 1) == 0) continue;
    if (warp[i].mask != self.mask || std::strcmp(warp[i].name, self.name) != 0) return false;
  }
  return true;
}

std::string describe(const Thread& thread) {
  if (thread.state == State::kExited) return "has exited";
  char text[512];
  std::snprintf(text, sizeof text,
                thread.object ? "waits at %s, parity %u, %s:%d" : "waits at %s, mask %08x, %s:%d",
                thread.name, thread.mask, thread.site.file, thread.site.line);
  return text;
}

void report_deadlock() {
  for (unsigned block = 0; block < blocks.size(); ++block) {
    const uint3& index = blocks[block].index;
    std::fprintf(stderr, "emulator: block (%u, %u, %u) cannot finish:\n", index.x, index.y,
                 index.z);
    const Thread* const of_block = threads_of(block);
    for (unsigned first = 0, next = 0; first < num_threads; first = next) {
      const std::string text = describe(of_block[first]);
      while (next < num_threads && describe(of_block[next]) == text) ++next;
      std::fprintf(stderr, "  threads %u to %u: each %s\n", first, next - 1, text.c_str());
    }
    report_barriers(block);
    report_transfers(block);
  }
}

// Of what is under way and a thread waits for: copies or products, by chance.
bool land_something() {
  if (chance() % 2 == 0) return land_transfers() || land_products();
  return land_products() || land_transfers();
}

bool run_cluster(const uint3& first) {
  for (unsigned block = 0; block < blocks.size(); ++block) {
    Block& begun = blocks[block];
    begun.index = {first.x + block, first.y, first.z};
    begun.threads_left = num_threads;
    std::fill(begun.lanes_waiting.begin(), begun.lanes_waiting.end(), 0u);
    if (begun.shared) std::memset(begun.shared.get(), 0xFF, running_grid->shared_bytes);
  }
  for (size_t i = 0; i < blocks.size() * num_threads; ++i) {
    threads[i].state = State::kReady;
    threads[i].copies.begin();
  }
  forget_barriers();
  forget_transfers();
  forget_products();
  while (run_blocks() || pass_cluster_barrier() || land_something()) {
  }
  // What arrives after a block has gone overwrites the next one's shared memory.
  const bool finished = !transfers_in_flight() &&
                        std::all_of(blocks.begin(), blocks.end(),
                                    [](const Block& block) { return block.threads_left == 0; });
  if (!finished) report_deadlock();
  if (finished) require_no_products();
  return finished;
}

// Not rounded up: the address sanitizer then sees the first byte too many.
void* allocate_shared(size_t bytes) {
  void* data = nullptr;
  if (bytes > 0 && posix_memalign(&data, kSharedAlignment, bytes) != 0) throw std::bad_alloc();
  return data;
}

void prepare(const Grid& grid) {
  running_grid = &grid;
  gridDim = grid.blocks;
  blockDim = grid.threads;
  chance.seed(seed());
  num_threads = grid.threads.x * grid.threads.y * grid.threads.z;
  const unsigned num_warps = (num_threads + kWarpSize - 1) / kWarpSize;
  warp_order.resize(num_warps);
  block_order.resize(grid.cluster_blocks);
  blocks.resize(grid.cluster_blocks);
  for (Block& block : blocks) {
    block.shared.reset(allocate_shared(grid.shared_bytes));
    block.lanes_waiting.resize(num_warps);
  }
  const size_t in_cluster = blocks.size() * num_threads;
  if (threads.size() < in_cluster) threads.resize(in_cluster);
  for (size_t i = 0; i < in_cluster; ++i) {
    const unsigned number = static_cast<unsigned>(i % num_threads);
    threads[i].index = {number % grid.threads.x, number / grid.threads.x % grid.threads.y,
                        number / grid.threads.x / grid.threads.y};
    if (!threads[i].fiber) threads[i].fiber = std::make_unique<Fiber>(thread_main);
  }
}

}  // namespace

bool run(const Grid& grid) {
  prepare(grid);
  bool finished = true;
  for (unsigned z = 0; finished && z < grid.blocks.z; ++z) {
    for (unsigned y = 0; finished && y < grid.blocks.y; ++y) {
      for (unsigned x = 0; finished && x < grid.blocks.x; x += grid.cluster_blocks) {
        finished = run_cluster({x, y, z});
      }
    }
  }
  if (!finished) threads.clear();  // fibers in the middle of a kernel are of no use any more
  blocks.clear();
  return finished;
}

void wait_for_block(Site site) {
  wait_at(kBlockBarrier, ~0u, site);
  Fiber::suspend();
}

void wait_for_cluster(Site site) {
  wait_at(kClusterBarrier, ~0u, site);
  Fiber::suspend();
}

const LaneValues& exchange(const char* name, unsigned mask, uint64_t value, Site site) {
  wait_at(name, mask, site);
  Thread& self = *running;
  self.value = value;
  unsigned& waiting = blocks[rank].lanes_waiting[current / kWarpSize];
  waiting |= 1u << lane();
  if ((mask >> lane() & 1) != 0 && (waiting & mask) == mask && lanes_agree(self)) {
    // The last to arrive hands out the values, and need not wait itself.
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
    Fiber::suspend();
  }
  return self.values;
}

void wait_for_object(const char* name, const void* object, unsigned parity, Site site) {
  wait_at(name, parity, site, object);
  Fiber::suspend();
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

bool clustered() { return running_grid->clustered; }

unsigned cluster_rank() { return rank; }

unsigned cluster_blocks() { return running_grid->cluster_blocks; }

bool has_ended(unsigned block) { return blocks[block].threads_left == 0; }

void* shared_memory() { return blocks[rank].shared.get(); }

std::byte* shared_address(unsigned block, size_t offset) {
  return static_cast<std::byte*>(blocks[block].shared.get()) + offset;
}

size_t shared_offset(unsigned block, const void* address) {
  return static_cast<size_t>(static_cast<const std::byte*>(address) - shared_address(block, 0));
}

size_t shared_bytes() { return running_grid->shared_bytes; }

bool in_shared_memory(const void* data, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(shared_memory());
  const auto at = reinterpret_cast<uintptr_t>(data);
  return at >= first && bytes <= shared_bytes() && at - first <= shared_bytes() - bytes;
}

void stop(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "emulator: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, " (block %u, %u, %u, thread %u)\n", blockIdx.x, blockIdx.y, blockIdx.z,
               thread_number());
  std::abort();
}

void start_copy(void* to, const void* from, size_t bytes) {
  running->copies.start(to, from, bytes);
}

void commit_copies() { running->copies.commit(); }

void wait_for_copies(int pending_groups) { running->copies.wait(pending_groups); }

}  // namespace emulator
