// Test support: main() of the test programs. A run that selected no test has failed; a run that
// skipped every test says so with exit status 77, which ctest reports as skipped. So does one of
// the parts into which GoogleTest divides a run, where no test is left for it.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const int failed = RUN_ALL_TESTS();
  const auto& unit_test = *::testing::UnitTest::GetInstance();
  if (unit_test.test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was selected\n");
    return std::getenv("GTEST_TOTAL_SHARDS") ? 77 : 1;
  }
  if (failed == 0 && unit_test.successful_test_count() == 0) return 77;
  return failed;
}
