// Emulator of the CUDA runtime: the threads and blocks that are resident, as the scheduler
// (execution.cpp) and its reports of deadlocks (deadlock.cpp) see them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "copy_groups.h"
#include "execution.h"
#include "fiber.h"

namespace emulator {

// Waited for.
inline constexpr const char* kFlag = "a flag that is 0";
inline constexpr const char* kNamedBarrier = "named barrier";

enum class State { kReady, kWaiting, kExited };

struct Thread {
  std::unique_ptr<Fiber> fiber;
  uint3 index{};
  State state = State::kReady;
  // The function and place of its wait.
  const char* name = nullptr;
  unsigned mask = 0;
  // A barrier in shared memory, and the mask is a parity; a named barrier, and the mask is its
  // number; or a flag in global memory.
  const void* object = nullptr;
  Site site{};
  // The exchange with its warp.
  uint64_t value = 0;
  LaneValues values{};
  CopyGroups copies;
  bool waited_for_grid = false;  // for the grid before its own
};

// A named barrier of a block: `arrived` of `count` threads have come in this phase. A thread reads
// the value of the phase in which it came, before it comes again.
struct NamedBarrier {
  int count = 0, arrived = 0;
  unsigned phase = 0;
  bool any[2] = {};  // of a phase's values, by the phase's parity
};

struct FreeDeleter {
  void operator()(void* data) const { std::free(data); }
};

struct Block {
  uint3 index{};
  std::unique_ptr<void, FreeDeleter> shared;
  std::vector<unsigned> lanes_waiting;  // of each warp, as bits: those that exchange values
  unsigned threads_left = 0;
  bool waited_for_grid = false;  // one of its threads
  std::array<NamedBarrier, 16> named_barriers;
};

extern std::vector<Block> blocks;    // of the resident clusters, cluster after cluster, by rank
extern std::vector<Thread> threads;  // block after block; fibers are kept from launch to launch
extern unsigned num_threads;         // of a block

Thread* threads_of(unsigned block);

// Prints to stderr the waits of all threads of these blocks, and copies in flight to them.
void report_blocks(BlockRange range);

}  // namespace emulator
