// Configuration of the softmax bundle kernel (bundle.cu).
#include <bit>

#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

// Rows of a warp that are s apart are s * columns * bytes apart: where that is an odd multiple of
// the bytes that a row's lanes read at once, they read from different banks. (For 65 columns of 16
// bits, rows one after another had four lanes at each bank: 0.68 of a copy; H200.)
int log2_stride(const SoftmaxProblem& p, int log2_lanes) {
  const int log2_words = log2_lanes + (element_bytes(p.in.type) == 2 ? 1 : 0);
  const int odd_from = std::countr_zero(static_cast<uint64_t>(p.cols));
  return log2_lanes >= 5 ? 0 : std::clamp(log2_words - odd_from, 0, 4);
}

// A bundle is a multiple of the rows that a pass of the block works on and of those that the rows
// of a warp span, and of 8 rows, so that all bundles begin at the same distance from a multiple of
// 16 bytes; the last only where they are not too large. The bundles of a multiprocessor take 13
// sixteenths of its shared memory: with fewer bytes in flight copies are slower (ten: 0.97 of a
// copy for 0.98, eight: 0.95; H200). Few rows are divided among all multiprocessors.
SoftmaxBundle bundle_of(const SoftmaxProblem& p, const RowShape& shape, const SoftmaxLanes& lanes,
                        const DeviceTraits& device, int* shared_bytes) {
  const bool replaces = can_replace(p.backward ? p.dy : p.in, p.out);
  const auto bytes_of_rows = [&](const TypedMatrix& matrix, int rows) {
    return rows * static_cast<int>(p.cols * element_bytes(matrix.type));
  };
  const auto bytes_of_bundle = [&](int rows) {
    return bytes_of_rows(p.in, rows) + (p.backward ? bytes_of_rows(p.dy, rows) : 0) +
           (replaces ? 0 : bytes_of_rows(p.out, rows));
  };
  const int at_once = bundle_blocks(shape.widths, p.backward, lanes.packs);
  const int most_bytes = device.sm.shared_bytes * 13 / 16 / at_once;
  SoftmaxBundle bundle{};
  bundle.log2_stride = log2_stride(p, lanes.log2_lanes);
  const int log2_threads = log2_bundle_threads(lanes.packs);
  const int unit = std::max(1 << (log2_threads - lanes.log2_lanes),
                            1 << std::max(0, 5 - lanes.log2_lanes + bundle.log2_stride));
  const int most_units = most_bytes / bytes_of_bundle(unit);
  const int64_t of_each = ceil_div(p.rows, int64_t{2} * device.num_sms * unit);
  bundle.rows = std::max(1, static_cast<int>(std::min<int64_t>(most_units, of_each))) * unit;
  if (bundle.rows > 8) bundle.rows = bundle.rows / 8 * 8;
  bundle.dy_at = run_bytes(bytes_of_rows(p.in, bundle.rows));
  const int end =
      p.backward ? bundle.dy_at + run_bytes(bytes_of_rows(p.dy, bundle.rows)) : bundle.dy_at;
  bundle.out_at = !replaces ? end : p.backward ? bundle.dy_at : 0;
  *shared_bytes = replaces ? end : end + run_bytes(bytes_of_rows(p.out, bundle.rows));
  return bundle;
}

}  // namespace

const char* configure_softmax_bundle(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                     const DeviceTraits& device, const PlanOptions&,
                                     SoftmaxConfig* config) {
  const SoftmaxProblem& p = facts.problem;
  const RowShape& shape = facts.shape;
  if (shape.layout == Layout::kPacks) return "the rows consist of whole packs";
  if (p.in.ld != p.cols || p.out.ld != p.cols || (p.backward && p.dy.ld != p.cols)) {
    return "the rows have gaps between them";
  }
  // Their rows begin in few banks.
  if (p.cols % 8 == 0 && p.cols < 256) return "the rows are short and a multiple of 8 columns";
  const SoftmaxLanes lanes = bundle_lanes(shape.widths, p.cols);
  if (lanes.packs == 0 || !has_bundle(shape.widths, p.backward, lanes.log2_lanes, lanes.packs)) {
    return "other kernels are fast at this number of columns";
  }
  int shared_bytes;
  config->shape = shape;
  config->lanes = lanes;
  config->bundle = bundle_of(p, shape, lanes, device, &shared_bytes);
  config->threads = 1 << log2_bundle_threads(lanes.packs);
  config->shared_bytes = static_cast<size_t>(shared_bytes);
  if (config->shared_bytes > static_cast<size_t>(device.shared_per_block)) {
    return "a block's shared memory does not hold a bundle";
  }
  config->blocks = looping_grid(ceil_div(p.rows, int64_t{config->bundle.rows}));
  config->seconds = registers_seconds(facts, kernel.figures.efficiency);
  return nullptr;
}

}  // namespace mygemm
