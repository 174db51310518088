// How triangles are divided.
#include "plan/triangle.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "tighten.h"

namespace mygemm {
namespace {

// Time of each product of the steps that is not overlapped: its launch, and multiprocessors without
// a tile at its end. H200, 8 to 25 us from 2048^3 to 16384 x 16384 x 256.
constexpr double kPartSeconds = 12e-6;
// So few rows and products take one kernel without a comparison of plans, whose time would count.
constexpr int64_t kTinyRows = 256, kTinyDepth = 64;
// Smaller blocks are not worth it.
constexpr int64_t kFewestBlockRows = 128;
constexpr int64_t kBlockMultiple = 32;  // so that blocks are aligned where the matrices are

// A square D of more rows does not fit the address space.
constexpr int64_t kMostRows = int64_t{1} << 31;

constexpr size_t kHostScratch = size_t{128} << 20;  // bytes

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

int64_t block_rows(int64_t n, int levels) {
  return levels == 0 ? n : round_up(ceil_shift(n, levels), kBlockMultiple);
}

double sums_bytes(int64_t block) {
  return 4.0 * static_cast<double>(sums_ld(block)) * static_cast<double>(block);
}

// The pass over the triangles of blocks on the diagonal: sums and C are read, D is written.
double pass_seconds(const GemmProblem& p, int64_t block, const DeviceTraits& device) {
  const double elements = static_cast<double>(p.n) * static_cast<double>(block) *
                          static_cast<double>(p.batch_count) / 2;
  const auto bytes = static_cast<double>(4 + 2 * element_bytes(p.d.type));
  return kLaunchSeconds + bytes * elements / device.memory_bandwidth;
}

// Estimated time of the steps, from that of the whole product.
double steps_seconds(const GemmProblem& p, const DeviceTraits& device, double whole_seconds,
                     int levels) {
  if (levels == 0) return whole_seconds + pass_seconds(p, p.n, device);
  const int64_t block = block_rows(p.n, levels);
  const double share = 0.5 * (1 + static_cast<double>(block) / static_cast<double>(p.n));
  const double parts = static_cast<double>(p.batch_count) * (levels + 1);
  return whole_seconds * share + parts * kPartSeconds + pass_seconds(p, block, device);
}

// The number of levels with the least estimated time, of those whose blocks' sums fit; -1 where a
// kernel that leaves the other triangle alone takes less, or is forced, or no other may run.
int fastest_levels(const GemmProblem& p, const DeviceTraits& device, const PlanOptions& options,
                   double bytes) {
  GemmProblem whole = p;
  whole.fill = MYGEMM_FILL_FULL;
  whole.update_fused();
  Plan<GemmProblem> one, of_whole;
  const bool has_one = make_plan(p, device, options, &one) == MYGEMM_STATUS_SUCCESS;
  if (has_one && options.forced) return -1;
  if (make_plan(whole, device, options, &of_whole) != MYGEMM_STATUS_SUCCESS) return -1;
  int fastest = -1;
  double least = has_one ? one.config.seconds : std::numeric_limits<double>::infinity();
  for (int levels = 0; levels == 0 || block_rows(p.n, levels) >= kFewestBlockRows; ++levels) {
    const double seconds = steps_seconds(p, device, of_whole.config.seconds, levels);
    if (sums_bytes(block_rows(p.n, levels)) > bytes || seconds >= least) continue;
    least = seconds;
    fastest = levels;
  }
  return fastest;
}

void move(Operand* x, int64_t offset, int64_t stride) {
  x->data = x->at(offset);
  x->stride = stride;
}

}  // namespace

GemmProblem part_of(const GemmProblem& p, int64_t matrix, const TrianglePart& part) {
  GemmProblem q = p;
  q.m = part.rows, q.n = part.columns, q.batch_count = part.count;
  const int64_t along_m = p.transa ? p.a.ld : 1, along_n = p.transb ? 1 : p.b.ld;
  move(&q.a, matrix * p.a.stride + part.i * along_m, part.step * along_m);
  move(&q.b, matrix * p.b.stride + part.j * along_n, part.step * along_n);
  move(&q.c, matrix * p.c.stride + part.i + part.j * p.c.ld, part.step * (p.c.ld + 1));
  move(&q.d, matrix * p.d.stride + part.i + part.j * p.d.ld, part.step * (p.d.ld + 1));
  return q;
}

TrianglePart rectangle(const GemmProblem& p, int64_t first, int64_t size, int64_t rows,
                       int64_t count) {
  const bool lower = p.fill == MYGEMM_FILL_LOWER;
  return lower ? TrianglePart{first + size, first, rows, size, count, 2 * size}
               : TrianglePart{first, first + size, size, rows, count, 2 * size};
}

TriangleSteps divide_triangle(const GemmProblem& p, const DeviceTraits& device,
                              const PlanOptions& options) {
  if (p.scales_only() || p.pointer_arrays || p.n == 0 || p.n > kMostRows) return {};
  const bool tiny = p.n <= kTinyRows && p.k <= kTinyDepth && p.batch_count == 1;
  // The kernels for tiny triangles may not be those of the order that other products keep to.
  if (tiny && !options.forced && !p.invariant) return {};
  const bool on_host = device.cc == 0;
  const double available =
      static_cast<double>(on_host ? kHostScratch : options.workspace_bytes) / 2;
  TriangleSteps steps;
  steps.levels = fastest_levels(p, device, options, available);
  if (steps.levels < 0) return {};
  steps.block = block_rows(p.n, steps.levels);
  const int64_t blocks = steps.levels == 0 ? p.batch_count : p.n / steps.block;
  const double fit = std::min(available / sums_bytes(steps.block), static_cast<double>(blocks));
  steps.at_once = std::max<int64_t>(1, static_cast<int64_t>(fit));
  steps.sums_bytes = static_cast<size_t>(steps.at_once * sums_ld(steps.block) * steps.block) * 4;
  return steps;
}

Status triangle_workspace(const GemmProblem& p, const DeviceTraits& device, const char* forced,
                          size_t* bytes) {
  const PlanOptions unlimited{size_t{1} << 40, forced};
  const TriangleSteps steps = divide_triangle(p, device, unlimited);
  GemmProblem planned = p;
  if (steps.block > 0) planned.fill = MYGEMM_FILL_FULL;
  Plan<GemmProblem> plan;
  RETURN_IF_ERROR(make_plan(tightened(planned), device, unlimited, &plan));
  const bool on_host = device.cc == 0;
  *bytes = on_host ? 0 : 2 * std::max(steps.sums_bytes, plan.config.workspace_bytes);
  return MYGEMM_STATUS_SUCCESS;
}

std::string explain_triangle(const GemmProblem& p, const DeviceTraits& device,
                             const PlanOptions& options, const GemmProblem& given) {
  const TriangleSteps steps = divide_triangle(p, device, options);
  if (steps.block == 0) return explain(p, device, options, given);
  const int64_t size = steps.block << std::max(0, steps.levels - 1);
  const int64_t pairs = p.n / (2 * size);
  // Its operands lie elsewhere, and are as aligned. Their offsets may overflow: ld is not checked.
  GemmProblem first = p;
  if (steps.levels > 0) {
    const TrianglePart part =
        rectangle(p, 0, size, pairs > 0 ? size : p.n - size, pairs > 0 ? pairs : 1);
    first.m = part.rows, first.n = part.columns, first.batch_count = part.count;
  }
  first.fill = MYGEMM_FILL_FULL;
  const size_t taken = device.cc == 0 ? 0 : steps.sums_bytes;
  char text[256];
  std::snprintf(text, sizeof text,
                "steps: this product first, of %lld x %lld x %lld; %d levels of rectangles; blocks "
                "of %lld rows on the diagonal, %lld at once, whose sums take %zu bytes\n",
                static_cast<long long>(first.m), static_cast<long long>(first.n),
                static_cast<long long>(first.k), steps.levels, static_cast<long long>(steps.block),
                static_cast<long long>(steps.at_once), steps.sums_bytes);
  const PlanOptions rest{options.workspace_bytes - taken, options.forced};
  return explain(tightened(first), device, rest, given) + text;
}

}  // namespace mygemm
