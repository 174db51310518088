// Transposes: what each row of the table can run, and how long it should take. A transpose reads
// and writes each element once; rows differ by the share of the copy bandwidth that they draw,
// measured, and by how full their edge tiles are.
#include <algorithm>
#include <bit>

#include "kernels/transpose/tiles.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

// Of a multiprocessor of an H200, divisions included: 1 x 9503796 of 1 byte in 65 us.
constexpr double kNaiveElementsPerSecond = 1.1e9;
// A thread that follows a cycle alone waits for memory at every element.
constexpr double kCycleStep = 10e-9;
constexpr double kHostCallSeconds = 0.3e-6;

double bytes_moved(const TransposeProblem& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(p.batch_count) * static_cast<double>(p.element_size);
}

// The GPU's row that takes any problem, an element a thread.
bool is_naive(const TransposeRow& row) { return row.needs == kNeedsNothing; }

// A block takes as long for an edge tile as for a full one, and full tiles of data that need not
// come from memory pass at this multiple of the copy bandwidth. H200: 1.3 to 1.5.
constexpr double kTileRate = 1.4;

// Bytes that the tiles of a row would move if all were full.
struct Tiles {
  double blocks, bytes;
};

Tiles padded_tiles(const TransposeProblem& p) {
  const int side = transpose_tile_side(p.element_size);
  const double blocks = static_cast<double>(ceil_div(p.rows, side)) *
                        static_cast<double>(ceil_div(p.cols, side)) *
                        static_cast<double>(p.batch_count);
  return {blocks, 2.0 * blocks * side * side * static_cast<double>(p.element_size)};
}

Tiles tiles_of(const TransposeRow& row, const TransposeProblem& p, const DeviceTraits& device) {
  if (row.needs & kNeedsNarrow) {
    return {static_cast<double>(narrow_grid(p).blocks), bytes_moved(p)};
  }
  const bool workspace = (row.needs & kNeedsWorkspace) != 0;
  if (row.patches == nullptr && !workspace) return padded_tiles(p);
  const PatchGrid grid =
      workspace ? patch_grid(kernel_from_workspace(p), from_workspace(p, nullptr), device)
                : patch_grid(row.patches(p), p, device);
  const double blocks = static_cast<double>(grid.blocks);
  return {blocks, 2.0 * blocks * static_cast<double>(grid.shared_bytes)};
}

// The row's share of the copy bandwidth.
double share_of(const TransposeRow& row, const TransposeProblem& p) {
  if (row.shares == nullptr) return row.efficiency;
  const int64_t in = input_alignment(p), out = output_alignment(p);
  const int cut =
      (in < kSectorBytes ? kCutInput : kCutNone) + (out < kSectorBytes ? kCutOutput : kCutNone);
  // Threads read lines of 128 bytes, which then lie across two tiles; tensor maps do not mind.
  // H200: 0.930 against 0.958 for 16384 x 30000 fp32.
  const bool splits_lines = in < 128 && cut == kCutNone && !(row.needs & kNeedsTensorMap);
  return row.shares[std::bit_width(static_cast<uint64_t>(p.element_size)) - 1][cut] *
         (splits_lines ? 0.965 : 1.0);
}

// Seconds of a block that has a multiprocessor to itself. Where much is done with a byte, they are
// a matter of how many it has. H200: 8 us for 64 KiB of 1-byte elements shifted, 3 us for 32 KiB of
// 2-byte ones; 9 us for a run of 64 KiB.
double block_seconds(const TransposeRow& row, const TransposeProblem& p,
                     const DeviceTraits& device) {
  if (row.needs & kNeedsNarrow) {
    return row.step_seconds + static_cast<double>(narrow_grid(p).shared_bytes) / 8e9;
  }
  if (row.needs == kNeedsOutOfPlace && row.patches != nullptr) {
    const double rate = p.element_size == 1 ? 9e9 : p.element_size == 2 ? 12e9 : 40e9;
    const PatchGrid grid = patch_grid(row.patches(p), p, device);
    return row.step_seconds + static_cast<double>(grid.shared_bytes) / rate;
  }
  return row.step_seconds;
}

