// Emulator of the CUDA runtime: the scheduler of a block's threads. See execution.h.
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

#include "device_functions.h"
#include "fiber.h"
#include "mbarrier.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace emulator {
namespace {

constexpr const char* kBlockBarrier = "__syncthreads";

struct Copy {
  void* to;
  const void* from;
  size_t bytes;
  int group;
};

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
  // Copies not yet made, oldest first.
  std::vector<Copy> copies;
  int groups_committed = 0;
};

struct FreeDeleter {
  void operator()(void* data) const { std::free(data); }
};

std::vector<Thread> threads;          // their fibers are kept from launch to launch
std::vector<unsigned> lanes_waiting;  // of each warp, as bits: those that exchange values
unsigned num_threads;
unsigned current;  // the running one's number
const Grid* running_grid;
std::unique_ptr<void, FreeDeleter> shared;
std::minstd_rand chance;
std::vector<unsigned> warp_order, lane_order(kWarpSize);

unsigned seed() {
  const char* text = std::getenv("MYGEMM_EMULATED_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

// A fiber serves one CUDA thread after another.
void thread_main() {
  for (;;) {
    running_grid->kernel();
    wait_for_copies(-1);  // whatever is left, committed or not
    threads[current].state = State::kExited;
    Fiber::suspend();
  }
}

void wait_at(const char* name, unsigned mask, Site site, const void* object = nullptr) {
  Thread& self = threads[current];
  self.state = State::kWaiting;
  self.name = name;
  self.mask = mask;
  self.object = object;
  self.site = site;
}

bool waits_for(const Thread& thread, const void* object) {
  return thread.state == State::kWaiting && thread.object == object;
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
  shuffle(&lane_order);
  for (const unsigned lane : lane_order) {
    const unsigned i = warp * kWarpSize + lane;
    if (i >= num_threads || threads[i].state != State::kReady) continue;
    current = i;
    threadIdx = threads[i].index;
    threads[i].fiber->resume();
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

// True where all threads wait at one and the same barrier of the block; they can then go on. A
// barrier after some threads have left is refused, as is one reached from two places: hardware may
// let it pass, the language does not promise it.
bool pass_block_barrier() {
  const auto end = threads.begin() + num_threads;
  const Thread& first = threads.front();
  const bool all_there = std::all_of(threads.begin(), end, [&](const Thread& thread) {
    return thread.state == State::kWaiting && thread.name == kBlockBarrier &&
           thread.site.line == first.site.line &&
           std::strcmp(thread.site.file, first.site.file) == 0;
  });
  if (!all_there) return false;
  std::for_each(threads.begin(), end, [](Thread& thread) { thread.state = State::kReady; });
  return true;
}

// True where the lanes of self's mask, which all wait, wait at the same function with that mask.
bool lanes_agree(const Thread& self) {
  const Thread* const warp = &threads[current - lane()];
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
  std::fprintf(stderr, "emulator: block (%u, %u, %u) cannot finish:\n", blockIdx.x, blockIdx.y,
               blockIdx.z);
  for (unsigned first = 0, next = 0; first < num_threads; first = next) {
    const std::string text = describe(threads[first]);
    while (next < num_threads && describe(threads[next]) == text) ++next;
    std::fprintf(stderr, "  threads %u to %u: each %s\n", first, next - 1, text.c_str());
  }
  report_barriers();
}

bool run_block() {
  for (unsigned i = 0; i < num_threads; ++i) {
    threads[i].state = State::kReady;
    threads[i].groups_committed = 0;
  }
  std::fill(lanes_waiting.begin(), lanes_waiting.end(), 0u);
  if (shared) std::memset(shared.get(), 0xFF, running_grid->shared_bytes);
  forget_barriers();
  while (run_warps() || pass_block_barrier() || land_a_box()) {
  }
  // What arrives after the block has gone overwrites the next one's shared memory.
  const bool finished =
      !boxes_in_flight() &&
      std::all_of(threads.begin(), threads.begin() + num_threads,
                  [](const Thread& thread) { return thread.state == State::kExited; });
  if (!finished) report_deadlock();
  return finished;
}

void prepare(const Grid& grid) {
  running_grid = &grid;
  gridDim = grid.blocks;
  blockDim = grid.threads;
  chance.seed(seed());
  num_threads = grid.threads.x * grid.threads.y * grid.threads.z;
  if (threads.size() < num_threads) threads.resize(num_threads);
  const unsigned num_warps = (num_threads + kWarpSize - 1) / kWarpSize;
  warp_order.resize(num_warps);
  lanes_waiting.resize(num_warps);
  for (unsigned i = 0; i < num_threads; ++i) {
    threads[i].index = {i % grid.threads.x, i / grid.threads.x % grid.threads.y,
                        i / grid.threads.x / grid.threads.y};
    if (!threads[i].fiber) threads[i].fiber = std::make_unique<Fiber>(thread_main);
  }
  // Not rounded up: the address sanitizer then sees the first byte too many.
  void* bytes = nullptr;
  if (grid.shared_bytes > 0 && posix_memalign(&bytes, kSharedAlignment, grid.shared_bytes) != 0) {
    throw std::bad_alloc();
  }
  shared.reset(bytes);
}

}  // namespace

bool run(const Grid& grid) {
  prepare(grid);
  bool finished = true;
  for (unsigned z = 0; finished && z < grid.blocks.z; ++z) {
    for (unsigned y = 0; finished && y < grid.blocks.y; ++y) {
      for (unsigned x = 0; finished && x < grid.blocks.x; ++x) {
        blockIdx = {x, y, z};
        finished = run_block();
      }
    }
  }
  if (!finished) threads.clear();  // fibers in the middle of a kernel are of no use any more
  shared.reset();
  return finished;
}

void wait_for_block(Site site) {
  wait_at(kBlockBarrier, ~0u, site);
  Fiber::suspend();
}

const LaneValues& exchange(const char* name, unsigned mask, uint64_t value, Site site) {
  wait_at(name, mask, site);
  Thread& self = threads[current];
  self.value = value;
  unsigned& waiting = lanes_waiting[current / kWarpSize];
  waiting |= 1u << lane();
  if ((mask >> lane() & 1) != 0 && (waiting & mask) == mask && lanes_agree(self)) {
    // The last to arrive hands out the values, and need not wait itself.
    Thread* const warp = &threads[current - lane()];
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
  for (unsigned i = 0; i < num_threads; ++i) {
    if (waits_for(threads[i], object)) threads[i].state = State::kReady;
  }
}

bool is_waited_for(const void* object) {
  return std::any_of(threads.begin(), threads.begin() + num_threads,
                     [&](const Thread& thread) { return waits_for(thread, object); });
}

unsigned random_number() { return static_cast<unsigned>(chance()); }

unsigned lane() { return current % kWarpSize; }

unsigned thread_number() { return current; }

void* shared_memory() { return shared.get(); }

size_t shared_bytes() { return running_grid->shared_bytes; }

void stop(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "emulator: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, " (block %u, %u, %u, thread %u)\n", blockIdx.x, blockIdx.y, blockIdx.z,
               thread_number());
  std::abort();
}

namespace {
void perform(const Copy& copy) {
  if (copy.from) {
    std::memcpy(copy.to, copy.from, copy.bytes);
  } else {
    std::memset(copy.to, 0, copy.bytes);
  }
}
}  // namespace

void start_copy(void* to, const void* from, size_t bytes) {
  Thread& self = threads[current];
  const Copy copy{to, from, bytes, self.groups_committed};
  if (chance() % 2 == 0) {
    perform(copy);
  } else {
    self.copies.push_back(copy);
  }
}

void commit_copies() { ++threads[current].groups_committed; }

void wait_for_copies(int pending_groups) {
  Thread& self = threads[current];
  if (self.copies.empty()) return;
  const int groups_done = self.groups_committed - pending_groups;
  const auto pending = std::find_if(self.copies.begin(), self.copies.end(),
                                    [&](const Copy& copy) { return copy.group >= groups_done; });
  std::for_each(self.copies.begin(), pending, perform);
  self.copies.erase(self.copies.begin(), pending);
}

}  // namespace emulator
