// The table of cross-entropy kernels, named by where a matrix row is held while it is worked on,
// and their Configs as text.
#include <climits>
#include <iterator>

#include "host/cross_entropy.h"
#include "kernels/config_text.h"
#include "kernels/cross_entropy/kernels.h"

namespace mygemm {
namespace {

// Measured on an H200, shares of a copy (docs/kernels/cross_entropy.md); the host's on two cores.
constexpr CrossEntropyKernel kKernels[] = {
    {.name = "cluster",  // 0.81 to 0.95 from 24000 columns on
     .min_cc = 90,
     .max_cc = INT_MAX,
     .configure = configure_cross_entropy_cluster,
     .launch = cuda_launcher<cuda::launch_cross_entropy_cluster>(),
     .figures = {.reads = 1, .efficiency = 0.84}},
    {.name = "block",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_cross_entropy_block,
     .launch = cuda_launcher<cuda::launch_cross_entropy_block>(),
     .figures = {.reads = 1, .efficiency = 0.70}},
    {.name = "narrow",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_cross_entropy_narrow,
     .launch = cuda_launcher<cuda::launch_cross_entropy_narrow>(),
     .figures = {.reads = 1, .efficiency = 0.75}},
    {.name = "reread",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_cross_entropy_reread,
     .launch = cuda_launcher<cuda::launch_cross_entropy_reread>(),
     .figures = {.reads = 2, .efficiency = 0.90}},
    {.name = "naive",
     .min_cc = 75,
     .max_cc = INT_MAX,
     .configure = configure_cross_entropy_naive,
     .launch = cuda_launcher<cuda::launch_cross_entropy_naive>(),
     .figures = {.reads = 3, .efficiency = 0.30}},
    {.name = "host_naive",
     .min_cc = 0,
     .max_cc = 0,
     .configure = host::configure_cross_entropy,
     .launch = host::launch_cross_entropy_naive,
     .figures = {.reads = 3, .efficiency = 0.04}},
};

}  // namespace

static_assert(std::size(kKernels) <= kMostKernels);

std::span<const CrossEntropyKernel> kernels_for(const CrossEntropyProblem&) { return kKernels; }

std::string describe(const CrossEntropyConfig& config) {
  if (config.blocks == 0) return "no grid";
  std::string result = grid_text(config);
  if (config.rows.runs > 0) {
    result += text(", %lld tiles a row in %d runs", static_cast<long long>(config.rows.tiles),
                   config.rows.runs);
  }
  if (config.ring.slots > 0) {
    result += text(", %d tiles a warp, %d slots", config.ring.tiles, config.ring.slots);
  }
  if (config.narrow.elements > 0) {
    constexpr const char* kLayouts[] = {"staged", "by packs", "one by one"};  // of NarrowRows
    result += text(", %d lanes a row, %d elements %s, %d rows a block",
                   1 << config.narrow.log2_lanes, config.narrow.elements,
                   kLayouts[static_cast<int>(config.narrow.layout)], config.narrow.rows());
  }
  if (config.workspace_bytes > 0) result += text(", workspace %zu bytes", config.workspace_bytes);
  return result;
}

std::string describe(const CrossEntropyFigures& figures) {
  return text("efficiency %g, reads %d", figures.efficiency, figures.reads);
}

}  // namespace mygemm
