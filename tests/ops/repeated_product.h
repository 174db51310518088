// Ops tests: a product, single or of a batch, that is computed repeatedly and must give the same
// bits every time, called directly or from a graph.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/handle.h"
#include "support/memory.h"

namespace mygemm_tests {

struct RepeatedCase {
  int64_t m, n, k, batch;

  std::string text() const;
};

// Shapes for which the plan chooses kernels of different kinds: whole tiles, odd edges, partitioned
// k, a thin side, a batch of small matrices. Smaller without a GPU.
std::vector<RepeatedCase> products_to_repeat();

// Repetitions of each in a test.
inline const int kManyRuns = kBuild == Build::kGpu ? 1000 : 4;

class RepeatedProduct {
 public:
  explicit RepeatedProduct(const RepeatedCase& shape);

  void enqueue(mygemmHandle_t handle) const;

  // `run` computes the product by enqueue() or from a graph of it. Before every run C is poisoned;
  // after every run it must hold what the first run of all left there.
  void repeat(int runs, const std::function<void()>& run);

 private:
  RepeatedCase shape_;
  DeviceBuffer a_, b_, c_;
  std::vector<uint32_t> first_, bits_;  // of C: after the first run of all, after the last one
};

}  // namespace mygemm_tests
