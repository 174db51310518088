// Emulator of the CUDA runtime: asynchronous matrix products of a warpgroup (wgmma, sm_90a).
//
// Each destroys the registers that it will write at once. It reads its operands, registers and
// shared memory, at its commit or as late as can be, by chance: when no thread can run any more and
// one waits for it. So both a missing wait and a buffer filled too early show. Misuse ends the
// process, as other errors do that stop a GPU.
#pragma once

#include <cstdint>

#include "execution.h"

namespace emulator {

// ---- called by device code, by all lanes of a warp together ----

void fence_products();
// d = a b, plus d where `add`; `results` floats of d are this lane's, see wgmma_tf32().
void start_product(float* d, int results, const unsigned* a, uint64_t b, bool add);
void commit_products(Site site);
// `d` is what they write.
void wait_for_products(const float* d, Site site);

// ---- called by the scheduler ----

// A cluster begins: nothing is in flight in it.
void forget_products(BlockRange cluster);
// Carries out what a warp waits for; false where none does.
bool land_products();
// A cluster's threads have ended: stops the kernel where products are in flight, or where the warps
// of a warpgroup have not asked for the same ones.
void require_no_products(BlockRange cluster);

}  // namespace emulator
