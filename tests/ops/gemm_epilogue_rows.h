// Ops tests of the general product with every kernel of the backend forced: the fixture, and the
// shapes that its tests have in common.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "gemm_epilogue_case.h"
#include "support/handle.h"

namespace mygemm_tests {

constexpr size_t kWorkspace = size_t{36} << 20;  // enough for every kernel

class EpilogueRows : public RowTest {
 protected:
  void run(const std::vector<EpilogueCase>& cases) {
    Handle handle(Family::kGemm, GetParam(), kWorkspace);
    RowTally tally(GetParam());
    for (const EpilogueCase& gemm : cases) {
      run_epilogue(handle, gemm, &tally);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

constexpr float kBetas[] = {0.0f, 1.0f, -0.5f};

// Within a tile, across tiles, narrow, and deep enough for kernels that divide k.
constexpr int64_t kShapes[][3] = {
    {37, 29, 19}, {70, 130, 33}, {33, 66, 530}, {150, 1, 40}, {3, 130, 21}};

inline EpilogueCase shaped(const int64_t (&shape)[3]) {
  EpilogueCase gemm{};
  gemm.m = shape[0];
  gemm.n = shape[1];
  gemm.k = shape[2];
  return gemm;
}

}  // namespace mygemm_tests
