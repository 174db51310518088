// Emulator of the CUDA runtime: barriers in shared memory that count arrivals and bytes, and the
// copies of boxes that complete on them (sm_90).
//
// A copy destroys what it will overwrite at once, and brings its bytes as late as can be: when no
// thread can run any more and one waits for the barrier. A kernel that reads too early, or refills
// a buffer that others still read, finds all ones. Misuse ends the process, as other errors do
// that stop a GPU; a wait without end is reported with the block's other deadlocks.
#pragma once

#include <cstdint>

#include "cuda.h"
#include "execution.h"

namespace emulator {

// ---- called by device code ----

void init_barrier(uint64_t* barrier, unsigned arrivals);
// Barriers that the calling thread has initialised can be given to copies.
void fence_barriers();
void arrive_expecting(uint64_t* barrier, unsigned bytes);
void wait_for_barrier(uint64_t* barrier, unsigned parity, Site site);

void prefetch_map(const CUtensorMap* map);
void start_box(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3]);

// ---- called by the scheduler ----

// A block begins: it has no barriers, and nothing is in flight.
void forget_barriers();
// Some copy that a thread waits for arrives; false where there is none.
bool land_a_box();
bool boxes_in_flight();
// To stderr: what each unfinished barrier lacks.
void report_barriers();

}  // namespace emulator
