// Emulator of the CUDA runtime: how a grid runs. Some clusters are resident at once
// (start_order.h), and the next one starts when one of them has ended; every CUDA thread is a fiber
// that runs until it waits for others. Which fiber runs next is shuffled, so that code which
// depends on the order fails. This is the interface between device_functions.h and the scheduler in
// execution.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "vector_types.h"

namespace emulator {

inline constexpr unsigned kWarpSize = 32;
inline constexpr size_t kSharedAlignment = 1024;  // as src/ptx/shared.cuh declares

// Where device code called a function that waits; found by the default argument of that function.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

struct Grid {
  dim3 blocks, threads;
  size_t shared_bytes = 0;
  bool clustered = false;        // launched as clusters
  unsigned cluster_blocks = 1;   // along x
  bool may_overlap = false;      // the grid before it: its blocks must wait for that
  std::function<void()> kernel;  // with its arguments bound; called once by each thread
};

// Runs a grid to its end. False where all resident threads wait for ever, or leave copies in
// flight; which and where has then been printed to stderr. Not thread-safe: the runtime holds its
// lock.
bool run(const Grid& grid);

// ---- called by device code ----

// Waits for every thread of the block.
void wait_for_block(Site site);

// Waits for `count` threads of the block, whole warps, to come to its named barrier `number`;
// returns whether any of them passed true.
bool any_at_barrier(int number, int count, bool value, Site site);

// The cluster of the running block, which is alone where the grid was not launched as clusters.
bool clustered();
unsigned cluster_rank();
unsigned cluster_blocks();
// Waits for every thread of the cluster.
void wait_for_cluster(Site site);

// Notes that the thread, and so the block, waits for the grid before its own.
void wait_for_previous_grid();
// Ends the process where the running thread may read or write before that grid has ended. For
// copies, which a block starts at its beginning, and the accelerator's stores.
void require_previous_grid(const char* instruction);

// Waits for the lanes of `mask`, which must call it with the same name and mask, and returns what
// each of them passed. Lanes outside the mask are all ones.
using LaneValues = std::array<uint64_t, kWarpSize>;
const LaneValues& exchange(const char* name, unsigned mask, uint64_t value, Site site);

// Waits for a change of a flag in global memory, which ends with wake_waiters(flag).
void wait_for_flag(const unsigned* flag, Site site);
// Goes on when nothing else can, of several threads one by chance: so others are ahead of it as far
// as they do not wait for it.
void step_aside(Site site);

unsigned lane();
unsigned thread_number();  // within the block

// The shared memory of the running block: exactly the bytes that the launch asked for.
void* shared_memory();
size_t shared_bytes();
// Whether all these bytes belong to the shared memory of the running block.
bool in_shared_memory(const void* data, size_t bytes);

// Ends the process with a message, as a GPU stops a kernel that breaks one of its rules.
[[noreturn, gnu::format(printf, 1, 2)]] void stop(const char* format, ...);

inline bool is_multiple(const void* address, size_t of) {
  return reinterpret_cast<uintptr_t>(address) % of == 0;
}

// Asynchronous copies. Each happens between its start and the wait for its group, at random either
// at once or as late as possible, so that both a missing wait and a buffer filled too early are
// detected. A nullptr for `from` fills with zeros.
void start_copy(void* to, const void* from, size_t bytes);
void commit_copies();
void wait_for_copies(int pending_groups);

// ---- called by mbarrier.cpp and transfer.cpp ----

// Waits for wake_waiters(object).
void wait_for_object(const char* name, const void* object, unsigned parity, Site site);
void wake_waiters(const void* object);

// Numbers of blocks among the resident ones: that of the running block, and that of the block
// `rank` of its cluster. A cluster's blocks have numbers in a row.
unsigned resident_block();
unsigned resident_block(unsigned rank);
struct BlockRange {
  unsigned first, end;
  bool contains(unsigned block) const { return block >= first && block < end; }
};

// The address in the shared memory of a resident block, the way back, and whether all its threads
// have ended.
std::byte* shared_address(unsigned block, size_t offset);
size_t shared_offset(unsigned block, const void* address);
bool has_ended(unsigned block);

// The next random number; MYGEMM_EMULATED_SEED is the seed.
unsigned random_number();

}  // namespace emulator
