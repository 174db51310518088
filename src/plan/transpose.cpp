// Transposes: what each row of the table can run, and how long it should take. A transpose reads
// and writes each element once; rows differ by the share of the copy bandwidth that they draw,
// measured, and by how full their edge tiles are.
#include <algorithm>
#include <cmath>

#include "kernels/transpose/tiles.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

// Memory moves whole sectors: an element written alone costs this many bytes.
constexpr double kSector = 32.0;
// A thread that follows a cycle alone waits for memory at every element.
constexpr double kCycleStep = 10e-9;
constexpr double kHostCallSeconds = 0.3e-6;

double bytes_moved(const TransposeProblem& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(p.batch_count) * static_cast<double>(p.element_size);
}

double block_tiles(const TransposeProblem& p) {
  const int side = transpose_tile_side(p.element_size);
  return static_cast<double>(ceil_div(p.rows, side)) * static_cast<double>(ceil_div(p.cols, side)) *
         static_cast<double>(p.batch_count);
}

// Bytes that the tiles would move if they were all full: edge tiles take as long as others.
double bytes_of_tiles(const TransposeProblem& p) {
  const double side = transpose_tile_side(p.element_size);
  return 2.0 * block_tiles(p) * side * side * static_cast<double>(p.element_size);
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
  if (row.block_m > 0 && block_tiles(p) > 2147483647.0) return "more tiles than a grid can have";
  if ((row.needs & kNeedsWorkspace) &&
      (options.workspace_bytes == 0 || workspace_bytes(row, p, device) > options.workspace_bytes)) {
    return "the workspace is too small";
  }
  return nullptr;
}

double cost(const TransposeRow& row, const TransposeProblem& p, const DeviceTraits& device,
            const PlanOptions&) {
  const double rate = device.memory_bandwidth * row.efficiency;
  if (device.cc == 0) return kHostCallSeconds + bytes_moved(p) / rate;
  if (row.block_m == 0) {  // naive: reads in order, writes one element a row of the output
    const double size = static_cast<double>(p.element_size);
    const double spread = std::min(kSector / size, std::max(1.0, static_cast<double>(p.rows)));
    const double elements = bytes_moved(p) / size / 2.0;
    const double chain = p.in_place() && p.rows != p.cols ? elements * kCycleStep : 0.0;
    return kLaunchSeconds + bytes_moved(p) * (1.0 + spread) / 2.0 / rate + chain;
  }
  const double launches = (row.needs & kNeedsWorkspace) ? 2.0 : 1.0;
  return launches * (kLaunchSeconds + row.step_seconds) + bytes_of_tiles(p) / rate;
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
