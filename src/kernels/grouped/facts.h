// Facts of grouped products on a device, worked out once for the configurations of all kernels.
// Pure.
#pragma once

#include <cmath>

#include "grouped_sizes.h"
#include "kernels/gemm/config.h"

namespace mygemm {

// Sums over all products. Where the sizes are not known, those of products that are alike: of the
// stacked total, or of the most that each may have.
struct GroupedTotals {
  double area = 0;   // elements of D
  double flops = 0;  // 2 m n k
  double bytes = 0;  // A, B, and D once, C if it is read
  double mean_m = 0, mean_n = 0, mean_k = 0;
};

struct GroupedFacts {
  GroupedFacts(const GroupedProblem& p, const DeviceTraits& device)
      : problem(p),
        operands(operands_of(p.most)),
        order(p.most.invariant && !p.most.scales_only() ? order_to_keep(p.most, device) : nullptr) {
    const int64_t count = p.most.batch_count;
    if (!p.groups.on_device && !p.groups.all_alike()) {
      int64_t sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        const ProductSizes sizes = sizes_of(p, i, sum);
        sum += stacked_size(p, sizes);
        add(static_cast<double>(sizes.m), static_cast<double>(sizes.n),
            static_cast<double>(sizes.k), 1.0);
      }
    } else {
      const auto products = static_cast<double>(count);
      const double share = static_cast<double>(p.groups.total) / std::max(1.0, products);
      const auto size = [&](Stacked along, int64_t most) {
        const auto largest = static_cast<double>(most);
        return p.groups.stacked == along ? std::min(share, largest) : largest;
      };
      add(size(Stacked::kM, p.most.m), size(Stacked::kN, p.most.n), size(Stacked::kK, p.most.k),
          products);
    }
    const double products = std::max(1.0, static_cast<double>(count));
    totals.mean_m /= products, totals.mean_n /= products, totals.mean_k /= products;
  }

  const GroupedProblem& problem;
  Takes operands;
  const SumOrder* order;  // that the kernel must have; nullptr: any
  GroupedTotals totals;

 private:
  void add(double m, double n, double k, double products) {
    const GemmProblem& p = problem.most;
    const auto bytes_of = [](const Operand& x) {
      return static_cast<double>(element_bytes(x.type));
    };
    const double depth = p.scales_only() ? 0.0 : k;
    totals.area += m * n * products;
    totals.flops += 2.0 * m * n * depth * products;
    totals.bytes += ((m * bytes_of(p.a) + n * bytes_of(p.b)) * depth +
                     m * n * bytes_of(p.d) * (p.epilogue.beta.is(0.0f) ? 1.0 : 2.0)) *
                    products;
    totals.mean_m += m * products, totals.mean_n += n * products, totals.mean_k += depth * products;
  }
};

}  // namespace mygemm
