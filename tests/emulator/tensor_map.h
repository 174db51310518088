// Emulator of the CUDA runtime: tensor maps as the emulated accelerator reads them. Three
// dimensions, no interleaving, no swizzle or that of 128 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda.h"

namespace emulator {

// The contents of the 128 bytes of a CUtensorMap.
struct TensorMap {
  uint64_t mark;  // kTensorMapMark, in maps that the encoder has filled
  std::byte* address;
  int64_t extents[3];
  int64_t strides[3];  // bytes; the first is an element's
  int box[3];
  int swizzled;

  size_t element_bytes() const { return static_cast<size_t>(strides[0]); }
  size_t box_bytes() const;
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

inline constexpr uint64_t kTensorMapMark = 0x70616D5F726F736E;

// The alignment of shared memory that a map's copies require.
inline size_t alignment_of(const TensorMap& map) { return map.swizzled ? 1024 : 128; }

// The way back; elements outside the tensor are left out, but for the rest of 16 bytes.
void store_box(const std::byte* from, const TensorMap& map, const int (&at)[3]);
// Copies the box whose first element is `at`; elements outside the tensor become zeros.
void copy_box(std::byte* to, const TensorMap& map, const int (&at)[3]);

}  // namespace emulator
