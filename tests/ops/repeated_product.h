// Ops tests: a product, single or of a batch, that is computed again and again and must give the
// same bits every time, whichever way it is asked for.
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

// Shapes that the plan gives to rows of different kinds: whole tiles, odd edges, k cut in parts, a
// thin side, a batch of small ones. Smaller off the GPU.
std::vector<RepeatedCase> products_to_repeat();

// How often a test asks for each.
inline constexpr int kManyRuns = kBuild == Build::kGpu ? 1000 : 4;

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
