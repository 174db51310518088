// Ops tests of grouped products: every kernel of the backend forced on every form, type and layout,
// sizes in host and device memory, and what the plan takes by itself.
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "grouped_case.h"
#include "support/handle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;
constexpr mygemmOperation_t kOperations[] = {MYGEMM_OP_N, MYGEMM_OP_T};
constexpr GroupForm kForms[] = {GroupForm::kStackedM, GroupForm::kStackedN, GroupForm::kStackedK,
                                GroupForm::kStrided, GroupForm::kPointers};

// The types that a kernel may take.
void set_types(GroupedCase* grouped, size_t number) {
  constexpr mygemmDataType_t kTypes[][2] = {{MYGEMM_R_32F, MYGEMM_R_32F},
                                            {MYGEMM_R_16BF, MYGEMM_R_16BF},
                                            {MYGEMM_R_16F, MYGEMM_R_32F},
                                            {MYGEMM_R_16BF, MYGEMM_R_32F},
                                            {MYGEMM_R_16F, MYGEMM_R_16F}};
  grouped->in = kTypes[number % 5][0];
  grouped->out = kTypes[number % 5][1];
  if (number % 11 == 10) {
    grouped->in = grouped->out = MYGEMM_R_32F;
    grouped->mixed = true;
  }
}

// Sizes of a form: where matrices are stacked, all products have two of them alike.
std::vector<GroupSize> some_sizes(GroupForm form, const GroupSize& common,
                                  const std::vector<int64_t>& differing, Random* random) {
  std::vector<GroupSize> sizes;
  for (const int64_t own : differing) {
    GroupSize size = common;
    switch (form) {
      case GroupForm::kStackedM: size.m = own; break;
      case GroupForm::kStackedN: size.n = own; break;
      case GroupForm::kStackedK: size.k = own; break;
      default: size = {random->integer(0, common.m), own, random->integer(0, common.k)}; break;
    }
    sizes.push_back(size);
  }
  return sizes;
}

class GroupedRow : public RowTest {
 protected:
  void SetUp() override {
    RowTest::SetUp();
    if (!IsSkipped()) handle_.emplace(Family::kGrouped, GetParam(), kWorkspace);
  }
  void run(const GroupedCase& grouped) { run_grouped(*handle_, grouped, &tally_); }
  void finish() {
    EXPECT_TRUE(handle_->workspace_bands_intact()) << "written outside the workspace";
    tally_.finish();
  }

 private:
  std::optional<Handle> handle_;
  RowTally tally_{GetParam()};
};

TEST_P(GroupedRow, FormsTypesOperationsAndLayouts) {
  Random random(1);
  size_t number = 0;
  for (const GroupForm form : kForms) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        for (size_t type = 0; type < 5; ++type, ++number) {
          GroupedCase grouped;
          set_types(&grouped, number);
          grouped.form = form;
          grouped.transa = transa, grouped.transb = transb;
          // Multiples of 8, so that tensor maps may describe them, and others.
          const bool even = number % 2 == 0;
          const GroupSize common = even ? GroupSize{136, 72, 80} : GroupSize{131, 45, 67};
          grouped.sizes = some_sizes(form, common, {40, 0, 7, 33, 64}, &random);
          grouped.room = even ? 16 : 3;
          grouped.on_device = number % 3 != 0;
          grouped.ends = grouped.stacked() && number % 4 == 1;
          grouped.wide_index = number % 5 < 2;
          grouped.own_c = number % 7 == 3;
          grouped.beta = number % 3 == 1 ? 0.0f : -0.5f;
          grouped.bias = number % 4 == 2;
          if (number % 6 == 5) grouped.activation = MYGEMM_ACTIVATION_RELU;
          grouped.padding = even ? (number % 4) * 4 : 1;
          grouped.offset = even ? 0 : number % 8 == 1 ? 2 : 0;
          if (number % 9 == 4) grouped.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
          grouped.seed = number + 1;
          run(grouped);
          if (HasFailure()) return;
        }
      }
    }
  }
  finish();
}

// Tiles of many widths, and products of several tiles along either side.
TEST_P(GroupedRow, ProductsOfAllSizes) {
  Random random(2);
  for (size_t number = 0; number < 10; ++number) {
    GroupedCase grouped;
    set_types(&grouped, number);
    grouped.form = kForms[number % 2];
    grouped.transa = kOperations[number / 2 % 2], grouped.transb = kOperations[number / 3 % 2];
    std::vector<int64_t> differing = {1, 255, 256, 31, 300, 0, 97, 520};
    grouped.sizes = some_sizes(grouped.form, {140, 136, 72}, differing, &random);
    grouped.ends = number % 3 == 0;
    grouped.beta = 0;
    grouped.seed = number + 1;
    run(grouped);
    if (HasFailure()) return;
  }
  finish();
}

TEST_P(GroupedRow, EdgesOfSizes) {
  Random random(3);
  const std::vector<int64_t> lists[] = {{0}, {0, 0, 0}, {1}, {5, 0, 0}, {0, 0, 9}};
  size_t number = 0;
  for (const GroupForm form : kForms) {
    for (const std::vector<int64_t>& differing : lists) {
      // Matrices of no element, where these are not part of others, are nothing to do.
      const bool stacked = form <= GroupForm::kStackedK;
      if (!stacked && differing.back() == 0 && differing.front() == 0) continue;
      for (const float alpha : {1.25f, 0.0f}) {
        GroupedCase grouped;
        set_types(&grouped, ++number);
        grouped.form = form;
        grouped.sizes = some_sizes(form, {24, 16, 32}, differing, &random);
        // A stacked k may be 0 in all.
        grouped.room = form == GroupForm::kStackedK ? 0 : 8;
        grouped.alpha = alpha;
        if (number % 2 != 0) grouped.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
        grouped.seed = number;
        run(grouped);
      }
    }
  }
  finish();
}

