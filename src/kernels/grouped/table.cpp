// The table of kernels of grouped products, and how they are configured.
#include <climits>
#include <iterator>

#include "kernels/gemm/textbook.h"
#include "kernels/grouped/kernels.h"
#include "kernels/grouped/list.h"

namespace mygemm {
namespace {

// Beside its products: the kernel that makes the list.
constexpr double kListSeconds = 4e-6;

// The needs of all kernels that compute from a list; nullptr, or the reason why they cannot.
const char* configure_list(const GroupedFacts& facts, const PlanOptions& options,
                           GemmConfig* config) {
  if (facts.problem.most.batch_count > grouped::kMostProducts) return "too many products to list";
  config->workspace_bytes = grouped::list_bytes(facts.problem);
  if (options.workspace_bytes < config->workspace_bytes) return "the workspace is too small";
  config->may_overlap = true;
  return nullptr;
}

// No fewer than the block tiles of all products, nor than one, as a double: their number may exceed
// every integer type.
double most_tiles(const GroupedFacts& facts, int block_m, int block_n) {
  const GroupedProblem& p = facts.problem;
  const auto count = static_cast<double>(p.most.batch_count);
  const auto tiles = [&](Stacked along, int64_t most, int block) {
    const double each = static_cast<double>(ceil_div(most, block)) * count;
    const double all = static_cast<double>(ceil_div(p.groups.total, block)) + count;
    return p.groups.stacked == along ? std::min(each, all) : each;
  };
  const double m = tiles(Stacked::kM, p.most.m, block_m);
  const double n = tiles(Stacked::kN, p.most.n, block_n);
  return std::max(1.0, m * n / std::max(1.0, count));
}

// Estimated seconds: at this share of FFMA peak, with tiles that are half empty where products end.
double seconds(const GroupedFacts& facts, const DeviceTraits& device, double efficiency, int unit_m,
               int unit_n) {
  const GroupedTotals& t = facts.totals;
  const auto filled = [](double mean, int unit) { return mean / (mean + 0.5 * unit); };
  const double computing =
      t.flops /
      (device.fp32_flops * efficiency * filled(t.mean_m, unit_m) * filled(t.mean_n, unit_n) + 1.0);
  return kListSeconds + kLaunchSeconds +
         estimate::overlapped(computing, t.bytes / device.memory_bandwidth);
}

const char* configure_naive_tiles(const GroupedKernel& kernel, const GroupedFacts& facts,
                                  const DeviceTraits& device, const PlanOptions& options,
                                  GemmConfig* config) {
  set_tiles<TileNaive>(config, facts.problem.most);
  set_block<TileNaive>(config, device);
  config->blocks = static_cast<int64_t>(std::min(
      most_tiles(facts, config->block_m, config->block_n), static_cast<double>(kMostGridBlocks)));
  config->seconds =
      seconds(facts, device, kernel.figures.efficiency, config->block_m, config->block_n);
  return configure_list(facts, options, config);
}

template <class Tile>
const char* configure_warptiled_tiles(const GroupedKernel& kernel, const GroupedFacts& facts,
                                      const DeviceTraits& device, const PlanOptions& options,
                                      GemmConfig* config) {
  const GemmProblem& p = facts.problem.most;
  set_tiles<Tile>(config, p);
  set_block<Tile>(config, device);
  config->shared_bytes = sizeof(grouped::WarpTiledStorage<Tile>);
  config->load_a = p.transa ? OperandLoad::kTransposing : OperandLoad::kCopy4;
  config->load_b = p.transb ? OperandLoad::kCopy4 : OperandLoad::kTransposing;
  const double tiles = most_tiles(facts, Tile::kBlockM, Tile::kBlockN);
  if (tiles > static_cast<double>(kMostGridBlocks)) return kTooManyTiles;
  config->blocks = static_cast<int64_t>(tiles);
  config->seconds = seconds(facts, device, kernel.figures.efficiency, Tile::kBlockM, Tile::kBlockN);
  return configure_list(facts, options, config);
}

template <class Tile>
const char* configure_tensor16_tiles(const GroupedKernel& kernel, const GroupedFacts& facts,
                                     const DeviceTraits& device, const PlanOptions& options,
                                     GemmConfig* config) {
  const GroupedProblem& p = facts.problem;
  const GemmProblem whole = with_total(p);
  if (std::max({whole.m, whole.n, whole.k}) > persistent::kMostExtent) {
    return "m, n or k of 2^31 - 1024 and more";
  }
  config->transposed = grouped::is_transposed(p);
  config->block_m = Tile::kRows;
  config->block_n = Tile::kColumns;
  config->block_k = Tile::kBlockK;
  config->tiles_m = ceil_div(config->transposed ? p.most.n : p.most.m, Tile::kRows);
  config->tiles_n = ceil_div(config->transposed ? p.most.m : p.most.n, Tile::kColumns);
  const double tiles = most_tiles(facts, config->transposed ? Tile::kColumns : Tile::kRows,
                                  config->transposed ? Tile::kRows : Tile::kColumns);
  if (tiles > static_cast<double>(kMostGridBlocks)) return kTooManyTiles;
  config->threads = Tile::kThreads;
  config->shared_bytes = Tile::kSharedBytes;
  config->resident = 1;
  config->blocks = std::min(static_cast<int64_t>(tiles), int64_t{device.num_sms});
  config->load_a = config->load_b = Tile::kMapped ? OperandLoad::kTensorMap : OperandLoad::kCopy16;
  if (Tile::kMapped) {
    if (const char* reason = grouped::unfit_for_maps(p)) return reason;
  }
  config->seconds = seconds(facts, device, kernel.figures.efficiency,
                            config->transposed ? grouped::kUnit : Tile::kRows,
                            config->transposed ? Tile::kRows : grouped::kUnit);
  return configure_list(facts, options, config);
}

// The workspace that the products have one after another: enough for stream-K.
constexpr size_t kOfProducts = size_t{32} << 20;

// The sum of what the products take at least, each by its fastest kernel, and a little more.
const char* configure_one_by_one(const GroupedKernel&, const GroupedFacts& facts,
                                 const DeviceTraits& device, const PlanOptions& options,
                                 GemmConfig* config) {
  if (facts.problem.groups.on_device) return "sizes are known on the device only";
  const bool on_host = device.cc == 0;
  config->workspace_bytes = on_host ? 0 : std::min(options.workspace_bytes, kOfProducts);
  constexpr double kMargin = 1.15, kMostPlanned = 64;
  const GroupedProblem& p = facts.problem;
  double least_of_all = 0, planned = 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < p.most.batch_count && planned < kMostPlanned; ++i, ++planned) {
    const ProductSizes sizes = sizes_of(p, i, sum);
    sum += stacked_size(p, sizes);
    if (sizes.m > 0 && sizes.n > 0) {
      least_of_all += mygemm::least_seconds(product_of(p, i, sizes), device);
    }
  }
  // The first of many products stand for all.
  const double products = static_cast<double>(p.most.batch_count) / std::max(1.0, planned);
  config->seconds = kMargin * least_of_all * products;
  return nullptr;
}

constexpr GroupedKernel one_by_one(const char* name, int min_cc, int max_cc) {
  return {name,
          min_cc,
          max_cc,
          configure_one_by_one,
          launch_one_by_one,
          {.takes = Takes::kAny, .any_order = true}};
}

template <class Tile>
constexpr GroupedKernel tensor16_kernel(const char* name, double efficiency) {
  return {name,
          90,
          90,
          configure_tensor16_tiles<Tile>,
          cuda_launcher<cuda::launch_grouped_tensor16<Tile>>(),
          {.takes = Takes::k16Bit, .efficiency = efficiency, .order = &tensor16::kOrder}};
}

template <class Tile>
constexpr GroupedKernel warptiled_kernel(const char* name, double efficiency) {
  return {name,
          75,
          INT_MAX,
          configure_warptiled_tiles<Tile>,
          cuda_launcher<cuda::launch_grouped_warptiled<Tile>>(),
          {.takes = Takes::kFp32, .efficiency = efficiency, .order = &kChainOrder}};
}

// Efficiency: share of FFMA peak where products fill their tiles.
constexpr GroupedKernel kKernels[] = {
    one_by_one("one_by_one", 75, INT_MAX),
    one_by_one("host_one_by_one", 0, 0),
    tensor16_kernel<Grouped16Mapped>("grouped_tensor16", 9.5),
    tensor16_kernel<Grouped16Copied>("grouped_tensor16_lines", 4.5),
    warptiled_kernel<Tile64x64>("grouped_warptiled_64x64", 0.50),
    {"grouped_naive",
     75,
     INT_MAX,
     configure_naive_tiles,
     cuda_launcher<cuda::launch_grouped_naive>(),
     {.takes = Takes::kAny, .efficiency = 0.04, .order = &kChainOrder}},
};

}  // namespace

static_assert(std::size(kKernels) <= kMostKernels);

std::span<const GroupedKernel> kernels_for(const GroupedProblem&) { return kKernels; }

}  // namespace mygemm
