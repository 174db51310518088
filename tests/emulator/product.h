// Emulator of the CUDA runtime: one matrix product of a warp on tensor cores, 16 rows of A times
// B in shared memory. products.h says when it is carried out.
#pragma once

#include <cstdint>

#include "products.h"

namespace emulator {

constexpr int kMostDepth = 16, kWarpRows = 16, kMostColumns = 256;

struct Operands {
  double a[kWarpRows][kMostDepth];
  double b[kMostDepth][kMostColumns];
};

// Takes a lane's registers of A. The rows of a warp are 16.
void take_a(Operands& operands, ProductType type, unsigned lane, const unsigned* a);
// Reads B, which the descriptor `matrix` describes, from the shared memory of `block`; stops the
// kernel where it does not lie as src/ptx/wgmma.cuh says.
void read_b(Operands& operands, unsigned block, ProductType type, uint64_t matrix, int columns);
// Reads both operands from the shared memory of `block`: of A the rows of a warp of the warpgroup.
void read_shared(Operands& operands, unsigned block, const SharedOperands& from, int warp,
                 int columns);
// Reads B alone.
void read_shared_b(Operands& operands, unsigned block, const SharedOperands& from, int columns);
// Adds the products of `depth` k. Each sum is rounded once, towards zero. Products are exact in
// FP64, and the sum of 9 or 17 numbers nearly so.
void add_products(double (&sums)[kWarpRows][kMostColumns], const Operands& operands, int depth,
                  int columns);

}  // namespace emulator
