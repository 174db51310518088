// Addresses in shared memory that a tensor map with the 128-byte swizzle filled. Pure; no CUDA
// headers.
#pragma once

namespace mygemm {

// The offset of logical byte `offset` in a buffer that begins at a multiple of 1024 bytes.
//
// Without a swizzle, rows of 128 bytes lie one after another. All 32 banks are 128 bytes wide, so
// that the same 16 bytes of each row share 4 banks, and reading down a column has bank conflicts.
// With it, row r's chunk c of 16 bytes lies where chunk c ^ (r % 8) would: within its row, and in
// another 4 banks for each of 8 rows, after which the pattern repeats. In an offset, c is bits 4 to
// 6, and r % 8 is bits 7 to 9.
constexpr int swizzle_128b(int offset) { return offset ^ (offset >> 3 & 0x70); }

}  // namespace mygemm
