// Cross entropy on the host, row by row in FP64. Host backend.
#include "host/cross_entropy.h"

#include <cmath>
#include <limits>

#include "host/parallel.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kElementsPerTask = 16 * 1024;

// The sum of a row without the target's exponential, which is added last: then nothing cancels.
struct RowSums {
  double maximum = -kInfinity, others = 0.0, mean = 0.0;
};

template <class X>
RowSums sums_of(const typename X::Storage* x, int64_t cols, int64_t target) {
  RowSums sums;
  for (int64_t c = 0; c < cols; ++c) {
    sums.maximum = std::fmax(sums.maximum, load_float<X>(x + c));
  }
  if (!(std::fabs(sums.maximum) < kInfinity)) sums.maximum = kNaN;
  for (int64_t c = 0; c < cols; ++c) {
    const double logit = load_float<X>(x + c);
    if (c != target) sums.others += std::exp(logit - sums.maximum);
    sums.mean += logit / static_cast<double>(cols);
  }
  return sums;
}

template <class X, class Dx>
void compute_row(const CrossEntropyProblem& p, int64_t r) {
  const auto* x = static_cast<const typename X::Storage*>(p.x.data) + r * p.x.ld;
  const int64_t given = p.target(r);
  const bool ignored = given == p.ignore_index;
  const bool has_class = !ignored && given >= 0 && given < p.cols;
  const int64_t target = has_class ? given : -1;
  const RowSums sums = sums_of<X>(x, p.cols, target);
  const double logit = has_class ? load_float<X>(x + target) : -kInfinity;
  const double own = has_class ? std::exp(logit - sums.maximum) : 0.0;
  const double sum = sums.others + own;
  const double lse = sums.maximum + std::log(sum);
  const double smoothing = p.label_smoothing;

  if (p.lse) p.lse[r] = static_cast<float>(lse);
  if (p.loss) {
    constexpr double kSmallest = 1e-200;  // the target's exponential may be 0
    double loss = own >= kSmallest ? std::log1p(sums.others / own) : lse - logit;
    if (smoothing > 0.0) {
      loss = (smoothing < 1.0 ? (1.0 - smoothing) * loss : 0.0) + smoothing * (lse - sums.mean);
    }
    if (p.z_loss != 0.0f) loss += p.z_loss * lse * lse;
    p.loss[r] = static_cast<float>(has_class ? loss : ignored ? 0.0 : kNaN);
  }
  if (!p.has_gradient()) return;
  auto* dx = static_cast<typename Dx::Storage*>(p.dx.data) + r * p.dx.ld;
  const double weight = ignored ? 0.0 : has_class ? p.weight(r) : kNaN;
  const double share = smoothing / static_cast<double>(p.cols);
  const double slope = p.z_loss != 0.0f ? 2.0 * p.z_loss * lse : 0.0;
  for (int64_t c = 0; c < p.cols; ++c) {
    const double probability = std::exp(load_float<X>(x + c) - sums.maximum) / sum;
    const double derivative = c == target ? slope * probability + (smoothing - sums.others / sum)
                                          : (1.0 + slope) * probability;
    const double gradient = smoothing > 0.0 ? derivative - share : derivative;
    store_float<Dx>(dx + c, ignored ? 0.0f : static_cast<float>(weight * gradient));
  }
}

}  // namespace

Status launch_cross_entropy_naive(const CrossEntropyProblem& problem, const CrossEntropyConfig&,
                                  const LaunchContext&) {
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  const int threads = threads_for(elements * sizeof(float), kBytesPerThread);
  const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / problem.cols);
  with_type(problem.x.type, [&](auto x) {
    with_type(problem.dx.type, [&](auto dx) {
      parallel_for(ceil_div(problem.rows, rows_per_task), threads, [&](int64_t task, int) {
        const int64_t end = std::min(problem.rows, (task + 1) * rows_per_task);
        for (int64_t row = task * rows_per_task; row < end; ++row) {
          compute_row<decltype(x), decltype(dx)>(problem, row);
        }
      });
    });
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
