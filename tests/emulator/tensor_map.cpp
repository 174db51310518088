// Emulator of the CUDA runtime: makes tensor maps, as strict as the driver's documentation, and
// copies boxes by them. See tensor_map.h.
#include "tensor_map.h"

#include <algorithm>
#include <cstring>

#include "device.h"

namespace emulator {
namespace {

size_t size_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64: return 8;
  }
  return 0;
}

bool is_multiple(const void* address, size_t of) {
  return reinterpret_cast<uintptr_t>(address) % of == 0;
}

bool within(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

// The 128-byte swizzle, written down a second time on purpose: kernels are tested against it.
size_t swizzled_offset(size_t offset) {
  const size_t row = offset / 128, chunk = offset / 16 % 8;
  return row * 128 + (chunk ^ row % 8) * 16 + offset % 16;
}

// The bytes of a box are visited 16 at a time, which any swizzle leaves together: calls of memcpy()
// for single elements took a twentieth of the products' tests.
constexpr size_t kChunk = 16;

// Calls visit(offset in the box, place in the tensor, first, end) for each 16 bytes, of which those
// from `first` to `end` are inside the tensor. Its lines have `extent` elements here.
template <class Visit>
void for_chunks(const TensorMap& map, int64_t extent, const int (&at)[3], Visit visit) {
  const auto bytes = static_cast<int64_t>(map.element_bytes());
  const auto in_chunk = static_cast<int64_t>(kChunk) / bytes;
  size_t offset = 0;
  for (int k = 0; k < map.box[2]; ++k) {
    for (int j = 0; j < map.box[1]; ++j) {
      const int64_t y = int64_t{at[1]} + j, z = int64_t{at[2]} + k;
      const bool inside = y >= 0 && y < map.extents[1] && z >= 0 && z < map.extents[2];
      std::byte* const line =
          inside ? map.address + y * map.strides[1] + z * map.strides[2] : nullptr;
      for (int64_t i = 0; i < map.box[0]; i += in_chunk, offset += kChunk) {
        const int64_t x = at[0] + i;
        const int64_t first = std::clamp<int64_t>(-x, 0, in_chunk);
        const int64_t end = inside ? std::clamp<int64_t>(extent - x, first, in_chunk) : first;
        visit(map.swizzled ? swizzled_offset(offset) : offset,
              first < end ? line + (x + first) * bytes : nullptr,
              static_cast<size_t>(first * bytes), static_cast<size_t>(end * bytes));
      }
    }
  }
}

}  // namespace

size_t TensorMap::box_bytes() const {
  return element_bytes() * static_cast<size_t>(box[0]) * static_cast<size_t>(box[1]) *
         static_cast<size_t>(box[2]);
}

void copy_box(std::byte* to, const TensorMap& map, const int (&at)[3]) {
  for_chunks(map, map.extents[0], at,
             [&](size_t offset, const std::byte* from, size_t first, size_t end) {
               if (end - first == kChunk) {
                 std::memcpy(to + offset, from, kChunk);
                 return;
               }
               std::memset(to + offset, 0, kChunk);
               if (first < end) std::memcpy(to + offset + first, from, end - first);
             });
}

void store_box(const std::byte* from, const TensorMap& map, const int (&at)[3]) {
  // Whole multiples of 16 bytes of a line, beyond its end where that is none.
  const auto elements = static_cast<int64_t>(kChunk / map.element_bytes());
  const int64_t extent = (map.extents[0] + elements - 1) / elements * elements;
  for_chunks(map, extent, at, [&](size_t offset, std::byte* to, size_t first, size_t end) {
    if (first < end) std::memcpy(to, from + offset + first, end - first);
  });
}

}  // namespace emulator

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  using emulator::is_multiple, emulator::within;
  if (emulator::device().cc < 90) return CUDA_ERROR_NOT_SUPPORTED;
  if (!emulator::has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  const bool swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  const size_t bytes = emulator::size_of(type);
  if (!map || !is_multiple(map, 64) || bytes == 0 || rank != 3 ||
      interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      (!swizzled && swizzle != CU_TENSOR_MAP_SWIZZLE_NONE) ||
      !within(promotion, 0, CU_TENSOR_MAP_L2_PROMOTION_L2_256B) ||
      fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!address || !is_multiple(address, 16)) return CUDA_ERROR_INVALID_VALUE;
  emulator::TensorMap filled{};
  filled.mark = emulator::kTensorMapMark;
  filled.address = static_cast<std::byte*>(address);
  filled.swizzled = swizzled;
  filled.strides[0] = static_cast<int64_t>(bytes);
  for (int d = 0; d < 3; ++d) {
    if (!within(extents[d], 1, uint64_t{1} << 32) || !within(box[d], 1, 256) ||
        element_strides[d] != 1) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    filled.extents[d] = static_cast<int64_t>(extents[d]);
    filled.box[d] = static_cast<int>(box[d]);
  }
  for (int d = 1; d < 3; ++d) {
    const uint64_t stride = strides[d - 1];
    if (stride % 16 != 0 || !within(stride, 1, (uint64_t{1} << 40) - 1)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    filled.strides[d] = static_cast<int64_t>(stride);
  }
  const size_t row_bytes = box[0] * bytes;
  if (strides[0] < extents[0] * bytes || row_bytes % 16 != 0 || (swizzled && row_bytes > 128)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(map, &filled, sizeof filled);
  return CUDA_SUCCESS;
}
