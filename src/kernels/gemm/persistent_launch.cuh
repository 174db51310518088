// What the launchers of the products have in common whose blocks stay on their multiprocessor and
// take tile after tile, whole or cut along k (streamk.h), fed through tensor maps: tma.cuh and
// tf32x3.cuh. Host only.
#pragma once

#include <algorithm>

#include "kernels/gemm/columns.h"
#include "kernels/gemm/cut_tiles.cuh"
#include "kernels/gemm/tma_producer.cuh"
#include "kernels/launch.h"
#include "kernels/tensor_map.h"

namespace mygemm::fed {

// The map of an operand that is contiguous along its first extent, then one ld, then one matrix
// further on. Fetched in boxes of one matrix.
inline Status make_map(OperandMap* map, const GemmOperand<const float>& x, int64_t contiguous,
                       int64_t lines, int64_t batch_count, int box, int box_lines, bool swizzled) {
  const bool batched = batch_count > 1 && x.stride > 0;
  const int64_t pitch = x.ld * int64_t{sizeof(float)};
  map->batch_step = batched ? 1 : 0;
  return encode_tensor_map(&map->map,
                           {.address = x.data,
                            .element_bytes = sizeof(float),
                            .extents = {contiguous, lines, batched ? batch_count : 1},
                            .strides = {pitch, batched ? x.stride * int64_t{sizeof(float)} : pitch},
                            .box = {box, box_lines, 1},
                            .swizzled = swizzled});
}

// The arguments of args.p with all tiles whole, or with `cut` and enough workspace, cut along k so
// that all blocks have the same to do.
template <class Tile, class Args>
void share_out(Args* args, bool cut, const LaunchContext& context) {
  const GemmProblem& p = args->p;
  args->tiles_m = static_cast<int>(ceil_div(p.m, Tile::kBlockM));
  args->tiles_n = static_cast<int>(ceil_div(p.n, Tile::kBlockN));
  const int tiles = args->tiles_m * args->tiles_n * static_cast<int>(p.batch_count);
  const int sms = context.device->num_sms;
  const auto steps = static_cast<int>(ceil_div(p.k, Tile::kBlockK));
  args->shares = {.tiles = tiles,
                  .cut_tiles = cut ? tiles_to_cut(tiles, sms) : 0,
                  .steps = steps,
                  .blocks = cut ? blocks_to_share(tiles, steps, sms) : std::min(tiles, sms)};
  if (cut) {
    args->ready = static_cast<unsigned*>(context.workspace);
    args->pieces = reinterpret_cast<float*>(static_cast<char*>(context.workspace) + kFlagBytes);
  }
}

// Launches a kernel of such arguments, behind the one that clears their flags where tiles are cut.
// Both wait on the device for what comes before them in the stream, and are there by then: for
// products of 20 to 30 us one after another in a stream that is 1 us of each on an H200, and 0.3 us
// in a graph.
template <class Tile, class Shared, class Args>
Status launch_persistent(void (*kernel)(Args, OperandMap, OperandMap), const Args& args,
                         const OperandMap& a, const OperandMap& b, const LaunchContext& context) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(args.shares.blocks);
  shape.threads = Tile::kThreads;
  shape.shared_bytes = sizeof(Shared);
  if (args.ready) {
    LaunchShape clears;
    clears.threads = kClearThreads;
    clears.may_overlap = true;
    RETURN_IF_ERROR(launch(context, clear_flags, clears, args.ready));
  }
  shape.may_overlap = true;
  return launch(context, kernel, shape, args, a, b);
}

}  // namespace mygemm::fed
