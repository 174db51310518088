// Emulator of the CUDA runtime: asynchronous matrix products of a warpgroup (wgmma, sm_90a).
//
// Each product overwrites its destination registers with NaN at once. It reads its operands,
// registers and shared memory, at random either at its commit or as late as possible: when no
// thread can run and one waits for it. Both a missing wait and a buffer filled too early are
// therefore detected. Misuse ends the process, like other errors that stop a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution.h"

namespace emulator {

// ---- called by device code, by all lanes of a warp together ----

// The elements of the operands, and how B lies in shared memory: see src/ptx/wgmma.cuh. Of
// kShared16 both operands do, of kSharedB only B does, in lines of 128 bytes.
enum class ProductType : uint8_t { kTf32, kBf16, kBf16MNMajor, kShared16, kSharedB };

void fence_products();
// d = a b, plus d where `add`; `results` floats of d and 4 registers of a are this lane's, see
// src/ptx/wgmma.cuh.
void start_product(ProductType type, float* d, int results, const unsigned* a, uint64_t b,
                   bool add);
// The operands of a product of 16-bit values, both in shared memory in lines of 128 bytes:
// descriptors, and whether lines have one k.
struct SharedMatrix {
  uint64_t descriptor = 0;
  bool mn_major = false;

  bool operator==(const SharedMatrix&) const = default;
};
struct SharedOperands {
  bool bf16 = false;
  SharedMatrix a, b;

  bool operator==(const SharedOperands&) const = default;
};
void start_product_of_shared(float* d, int results, const SharedOperands& operands, bool add);
// The same with A in registers, of BF16 values.
void start_product_of_shared_b(float* d, int results, const unsigned* a, const SharedMatrix& b,
                               bool add);
void commit_products(Site site);
// Until all are done but those of the last `pending` groups. `d` holds results of some that are.
void wait_for_products(const float* d, size_t pending, Site site);
// The same without touching results, some of which stay in flight.
void wait_for_operands_of_products(size_t pending, Site site);

// ---- called by the scheduler ----

// A cluster begins: nothing is in flight in it.
void forget_products(BlockRange cluster);
// Computes the products that a warp waits for; false where none does.
bool land_products();
// A cluster's threads have ended: stops the kernel where products are in flight, or where the warps
// of a warpgroup have issued different ones.
void require_no_products(BlockRange cluster);

}  // namespace emulator