// On the device, a size that is more than the call's counts as that.
TEST_P(GroupedRow, SizesBeyondTheMost) {
  if (kBuild == Build::kHost) GTEST_SKIP() << "the host backend checks sizes";
  Random random(4);
  for (size_t number = 0; number < 6; ++number) {
    GroupedCase grouped;
    set_types(&grouped, number);
    grouped.form = number % 2 != 0 ? GroupForm::kStackedN : GroupForm::kStrided;
    grouped.sizes = {{40, 24, 16}, {40, 0, 16}, {40, 24, 16}};
    grouped.beyond = 1000;
    grouped.seed = number + 1;
    run(grouped);
  }
  finish();
}

TEST_P(GroupedRow, ANanStaysInItsProduct) {
  Random random(8);
  size_t number = 0;
  for (const GroupForm form : kForms) {
    for (const mygemmOperation_t operation : kOperations) {
      for (size_t type = 0; type < 2; ++type) {
        GroupedCase grouped;
        set_types(&grouped, ++number);
        grouped.form = form;
        grouped.transa = operation;
        grouped.transb = operation == MYGEMM_OP_N ? MYGEMM_OP_T : MYGEMM_OP_N;
        grouped.sizes = {{40, 24, 72}, {40, 24, 72}, {40, 24, 72}};
        if (form == GroupForm::kStackedK) grouped.sizes[0].k = 37, grouped.sizes[2].k = 21;
        grouped.nan_product = 1;
        grouped.seed = number;
        run(grouped);
      }
    }
  }
  finish();
}

// More products than the threads of the kernel that lists them, and than fit a kernel's arguments.
TEST_P(GroupedRow, ManyProducts) {
  Random random(5);
  for (size_t number = 0; number < 6; ++number) {
    GroupedCase grouped;
    set_types(&grouped, number);
    grouped.form = number % 2 != 0 ? GroupForm::kStackedN : GroupForm::kPointers;
    std::vector<int64_t> differing;
    for (int i = 0; i < 530; ++i) differing.push_back(i % 7 == 0 ? 3 : i % 5 == 0 ? 1 : 0);
    grouped.sizes = some_sizes(grouped.form, {8, 4, 8}, differing, &random);
    grouped.on_device = number % 3 != 0;
    grouped.wide_index = number < 3;
    grouped.seed = number + 1;
    run(grouped);
  }
  finish();
}

TEST_P(GroupedRow, BatchInvariantOnes) {
  Random random(6);
  for (size_t number = 0; number < 10; ++number) {
    GroupedCase grouped;
    set_types(&grouped, number);
    grouped.form = number % 2 != 0 ? GroupForm::kStackedN : GroupForm::kStackedM;
    grouped.invariance = MYGEMM_INVARIANCE_BATCH;
    if (number >= 5) grouped.math = MYGEMM_MATH_STRICT;
    grouped.sizes = some_sizes(grouped.form, {40, 40, 72}, {9, 30, 1}, &random);
    grouped.seed = number + 1;
    run(grouped);
  }
  finish();
}

INSTANTIATE_TEST_SUITE_P(Rows, GroupedRow, ::testing::ValuesIn(row_names(Family::kGrouped)),
                         row_test_name);

class Grouped : public BackendTest {};

TEST_F(Grouped, PlansTakeEveryCall) {
  Handle handle(kWorkspace);
  Random random(7);
  for (size_t number = 0; number < 40; ++number) {
    GroupedCase grouped;
    set_types(&grouped, number);
    grouped.form = kForms[number % 5];
    grouped.transa = kOperations[number / 2 % 2], grouped.transb = kOperations[number / 4 % 2];
    std::vector<int64_t> differing;
    for (int i = 0; i < random.integer(1, 9); ++i) differing.push_back(random.integer(0, 90));
    const GroupSize common = {random.integer(1, 150), random.integer(1, 90), random.integer(0, 99)};
    grouped.sizes = some_sizes(grouped.form, common, differing, &random);
    grouped.room = random.integer(0, 20);
    grouped.on_device = number % 2 != 0;
    grouped.padding = random.integer(0, 9);
    grouped.seed = number + 1;
    run_grouped(handle, grouped);
    if (HasFailure()) return;
  }
}

// Sizes in host memory need no workspace; others do, and the call says so.
TEST_F(Grouped, WithoutAWorkspace) {
  Handle handle;
  GroupedCase grouped;
  grouped.sizes = {{40, 24, 16}, {40, 3, 16}};
  grouped.on_device = false;
  run_grouped(handle, grouped);
  grouped.on_device = true;
  RowTally tally(backend() == MYGEMM_BACKEND_HOST ? "host_one_by_one" : "one_by_one");
  run_grouped(handle, grouped, &tally);
  EXPECT_EQ(tally.ran_some(), backend() == MYGEMM_BACKEND_HOST);
}

}  // namespace
}  // namespace mygemm_tests
