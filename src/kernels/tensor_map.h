// Tensor maps: descriptions of tensors by which the tensor memory accelerator (sm_90 and later)
// copies boxes of them; see ptx/tma.cuh. Host code of .cu files only.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "status.h"

namespace mygemm {

// A tensor in three dimensions, the innermost first; a matrix has a third dimension of extent 1.
// Elements are moved as they are. The caller keeps these rules:
//   address       a multiple of 16
//   extents       1 to 2^32
//   strides       multiples of 16, more than 0, less than 2^40; the first at least a row's bytes.
//                 A dimension of extent 1 needs a legal one too.
//   box           1 to 256 in each dimension; its innermost bytes are a multiple of 16, and with
//                 the swizzle exactly 128: how rows of fewer would lie is not documented
// and, in the kernel,
//   shared memory begins at a multiple of 128 bytes, with the swizzle of 1024.
// On Blackwell, drivers up to CUDA 13.1 can fault on tensors that span less than 128 KiB with gaps
// between their rows (release notes of driver 595.71.05): copy those in another way.
struct TensorMapShape {
  const void* address;  // device
  int element_bytes;    // 1, 2, 4 or 8
  int64_t extents[3];   // elements
  int64_t strides[2];   // bytes from one element of dimensions 1 and 2 to the next
  int box[3];           // elements
  bool swizzled;  // the box in shared memory is as swizzle.h says; else rows one after another
  // L2 fetches 256 bytes at once, else 128. Lines of 128 bytes that begin anywhere else than at
  // multiples of 128 bytes need few of the others (16-bit operands on tensor cores, 3688 x 8120 x
  // 4888 on an H200: 673 us with 256, 570 with 128).
  bool fetches_256 = true;
};

// Fills the map, which a launch then passes by value. Cheap (no call into the device) and legal
// during stream capture. Fails where the driver does not know tensor maps or refuses the shape.
Status encode_tensor_map(CUtensorMap* map, const TensorMapShape& shape);

}  // namespace mygemm
