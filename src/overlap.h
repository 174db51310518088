// Whether two strided matrices share a byte. Exact, so that sub-matrices of one larger array, whose
// address ranges interleave, are distinguished from operands that overlap. Pure.
#pragma once

#include <cstdint>

namespace mygemm {

// Byte counts and addresses of any 64-bit arguments, without overflow.
__extension__ typedef __int128 Wide;

// `count` runs of `bytes` bytes each, `stride` bytes from one to the next (stride >= bytes, or
// count = 1), starting at `base`: a column-major matrix by columns, a row-major one by rows.
struct Footprint {
  uintptr_t base;
  int64_t count, bytes, stride;
};

// `batch` footprints, `batch_stride` bytes apart (may be 0 or negative).
struct BatchedFootprint {
  Footprint matrix;
  int64_t batch, batch_stride;
};

bool overlap(const Footprint& x, const Footprint& y);

// Whether a matrix of x shares a byte with a matrix of y. Where same_index_may, pairs with the
// same index in the batch (in place; strides must be equal then) are left out. Exact up to
// kMaxPairs pairs whose address ranges meet; past that, which takes large batches that interleave
// in memory, the answer is false.
bool overlap(const BatchedFootprint& x, const BatchedFootprint& y, bool same_index_may = false);

constexpr int64_t kMaxPairs = 1 << 14;

// Whether two matrices of a batch share a byte. Exact, in logarithmic time.
bool overlaps_itself(const BatchedFootprint& x);

}  // namespace mygemm
