// The table of softmax kernels, named by where a matrix row is held while it is worked on, and
// their Configs as text.
#include <climits>
#include <iterator>

#include "host/softmax.h"
#include "kernels/config_text.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

// Measured on an H200 (bench/results/h200-softmax.json; 2^28 fp32 elements); kernels of the host on
// two cores.
constexpr SoftmaxKernel kKernels[] = {
    {.name = "warp",  // 0.96 to 1.00 from 16 columns on
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_warp,
     .launch = cuda_launcher<cuda::launch_softmax_warp>(),
     .figures = {.reads = 1, .efficiency = 0.98}},
    {.name = "bundle",  // 0.92 to 1.00 from 6 columns on
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_bundle,
     .launch = cuda_launcher<cuda::launch_softmax_bundle>(),
     .figures = {.reads = 1, .efficiency = 0.985}},
    {.name = "block",  // 0.97 to 1.00 up to 32768 columns of fp32
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_block,
     .launch = cuda_launcher<cuda::launch_softmax_block>(),
     .figures = {.reads = 1, .efficiency = 0.97}},
    {.name = "block_cluster",  // up to 33 rows: 0.45 to 0.9 of the time of block (H100)
     .min_cc = 90,
     .max_cc = INT_MAX,
     .configure = configure_softmax_block_cluster,
     .launch = cuda_launcher<cuda::launch_softmax_block_cluster>(),
     .figures = {.reads = 1, .efficiency = 0.8}},
    {.name = "wide_cluster",
     .min_cc = 90,
     .max_cc = INT_MAX,
     .configure = configure_softmax_wide_cluster,
     .launch = cuda_launcher<cuda::launch_softmax_wide_cluster>(),
     .figures = {.reads = 1, .efficiency = 0.85}},
    {.name = "cluster",  // 0.92 to 0.97 up to 524288 columns of fp32
     .min_cc = 90,
     .max_cc = INT_MAX,
     .configure = configure_softmax_cluster,
     .launch = cuda_launcher<cuda::launch_softmax_cluster>(),
     .figures = {.reads = 1, .efficiency = 0.96}},
    {.name = "split",  // 0.5 of a copy, where splitting rows gains nothing
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_split,
     .launch = cuda_launcher<cuda::launch_softmax_split>(),
     .figures = {.reads = 2, .efficiency = 0.8}},
    {.name = "reread",  // 0.65 of a copy, which is 0.97 for the bytes that it moves
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_reread,
     .launch = cuda_launcher<cuda::launch_softmax_reread>(),
     .figures = {.reads = 2, .efficiency = 0.96}},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_naive,
     .launch = cuda_launcher<cuda::launch_softmax_naive>(),
     .figures = {.reads = 3, .efficiency = 0.30}},
    {.name = "masked_warp",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_masked_warp,
     .launch = cuda_launcher<cuda::launch_softmax_masked_warp>(),
     .figures = {.reads = 1, .efficiency = 0.95, .masks = true}},
    {.name = "masked_block",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_masked_block,
     .launch = cuda_launcher<cuda::launch_softmax_masked_block>(),
     .figures = {.reads = 1, .efficiency = 0.93, .masks = true}},
    {.name = "masked_bundle",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_masked_bundle,
     .launch = cuda_launcher<cuda::launch_softmax_masked_bundle>(),
     .figures = {.reads = 1, .efficiency = 0.8, .masks = true}},
    {.name = "masked_reread",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_masked_reread,
     .launch = cuda_launcher<cuda::launch_softmax_masked_reread>(),
     .figures = {.reads = 2, .efficiency = 0.6, .masks = true}},
    {.name = "masked_naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_softmax_masked_naive,
     .launch = cuda_launcher<cuda::launch_softmax_masked_naive>(),
     .figures = {.reads = 3, .efficiency = 0.1, .masks = true}},
    {.name = "host_vectorised",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_softmax,
     .launch = host::launch_softmax_vectorised,
     .figures = {.reads = 1, .efficiency = 0.45}},
    {.name = "host_naive",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_softmax,
     .launch = host::launch_softmax_naive,
     .figures = {.reads = 3, .efficiency = 0.04}},
    {.name = "host_masked",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_softmax,
     .launch = host::launch_softmax_masked,
     .figures = {.reads = 3, .efficiency = 0.04, .masks = true}},
};

}  // namespace

static_assert(std::size(kKernels) <= kMostKernels);

std::span<const SoftmaxKernel> kernels_for(const SoftmaxProblem&) { return kKernels; }

std::string describe(const SoftmaxConfig& config) {
  if (config.blocks == 0) return "no grid";
  std::string result = grid_text(config);
  if (config.lanes.packs > 0) {
    result += text(", %d lanes a row, %d accesses each", 1 << config.lanes.log2_lanes,
                   config.lanes.packs);
  }
  if (config.bundle.rows > 0) result += text(", %d rows a block", config.bundle.rows);
  if (config.block.packs > 0) result += text(", %d accesses a thread", config.block.packs);
  if (config.rows.runs > 0) {
    result += text(", %lld tiles a row in %d runs", static_cast<long long>(config.rows.tiles),
                   config.rows.runs);
  }
  if (config.split.blocks_of_row > 0) {
    result +=
        text(", %lld blocks a row, a %s a warp", static_cast<long long>(config.split.blocks_of_row),
             config.split.run_for_each_warp ? "run" : "tile");
  }
  if (config.ring.slots > 0) {
    result +=
        text(", %d runs and %d tiles a warp, %d slots, %d tiles in registers",
             config.ring.runs_of_warp, config.ring.tiles, config.ring.slots, config.ring.held);
  }
  if (config.held_tiles > 0) result += text(", %d tiles a warp", config.held_tiles);
  if (config.masked.held > 0) {
    result += text(", %d %s a thread", config.masked.held,
                   config.masked.in_packs ? "accesses" : "elements");
    if (config.masked.bundle.rows > 0) {
      result += text(", %d rows a run", config.masked.bundle.rows);
    }
  }
  if (config.workspace_bytes > 0) result += text(", workspace %zu bytes", config.workspace_bytes);
  return result;
}

std::string describe(const SoftmaxFigures& figures) {
  return text("efficiency %g, reads %d", figures.efficiency, figures.reads);
}

}  // namespace mygemm
