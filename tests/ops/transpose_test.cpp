// Ops tests of the transposes: every kernel of the backend forced on every element size, kind of
// shape, layout and form. Everything is compared bit for bit.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "transpose_case.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{4} << 20;
constexpr int64_t kElementSizes[] = {1, 2, 4, 8, 16};

struct Shape {
  int64_t rows, cols;
};

// Around tiles of 16, 32 and 64; one, narrow, prime.
constexpr Shape kShapes[] = {{1, 1},    {1, 37},  {37, 1},  {7, 9},    {31, 33},
                             {32, 32},  {33, 31}, {64, 64}, {65, 63},  {127, 66},
                             {97, 101}, {2, 300}, {300, 3}, {16, 128}, {200, 330}};

class TransposeRow : public RowTest {
 protected:
  void run(const std::vector<TransposeCase>& cases) {
    Handle handle(Family::kTranspose, GetParam(), kWorkspace);
    RowTally tally(GetParam());
    for (const TransposeCase& transpose : cases) {
      run_transpose(handle, transpose, &tally);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

TransposeCase shaped(int64_t element_size, const Shape& shape) {
  TransposeCase transpose;
  transpose.element_size = element_size;
  transpose.rows = shape.rows;
  transpose.cols = shape.cols;
  return transpose;
}

// The smallest misalignment that is legal.
size_t misaligned(int64_t element_size) {
  return static_cast<size_t>(std::min<int64_t>(element_size, 8));
}

// Padding that makes rows of `length` a multiple of 32 bytes long, with a gap.
int64_t to_sectors(int64_t length, int64_t element_size) {
  const int64_t sector = 32 / element_size;
  return (length + sector) / sector * sector - length;
}

std::vector<TransposeCase> layouts_of(const TransposeCase& transpose) {
  std::vector<TransposeCase> cases(8, transpose);
  cases[1].in_padding = 3;
  cases[1].out_padding = 5;
  cases[2].offset = misaligned(transpose.element_size);
  const int64_t in = to_sectors(transpose.cols, transpose.element_size);
  const int64_t out = to_sectors(transpose.rows, transpose.element_size);
  // Rows of both matrices, of the input, of the output begin with a sector; or in the middle of
  // one.
  cases[3].in_padding = cases[4].in_padding = in;
  cases[3].out_padding = cases[5].out_padding = out;
  cases[4].out_padding = out + 1;
  cases[5].in_padding = in + 1;
  cases[6].in_padding = in + 16 / transpose.element_size;
  cases[6].out_padding = out + 16 / transpose.element_size;
  cases[7] = cases[3];
  cases[7].offset = 16;
  return cases;
}

TEST_P(TransposeRow, ShapesSizesAndLayouts) {
  std::vector<TransposeCase> cases;
  for (const int64_t element_size : kElementSizes) {
    for (const Shape& shape : kShapes) {
      for (TransposeCase transpose : layouts_of(shaped(element_size, shape))) {
        transpose.seed = cases.size();
        cases.push_back(transpose);
        // In place, for the kernels that work in place only.
        transpose.in_place = true;
        cases.push_back(transpose);
      }
    }
  }
  run(cases);
}

TEST_P(TransposeRow, Batches) {
  std::vector<TransposeCase> cases;
  for (const int64_t element_size : kElementSizes) {
    for (const Shape& shape : {Shape{33, 33}, Shape{20, 45}}) {
      for (const int step : {1, 0, -1}) {
        for (const bool in_place : {false, true}) {
          if (in_place && step == 0) continue;
          TransposeCase transpose = shaped(element_size, shape);
          transpose.batch = 3;
          transpose.step = step;
          transpose.in_place = in_place;
          transpose.gap = 5;
          cases.push_back(transpose);
          transpose.in_padding = transpose.out_padding = 1;
          cases.push_back(transpose);
        }
      }
    }
  }
  run(cases);
}

// Matrices too narrow or too small for a tile of their own.
TEST_P(TransposeRow, NarrowAndSmall) {
  std::vector<TransposeCase> cases;
  for (const int64_t element_size : kElementSizes) {
    // Longer than the range that a block transposes at once.
    const int64_t length = 70000 / element_size;
    for (const Shape& shape : {Shape{3, length}, Shape{length, 5}, Shape{4, length}}) {
      cases.push_back(shaped(element_size, shape));
      cases.back().offset = misaligned(element_size);
      cases.push_back(shaped(element_size, shape));
    }
    for (const Shape& shape : {Shape{5, 7}, Shape{8, 8}, Shape{16, 16}, Shape{12, 20}}) {
      TransposeCase transpose = shaped(element_size, shape);
      transpose.batch = 37;
      transpose.gap = 0;
      cases.push_back(transpose);
      transpose.in_place = true;
      cases.push_back(transpose);
    }
  }
  run(cases);
}

// Shapes and pitches that give tiles to blocks in another order.
TEST_P(TransposeRow, TileOrders) {
  std::vector<TransposeCase> cases;
  for (const int64_t element_size : {1, 4, 16}) {
    const int64_t pitch = 131072 / element_size;
    for (const int64_t cols : {40, 300}) {
      TransposeCase transpose = shaped(element_size, {30, cols});
      transpose.in_padding = pitch - cols;
      cases.push_back(transpose);
    }
    const int64_t cols = 160 / element_size;
    cases.push_back(shaped(element_size, {64 * cols, cols}));
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Rows, TransposeRow, ::testing::ValuesIn(row_names(Family::kTranspose)),
                         row_test_name);

// ---- the plan's choice -------------------------------------------------------------------------

using Transpose = BackendTest;

TEST_F(Transpose, InPlaceWithAnyWorkspace) {
  for (const Shape& shape : {Shape{20, 31}, Shape{64, 48}, Shape{50, 50}, Shape{1, 40}}) {
    for (const int64_t element_size : kElementSizes) {
      Handle handle;
      size_t wanted = 0;
      ASSERT_EQ(mygemm_transpose_workspace_size(handle, static_cast<size_t>(element_size),
                                                shape.rows, shape.cols, 1, 1, &wanted),
                MYGEMM_STATUS_SUCCESS);
      for (const size_t bytes : {size_t{0}, wanted / 2, wanted}) {
        handle.set_workspace(bytes);
        TransposeCase transpose = shaped(element_size, shape);
        transpose.in_place = true;
        run_transpose(handle, transpose);
        transpose.out_padding = 7;
        run_transpose(handle, transpose);
        transpose.in_padding = 11;
        run_transpose(handle, transpose);
        EXPECT_TRUE(handle.workspace_bands_intact()) << bytes << " bytes of workspace";
      }
    }
  }
}

TEST_F(Transpose, NothingToDoSucceedsWithoutPointers) {
  Handle handle;
  const auto call = [&](int64_t rows, int64_t cols, int64_t batch) {
    return mygemm_transpose_strided_batched(handle, 4, rows, cols, nullptr, 4, 0, nullptr, 4, 0,
                                            batch);
  };
  EXPECT_EQ(call(0, 4, 1), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(4, 0, 1), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(4, 4, 0), MYGEMM_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mygemm_tests
