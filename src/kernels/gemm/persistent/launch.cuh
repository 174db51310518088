// The launch of the persistent kernels. Host only.
#pragma once

#include "kernels/gemm/config.h"
#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/launch.h"
#include "kernels/tensor_map.h"

namespace mygemm::persistent {

// The map of an operand that is contiguous along its first extent, then one ld, then one matrix
// further on. Fetched in boxes of one matrix.
inline Status make_map(OperandMap* map, const Operand& x, int64_t contiguous, int64_t lines,
                       int64_t batch_count, int box, int box_lines, bool swizzled,
                       bool fetches_256 = true) {
  const bool batched = batch_count > 1 && x.stride > 0;
  const int64_t bytes = element_bytes(x.type), pitch = x.ld * bytes;
  map->batch_step = batched ? 1 : 0;
  return encode_tensor_map(&map->map, {.address = x.data,
                                       .element_bytes = static_cast<int>(bytes),
                                       .extents = {contiguous, lines, batched ? batch_count : 1},
                                       .strides = {pitch, batched ? x.stride * bytes : pitch},
                                       .box = {box, box_lines, 1},
                                       .swizzled = swizzled,
                                       .fetches_256 = fetches_256});
}

// The maps of an operand by has_shifted_maps(). Boxes have 4 elements more than `box` along a line.
inline Status make_map(ShiftedMaps* maps, const Operand& x, int64_t contiguous, int64_t lines,
                       int64_t batch_count, int box, int box_lines) {
  constexpr int kMaps = ShiftedMaps::kMaps;
  const bool batched = batch_count > 1 && x.stride > 0;
  const int64_t pitch = kMaps * x.ld * 4;
  maps->batch_step = batched ? 1 : 0;
  for (int r = 0; r < kMaps; ++r) {
    const auto line = reinterpret_cast<uintptr_t>(x.data) + static_cast<uintptr_t>(r * x.ld * 4);
    const int shift = static_cast<int>(line % 16 / 4);
    maps->shifts[r] = shift;
    RETURN_IF_ERROR(encode_tensor_map(
        &maps->maps[r], {.address = reinterpret_cast<const void*>(line - line % 16),
                         .element_bytes = 4,
                         .extents = {contiguous + shift, (lines - r + kMaps - 1) / kMaps,
                                     batched ? batch_count : 1},
                         .strides = {pitch, batched ? x.stride * 4 : pitch},
                         .box = {box + 4, box_lines / kMaps, 1},
                         .swizzled = false}));
  }
  return MYGEMM_STATUS_SUCCESS;
}

inline Args args_of(const GemmProblem& p, const GemmConfig& config, const LaunchContext& context) {
  Args args = {};
  args.p = config.transposed ? transposed(p) : p;
  args.transposed = config.transposed;
  args.order = {static_cast<int>(config.tiles_m), static_cast<int>(config.tiles_n)};
  args.fast_order = {static_cast<unsigned>(config.tiles_m), static_cast<unsigned>(config.tiles_n)};
  args.schedule = config.schedule;
  if (config.k_split == KSplit::kStreamK) {
    args.flags = static_cast<StreamKFlags*>(context.workspace);
    args.partial_tiles = args.flags + 1;
  }
  return args;
}

// Clears the flags of stream-K tiles, where there are some, for the kernel that is launched next.
// Both wait on the device for the grid before them in the stream, and are there by then: for
// products of 20 to 30 us one after another in a stream that is 1 us of each on an H200, and 0.3 us
// in a graph.
inline Status clear_flags_for(const Args& args, const LaunchContext& context) {
  if (!args.flags) return MYGEMM_STATUS_SUCCESS;
  LaunchShape clears;
  clears.threads = kClearThreads;
  clears.may_overlap = true;
  return launch(context, clear_flags, clears, reinterpret_cast<unsigned*>(args.flags));
}

template <class... Maps>
Status launch_kernel(void (*kernel)(Args, Maps...), const Args& args, const GemmConfig& config,
                     const LaunchContext& context, const Maps&... maps) {
  RETURN_IF_ERROR(clear_flags_for(args, context));
  return launch(context, kernel, config, args, maps...);
}

}  // namespace mygemm::persistent
