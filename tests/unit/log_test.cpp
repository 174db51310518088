// Unit tests: the lines of MYGEMM_LOG, letter by letter, since mygemm-bench replays them.
#include "log.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::address;
using mygemm_tests::gemm;
using mygemm_tests::mixed;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;
using mygemm_tests::transpose;
using mygemm_tests::transpose_in_place;
using mygemm_tests::with_epilogue;

TEST(Log, DescribesProducts) {
  EXPECT_EQ(describe(gemm(false, true, 5, 6, 7)),
            "sgemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --batch 1 "
            "--stride-a 0 --stride-b 0 --stride-c 0 --form single");
  GemmProblem p = gemm(true, false, 5, 6, 7, 3);
  p.b.stride = -50;
  EXPECT_EQ(describe(p),
            "sgemm --transa T --transb N -m 5 -n 6 -k 7 --lda 7 --ldb 7 --ldc 5 --batch 3 "
            "--stride-a 35 --stride-b -50 --stride-c 30 --form strided");
  p.a = {nullptr, address<void* const>(0), 9, 0};
  p.b = {nullptr, address<void* const>(1), 8, 0};
  p.c = p.d = {nullptr, address<void* const>(2), 7, 0};
  p.pointer_arrays = true;
  EXPECT_EQ(describe(p),
            "sgemm --transa T --transb N -m 5 -n 6 -k 7 --lda 9 --ldb 8 --ldc 7 --batch 3 "
            "--stride-a 0 --stride-b 0 --stride-c 0 --form pointers");
}

TEST(Log, DescribesGeneralProducts) {
  GemmProblem p = with_epilogue(gemm(false, true, 5, 6, 7, 3));
  p.d.ld = 9;
  p.d.stride = 54;
  EXPECT_EQ(describe(p),
            "gemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --ldd 9 --batch 3 "
            "--stride-a 35 --stride-b 42 --stride-c 30 --stride-d 54 --form strided --bias 1 "
            "--stride-bias 5 --activation gelu --c-is-d 0 --reads-c 1");
  p = gemm(false, true, 5, 6, 7);
  p.epilogue.activation = MYGEMM_ACTIVATION_RELU;
  p.update_fused();
  EXPECT_EQ(describe(p),
            "gemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --ldd 5 --batch 1 "
            "--stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form single --bias 0 "
            "--stride-bias 0 --activation relu --c-is-d 1 --reads-c 0");
}

TEST(Log, NamesTheTypesOfProductsOf16Bits) {
  GemmProblem p = gemm(false, true, 5, 6, 7);
  p.a.type = p.b.type = MYGEMM_R_16BF;
  EXPECT_EQ(describe(p),
            "gemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --ldd 5 --batch 1 "
            "--stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form single --bias 0 "
            "--stride-bias 0 --activation none --c-is-d 1 --reads-c 0 --atype bf16 --dtype f32");
}

TEST(Log, NamesBothTypesOfMixedProducts) {
  const std::string begin =
      "gemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --ldd 5 --batch 1 "
      "--stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form single --bias 0 "
      "--stride-bias 0 --activation none --c-is-d 1 --reads-c 0 ";
  EXPECT_EQ(describe(mixed(gemm(false, true, 5, 6, 7), true)),
            begin + "--atype f32 --btype bf16 --dtype f32");
  EXPECT_EQ(describe(mixed(gemm(false, true, 5, 6, 7), false)),
            begin + "--atype bf16 --btype f32 --dtype f32");
}

TEST(Log, DescribesOperandsOfActivationsAndSums) {
  const std::string begin =
      "gemm --transa N --transb T -m 5 -n 6 -k 7 --lda 5 --ldb 6 --ldc 5 --ldd 5 --batch 1 "
      "--stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form single --bias 0 "
      "--stride-bias 0 --activation ";
  const std::string end = " --c-is-d 1 --reads-c 0";
  GemmProblem p = gemm(false, true, 5, 6, 7);
  p.epilogue.activation = MYGEMM_ACTIVATION_RELU;
  p.epilogue.aux = address<void>(5);
  p.epilogue.ldaux = 32;
  p.epilogue.stride_aux = 192;
  p.sums = {MYGEMM_SUMS_OF_D, address<float>(6), -9};
  p.update_fused();
  EXPECT_EQ(describe(p), begin + "relu" + end +
                             " --aux 1 --ldaux 32 --stride-aux 192 --sums d --stride-sums -9");
  p.epilogue.activation = MYGEMM_ACTIVATION_RELU_GRADIENT;
  p.sums.of = MYGEMM_SUMS_OF_A;
  EXPECT_EQ(describe(p), begin + "relu-gradient" + end +
                             " --aux 1 --ldaux 32 --stride-aux 192 --sums a --stride-sums -9");
  p.epilogue.activation = MYGEMM_ACTIVATION_GELU_GRADIENT;
  p.sums.of = MYGEMM_SUMS_NONE;
  EXPECT_EQ(describe(p), begin + "gelu-gradient" + end + " --aux 1 --ldaux 32 --stride-aux 192");
  // A plain product with sums is a general one.
  p.epilogue.activation = MYGEMM_ACTIVATION_NONE;
  p.epilogue.aux = nullptr;
  p.sums.of = MYGEMM_SUMS_OF_B;
  p.update_fused();
  EXPECT_EQ(describe(p), begin + "none" + end + " --sums b --stride-sums -9");
}

