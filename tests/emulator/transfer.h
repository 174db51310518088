// Emulator of the CUDA runtime: copies and stores that complete on a barrier in shared memory
// (sm_90): boxes of tensors, plain bytes, and stores to other blocks of the cluster.
//
// Each fills its destination with ones at once, and writes its bytes as late as possible: when no
// thread can run and one waits for the barrier. A kernel that reads too early, or refills a buffer
// that others still read, reads ones. Misuse ends the process, like other errors that stop a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda.h"
#include "execution.h"

namespace emulator {

// ---- called by device code ----

void prefetch_map(const CUtensorMap* map);
void start_box(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3]);
// The same to each block of the cluster whose bit is set in `blocks`, as start_store() does.
void start_boxes(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3],
                 unsigned blocks);
// Stores of boxes read shared memory between their start and the thread's wait for them, at random
// either at once or as late as possible.
void start_box_store(const CUtensorMap* map, const void* shared, const int (&at)[3]);
void commit_box_stores();
// Until all are done but those of the thread's last `pending` commits.
void wait_for_box_stores(int pending);
void start_bulk(void* shared, const void* global, size_t bytes, uint64_t* barrier);
// `shared` and `barrier` are the calling block's; those of block `rank` at their offsets are meant.
// `bytes`: 4 or 8, read at once.
void start_store(void* shared, uint64_t* barrier, unsigned rank, const void* value, size_t bytes);
// Loads from block `rank` of the cluster what is `shared` in the calling one. `bytes`: also the
// alignment.
void load_from_block(void* value, unsigned rank, const void* shared, size_t bytes);

// ---- called by the scheduler ----

// A cluster begins: nothing is in flight to it.
void forget_transfers(BlockRange cluster);
// Completes transfers that threads wait for until one thread can continue; false where none can.
bool land_transfers();
bool transfers_in_flight(BlockRange cluster);
// To stderr: what is in flight to a resident block.
void report_transfers(unsigned block);

}  // namespace emulator