// Rules of tensor maps (kernels/tensor_map.h) that rows in packs do not keep by themselves.
bool fits_tensor_map(const TransposeProblem& p, const DeviceTraits& device) {
  constexpr double kLeastOnBlackwell = 131072;  // bytes; see there
  if (device.cc >= 100 && bytes_moved(p) / 2.0 < kLeastOnBlackwell) return false;
  constexpr int64_t kMostCoordinate = INT32_MAX, kMostStride = int64_t{1} << 40;
  const int64_t words = p.element_size == 16 ? 2 : 1;
  return p.cols <= kMostCoordinate / words && p.rows <= kMostCoordinate &&
         p.batch_count <= kMostCoordinate && p.ldin < kMostStride / p.element_size &&
         (p.batch_count == 1 || (p.stride_in > 0 && p.stride_in < kMostStride / p.element_size));
}

}  // namespace

const char* unsupported(const TransposeRow& row, const TransposeProblem& p,
                        const DeviceTraits& device, const PlanOptions& options) {
  const bool square = p.rows == p.cols && p.ldin == p.ldout;
  if ((row.needs & kNeedsInPlace) && !p.in_place()) return "only for transposes in place";
  if ((row.needs & kNeedsOutOfPlace) && p.in_place() && !(device.cc == 0 && square)) {
    return "not in place";
  }
  if ((row.needs & kNeedsSquare) && !square) return "only for square matrices with ldin = ldout";
  if ((row.needs & kNeedsPacks) && !in_packs(p)) {
    return "rows do not all begin at multiples of 16 bytes";
  }
  if ((row.needs & kNeedsNarrow) && narrow_grid(p).side == NarrowGrid::Side::kNone) {
    return "only for narrow or small matrices without gaps between their rows";
  }
  if ((row.needs & kNeedsTensorMap) && !fits_tensor_map(p, device)) {
    return "not a tensor that a tensor map can describe";
  }
  if (row.patches != nullptr) {
    const size_t tile = patch_grid(row.patches(p), p, device).shared_bytes;
    const size_t barrier = (row.needs & kNeedsTensorMap) ? sizeof(uint64_t) : 0;
    const size_t bytes = ((row.needs & kNeedsInPlace) ? 2 * tile : tile) + barrier;
    if (bytes > static_cast<size_t>(device.shared_per_block)) {
      return "more shared memory than a block can have";
    }
  }
  if (device.cc > 0 && !is_naive(row) && tiles_of(row, p, device).blocks > 2147483647.0) {
    return "more tiles than a grid can have";
  }
  if ((row.needs & kNeedsWorkspace) &&
      (options.workspace_bytes == 0 || workspace_bytes(row, p, device) > options.workspace_bytes)) {
    return "the workspace is too small";
  }
  return nullptr;
}

double cost(const TransposeRow& row, const TransposeProblem& p, const DeviceTraits& device,
            const PlanOptions&) {
  const double moved = bytes_moved(p);
  const double rate = device.memory_bandwidth * row.efficiency;
  if (device.cc == 0) return kHostCallSeconds + moved / rate;
  if (is_naive(row)) {  // reads in order, writes one element a row of the output
    const double size = static_cast<double>(p.element_size);
    const double spread = std::min(kSectorBytes / size, std::max(1.0, static_cast<double>(p.rows)));
    const double elements = moved / size / 2.0;
    const double chain = p.in_place() && p.rows != p.cols ? elements * kCycleStep : 0.0;
    const double transfers = std::max(moved * (1.0 + spread) / 2.0 / rate,
                                      elements / (kNaiveElementsPerSecond * device.num_sms));
    return kLaunchSeconds + row.step_seconds + transfers + chain;
  }
  if (row.needs & kNeedsWorkspace) {
    return 2.0 * (kLaunchSeconds + row.step_seconds) + moved / rate;
  }
  return kLaunchSeconds + block_seconds(row, p, device) +
         std::max(moved / (device.memory_bandwidth * share_of(row, p)),
                  tiles_of(row, p, device).bytes / (device.memory_bandwidth * kTileRate));
}

// A dense copy, in the order of `in`: of every matrix of the batch, or, on the host, which works on
// one after another, of one.
size_t workspace_bytes(const TransposeRow& row, const TransposeProblem& p,
                       const DeviceTraits& device) {
  if (!(row.needs & kNeedsWorkspace) || !p.in_place()) return 0;
  if (bytes_moved(p) > 1e19) return SIZE_MAX;
  // Unsigned: where one size is 0 the others may be anything, and the product still ends at 0.
  const int64_t copies = device.cc == 0 ? std::min<int64_t>(p.batch_count, 1) : p.batch_count;
  return static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols) * static_cast<size_t>(copies) *
         static_cast<size_t>(p.element_size);
}

const char* force_variable(const TransposeProblem&) { return "MYGEMM_FORCE_TRANSPOSE"; }

}  // namespace mygemm