TEST(Log, DescribesTriangles) {
  GemmProblem p = gemm(false, true, 5, 5, 7);
  for (const auto& [fill, words] : {std::pair{MYGEMM_FILL_LOWER, " --reads-c 0 --fill lower"},
                                    std::pair{MYGEMM_FILL_UPPER, " --reads-c 0 --fill upper"}}) {
    p.fill = fill;
    EXPECT_TRUE(describe(p).starts_with("gemm --transa N ")) << describe(p);
    EXPECT_TRUE(describe(p).ends_with(words)) << describe(p);
  }
}

TEST(Log, DescribesSoftmax) {
  SoftmaxProblem p = softmax(10, 20);
  EXPECT_EQ(describe(p),
            "softmax --mode softmax --direction forward --rows 10 --cols 20 --xtype f32 --ldx 20 "
            "--ytype f32 --ldy 20");
  p.mode = MYGEMM_LOG_SOFTMAX;
  p.in = {p.in.data, MYGEMM_R_16F, 21};
  p.out = {p.out.data, MYGEMM_R_16BF, 22};
  EXPECT_EQ(describe(p),
            "softmax --mode log --direction forward --rows 10 --cols 20 --xtype f16 --ldx 21 "
            "--ytype bf16 --ldy 22");
  // Backward: x stands for y, and y for dx.
  SoftmaxProblem b = softmax_backward(10, 20);
  b.in = {b.in.data, MYGEMM_R_16F, 21};
  b.dy = {b.dy.data, MYGEMM_R_16BF, 22};
  EXPECT_EQ(describe(b),
            "softmax --mode softmax --direction backward --rows 10 --cols 20 --xtype f16 --ldx 21 "
            "--dytype bf16 --lddy 22 --ytype f32 --ldy 20");
}

TEST(Log, DescribesTransposes) {
  TransposeProblem p = transpose(16, 10, 20, 3);
  p.stride_in = -200;
  EXPECT_EQ(describe(p),
            "transpose --element-size 16 --rows 10 --cols 20 --ldin 20 --ldout 10 --batch 3 "
            "--stride-in -200 --stride-out 200 --in-place 0");
  EXPECT_EQ(describe(transpose_in_place(1, 10, 20)),
            "transpose --element-size 1 --rows 10 --cols 20 --ldin 20 --ldout 10 --batch 1 "
            "--stride-in 0 --stride-out 0 --in-place 1");
}

// The longest lines are whole: 20 characters for each number.
TEST(Log, DescribesTheLargestNumbers) {
  GemmProblem p = gemm(true, true, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
  p.a.stride = p.b.stride = p.c.stride = p.d.stride = INT64_MIN;
  EXPECT_TRUE(describe(p).ends_with("--stride-c -9223372036854775808 --form strided"));
  p.epilogue.bias = address<void>(4);
  p.epilogue.stride_bias = INT64_MIN;
  p.update_fused();
  EXPECT_TRUE(
      describe(p).ends_with("--bias 1 --stride-bias -9223372036854775808 "
                            "--activation none --c-is-d 1 --reads-c 0"));
  TransposeProblem t = transpose(16, INT64_MAX, INT64_MAX, INT64_MAX);
  t.stride_in = t.stride_out = INT64_MIN;
  EXPECT_TRUE(describe(t).ends_with("--stride-out -9223372036854775808 --in-place 0"));
  EXPECT_TRUE(describe(softmax_backward(INT64_MAX, INT64_MAX))
                  .ends_with("--ytype f32 --ldy 9223372036854775807"));
}

class LogFile : public testing::Test {
 protected:
  LogFile() {
    path_ = testing::TempDir() + "mygemm_log_XXXXXX";
    ::close(::mkstemp(path_.data()));
  }
  ~LogFile() override { ::unlink(path_.c_str()); }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path_;
};

TEST_F(LogFile, GetsOneLineACall) {
  for (int opened = 0; opened < 2; ++opened) {  // the second appends
    CallLog log;
    log.open(path_);
    ASSERT_TRUE(log.is_open());
    log.set_place(opened == 0 ? -1 : 5, opened - 1);
    log.write(describe(transpose(4, 2, 3)), "host_blocked",
              opened == 0 ? MYGEMM_STATUS_SUCCESS : MYGEMM_STATUS_EXECUTION_FAILED);
  }
  const std::string call =
      "mygemm transpose --element-size 4 --rows 2 --cols 3 --ldin 3 --ldout 2 --batch 1 "
      "--stride-in 0 --stride-out 0 --in-place 0 # kernel=host_blocked status=";
  const std::string process = " process=" + std::to_string(getpid());
  EXPECT_EQ(text(),
            call + "0" + process + " device=host\n" + call + "13" + process + " rank=5 device=0\n");
}

TEST_F(LogFile, SaysWhereNoKernelRan) {
  CallLog log;
  log.open(path_);
  log.set_place(-1, -1);
  log.write("call", nullptr, MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_EQ(text(), "mygemm call # kernel=none status=7 process=" + std::to_string(getpid()) +
                        " device=host\n");
}

TEST(Log, IsOffWithoutADestination) {
  CallLog log;
  log.open("");
  EXPECT_FALSE(log.is_open());
}

TEST(Log, SaysOnceThatAFileCannotBeWritten) {
  testing::internal::CaptureStderr();
  for (int opened = 0; opened < 2; ++opened) {
    CallLog log;
    log.open("/nonexistent/log");
    EXPECT_FALSE(log.is_open());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "mygemm: MYGEMM_LOG = /nonexistent/log cannot be opened for appending: "
            "No such file or directory; calls are not logged\n");
}

}  // namespace
}  // namespace mygemm
