// Configuration of the transposes that gather packs of the output (gathered.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/triangle.h"

namespace mygemm {
namespace {

constexpr const char* kSizeReason = "only for elements of at most 8 bytes";
constexpr int64_t kLeastSide = 128;  // bytes of a tile along a row

constexpr int64_t up_to_multiple(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

// The bytes of a tile along a row of the input and along a row of the output.
struct TileBytes {
  int64_t in, out;
};

// H200: from rows of 256 to rows of 384 bytes of the input +2 points of a copy, of 512 bytes no
// more; tiles of more than 80 KiB, of which a multiprocessor holds one, -3.
constexpr TileBytes largest_tile(int64_t element_size) {
  return {element_size == 1 ? 256 : 384, element_size == 8 ? 512 : 256};
}

// Sets what depends on the tile's extent: its place in shared memory, and the threads.
void set_tile(const TransposeProblem& p, const RowAlignment& alignment, int64_t row_bytes,
              int64_t rows, GatheredGrid* grid) {
  const int64_t size = p.element_size;
  grid->skewed = p.ldin % 2 == 0;
  grid->rows = static_cast<int>(rows);
  grid->step_c = static_cast<int>(row_bytes / size);
  grid->packs =
      static_cast<int>(ceil_div(row_bytes, kPackBytes)) + (alignment.in < kPackBytes ? 1 : 0);
  grid->pitch =
      grid->packs * kPackBytes + static_cast<int>(p.ldin % kPackBytes * size % kPackBytes);
  const int64_t skew = grid->skewed ? (rows - 1) * size / kPackBytes * kGatherSkew : 0;
  grid->tile_bytes =
      static_cast<size_t>(up_to_multiple(kPackBytes + (rows - 1) * grid->pitch + skew, kPackBytes) +
                          grid->packs * kPackBytes);
}

// Lanes that gather a run read in rows and columns of all kinds. Measured and counted for rows of 3
// to 201 elements: the fewest turns (3 on average, 6 without) where the pitch is 48 to 63 bytes
// more than a multiple of 128.
void widen_pitch(GatheredGrid* grid) {
  constexpr int kBanks = 8, kBest = 3;  // in packs
  const int wider = (kBanks + kBest - grid->pitch / kPackBytes % kBanks) % kBanks * kPackBytes;
  grid->pitch += wider;
  grid->tile_bytes += static_cast<size_t>(grid->rows) * static_cast<size_t>(wider);
}

// The threads for a block that moves so many bytes. Four warps are the least for elements of a
// byte.
int threads_for(int64_t bytes) {
  constexpr uint64_t kBytesOfThread = 64;
  const uint64_t threads = std::bit_floor(static_cast<uint64_t>(bytes) / kBytesOfThread + 1);
  return static_cast<int>(std::clamp<uint64_t>(threads, 128, kGatherThreads));
}

// Fixed overhead of a block.
double block_seconds(const TransposeKernel& kernel, const TransposeConfig& config) {
  return kernel.figures.block_seconds + static_cast<double>(config.shared_bytes) / 30e9;
}

// Blocks of few bytes wait for memory most of the time. H200: 2.5 us for a block of 4 KiB.
double gathered_seconds(const TransposeKernel& kernel, const TransposeFacts& facts,
                        double tile_bytes, const DeviceTraits& device,
                        const TransposeConfig& config) {
  constexpr double kBlockLatency = 2.5e-6;
  const int resident =
      std::max(1, residency(device.sm, config.threads, static_cast<int>(config.shared_bytes), 8));
  const double blocks = static_cast<double>(config.blocks);
  return std::max(tiles_seconds(facts, share_of_lines(kernel.figures, facts), tile_bytes,
                                block_seconds(kernel, config), device),
                  kLaunchSeconds + kBlockLatency * blocks / (device.num_sms * resident));
}

}  // namespace

void set_gathered_grid(const TransposeProblem& p, const RowAlignment& alignment,
                       const DeviceTraits& device, TransposeConfig* config) {
  const int64_t size = p.element_size;
  const bool shifts = alignment.out < kSectorBytes;
  // Sizes that no matrix has may be anything.
  const int64_t row_bytes = std::min(p.cols, kMostGridBlocks) * size;
  const int64_t column_bytes = std::min(p.rows, kMostGridBlocks) * size;
  TileBytes tile = largest_tile(size);
  const auto count = [&] {
    return TileCounts{ceil_div(column_bytes, tile.out), ceil_div(row_bytes, tile.in),
                      p.batch_count};
  };
  GatheredGrid& grid = config->gathered;
  const auto fits = [&] {
    set_tile(p, alignment, tile.in, tile.out / size + (shifts ? kSectorBytes / size : 0), &grid);
    return residency(device.sm, 128, static_cast<int>(grid.tile_bytes), 2) == 2;
  };
  // H200: 1023 x 1024 fp32 0.78 with 704 tiles of 128 x 128 bytes, 0.75 with 176 of 384 x 256; but
  // 3001 x 3003 of 2 bytes 0.88 with 384 tiles of these, 0.79 with smaller ones.
  while (std::max(tile.in, tile.out) > kLeastSide &&
         (!fits() || count().blocks() < int64_t{2} * device.num_sms)) {
    if (tile.out >= tile.in) {
      tile.out /= 2;
    } else {
      tile.in = tile.in == 384 ? 256 : tile.in / 2;
    }
  }
  // Few tiles along a side share it equally, in halves of a cache line.
  const auto share = [](int64_t bytes, int64_t tile_bytes) {
    constexpr int64_t kFew = 4, kHalfLine = 64;
    const int64_t tiles = ceil_div(bytes, tile_bytes);
    if (tiles > kFew || tiles == 0) return tile_bytes;
    return up_to_multiple(ceil_div(bytes, tiles), kHalfLine);
  };
  tile.in = share(row_bytes, tile.in);
  tile.out = share(column_bytes, tile.out);
  fits();
  const TileCounts tiles = count();
  grid.order = tile_order(p);
  grid.step_r = static_cast<int>(tile.out / size);
  grid.tiles_r = static_cast<unsigned>(std::min<int64_t>(tiles.r, INT32_MAX));
  grid.tiles_c = static_cast<unsigned>(std::min<int64_t>(tiles.c, INT32_MAX));
  if (grid.order == TileOrder::kTwoStreams) grid.tiles_c += grid.tiles_c & 1;
  config->blocks = TileCounts{tiles.r, int64_t{grid.tiles_c}, p.batch_count}.blocks();
  config->threads = threads_for(tile.in * tile.out / size);
  config->shared_bytes = grid.tile_bytes;
}

const char* configure_transpose_gathered(const TransposeKernel& kernel, const TransposeFacts& facts,
                                         const DeviceTraits& device, const PlanOptions&,
                                         TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  if (p.element_size > 8) return kSizeReason;
  if (std::max(p.rows, p.cols) > kMostGridBlocks) return kTooManyTilesReason;
  set_gathered_grid(p, facts.alignment, device, config);
  const GatheredGrid& grid = config->gathered;
  // A group of lanes gathers 128 bytes of a row of the output at once, and as long for less; the
  // ends of a row take as long again.
  constexpr int64_t kAtOnce = kGatherLanes * kPackBytes;
  const int64_t ends = (grid.tiles_r < 3 && grid.rows > grid.step_r ? kAtOnce : 0);
  const double tile_bytes =
      2.0 * static_cast<double>(config->blocks) * grid.step_c *
      static_cast<double>(up_to_multiple(grid.step_r * p.element_size, kAtOnce) + ends);
  config->seconds = gathered_seconds(kernel, facts, tile_bytes, device, *config);
  return refuse_size(*config, config->blocks, device);
}

const char* configure_transpose_gathered_runs(const TransposeKernel& kernel,
                                              const TransposeFacts& facts,
                                              const DeviceTraits& device, const PlanOptions&,
                                              TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place()) return kNotInPlaceReason;
  if (p.element_size > 8) return kSizeReason;
  constexpr int64_t kMostColumnBytes = 544, kMostRows = 256, kLeastRows = 4;
  if (p.ldout != p.rows || p.rows < kLeastRows ||
      p.rows > std::min(kMostColumnBytes / p.element_size, kMostRows)) {
    return "only for few rows, without gaps between them in the output";
  }
  // H200: 17 x 4194304 of 2 bytes 0.75, 0.88, 0.90 with 256, 512, 1024 bytes of each row; 129 x 129
  // fp32 0.92 with 128 bytes, 0.75 with 256.
  constexpr int64_t kRunBytes = 24576, kMostElements = 65535;
  int64_t row_bytes = 1024;
  while ((row_bytes > kLeastSide && p.rows * row_bytes > kRunBytes) ||
         p.rows * row_bytes / p.element_size > kMostElements) {
    row_bytes /= 2;
  }
  if (p.cols < kRunBytes) {
    const int64_t bytes = std::max<int64_t>(p.cols, 1) * p.element_size;
    row_bytes = up_to_multiple(ceil_div(bytes, ceil_div(bytes, row_bytes)), kSectorBytes);
  }
  GatheredGrid& grid = config->gathered;
  set_tile(p, facts.alignment, row_bytes, p.rows, &grid);
  widen_pitch(&grid);
  grid.order = TileOrder::kAlongOutput;
  grid.step_r = grid.rows;
  grid.tiles_r = 1;
  const int64_t tiles = ceil_div(p.cols, grid.step_c);
  grid.tiles_c = static_cast<unsigned>(std::min<int64_t>(tiles, INT32_MAX));
  config->blocks = TileCounts{1, tiles, p.batch_count}.blocks();
  // H200: 12 x 4982746 fp32 0.97 with 256 threads, 0.90 with 128; 7 x 10000019 of 2 bytes 0.88 and
  // 0.97.
  config->threads = p.rows * row_bytes < 8192 ? 128 : 256;
  config->shared_bytes = grid.tile_bytes;
  const double tile_bytes =
      2.0 * static_cast<double>(config->blocks) * static_cast<double>(p.rows * row_bytes);
  config->seconds = gathered_seconds(kernel, facts, tile_bytes, device, *config);
  return refuse_size(*config, config->blocks, device);
}

const char* configure_transpose_gathered_in_place(const TransposeKernel& kernel,
                                                  const TransposeFacts& facts,
                                                  const DeviceTraits& device, const PlanOptions&,
                                                  TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (!p.in_place()) return kOnlyInPlaceReason;
  if (!is_square(p)) return kOnlySquareReason;
  const int64_t size = p.element_size;
  if (size > 8) return kSizeReason;
  if (p.rows > kMostGridBlocks) return kTooManyTilesReason;
  GatheredGrid& grid = config->gathered;
  // H200: 8191 x 8191 fp32 0.81 with 384 bytes, 0.78 with 256 and 0.75 with 512.
  int64_t side = size == 1 ? 256 : 384;  // bytes
  const auto tiles = [&] { return ceil_div(p.rows * size, side); };
  const auto fits = [&] {
    set_tile(p, facts.alignment, side, side / size, &grid);
    return 2 * grid.tile_bytes <= static_cast<size_t>(device.shared_per_block);
  };
  while (side > kLeastSide &&
         (!fits() || tile_pairs(tiles()) <
                         int64_t{2} * device.num_sms / std::max<int64_t>(p.batch_count, 1))) {
    side = side == 384 ? 256 : side / 2;
  }
  fits();
  grid.order = TileOrder::kAlongOutput;
  grid.step_r = grid.step_c;
  grid.tiles_r = grid.tiles_c = static_cast<unsigned>(tiles());
  config->shared_bytes = 2 * grid.tile_bytes;
  config->threads = threads_for(2 * side * side / size);
  const int64_t groups = ceil_shift(tiles(), kLog2SwappedTogether);
  config->blocks =
      TileCounts{tile_pairs(groups) << 2 * kLog2SwappedTogether, 1, p.batch_count}.blocks();
  const double full_side = static_cast<double>(tiles()) * grid.step_r;
  const double tile_bytes =
      2.0 * full_side * full_side * static_cast<double>(size) * static_cast<double>(p.batch_count);
  config->seconds = tiles_seconds(facts, share_of_lines(kernel.figures, facts), tile_bytes,
                                  block_seconds(kernel, *config), device);
  return refuse_size(*config, config->blocks, device);
}

}  // namespace mygemm
