// Emulator of the CUDA runtime: barriers in shared memory that count arrivals and bytes (sm_90).
// Misuse ends the process, as other errors do that stop a GPU; a wait without end is reported with
// the cluster's other deadlocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution.h"

namespace emulator {

// Stops the kernel on a device that has no such instructions.
void require_hopper(const char* what);

// ---- called by device code ----

void init_barrier(uint64_t* barrier, unsigned arrivals);
// From now on copies may use the barriers that the calling thread has initialised.
void fence_barriers();
void arrive_expecting(uint64_t* barrier, unsigned bytes);
// At the barrier of the cluster's block `rank` that lies where `barrier` does in this block.
void arrive_in_block(unsigned rank, uint64_t* barrier);
void wait_for_barrier(uint64_t* barrier, unsigned parity, Site site);

// ---- called by transfer.cpp ----

// Stops the kernel where `barrier`, perhaps another block's, is not visible to the copy `what`: it
// was not initialised, or its initialisation was not published. A fence of the thread that
// initialised it publishes it to all, a barrier of the cluster only to stores of other blocks.
void require_fenced(uint64_t* barrier, const char* what);
void require_known(uint64_t* barrier, const char* what);
bool is_awaited(uint64_t* barrier);
// Counts bytes of `what` that have arrived, perhaps before they are announced. True where that ends
// the phase.
bool count_arrived(uint64_t* barrier, size_t bytes, const char* what);

// ---- called by the scheduler ----

// A cluster begins: it has no barriers.
void forget_barriers(BlockRange cluster);
// All the cluster's threads have met: each has seen what the others initialised.
void publish_barriers(BlockRange cluster);
// Prints to stderr the arrivals and bytes that unfinished barriers of a resident block wait for.
void report_barriers(unsigned block);

}  // namespace emulator
