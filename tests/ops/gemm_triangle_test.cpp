// Ops tests: triangles of products, mygemm_gemm with fill. Every element of the triangle against
// FP64, every other byte of D against its value before the call: elements beside the triangle are
// NaN, in C too. In steps of rectangles and diagonal blocks, which a small workspace makes small,
// and by every kernel that leaves the other triangle alone.
#include <cstring>
#include <sstream>
#include <vector>

#include "gemm_case.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

struct TriangleCase {
  int64_t n, k;
  mygemmFill_t fill = MYGEMM_FILL_LOWER;
  mygemmOperation_t transa = MYGEMM_OP_N;
  bool symmetric = true;  // B is A; else another matrix, which is transposed where A is
  float alpha = 1.25f, beta = -0.5f;
  bool own_c = false;   // C is not D
  int64_t padding = 0;  // between columns
  Form form = Form::kSingle;
  int64_t batch = 1;
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_HOST;
  bool nan_inputs = false;  // they must not count

  mygemmOperation_t transb() const {
    if (!symmetric) return transa;
    return transa == MYGEMM_OP_N ? MYGEMM_OP_T : MYGEMM_OP_N;
  }
  bool fills(int64_t i, int64_t j) const { return fill == MYGEMM_FILL_LOWER ? i >= j : i <= j; }
  std::string text() const {
    std::ostringstream out;
    out << "n=" << n << " k=" << k << (fill == MYGEMM_FILL_LOWER ? " lower" : " upper")
        << " transa=" << transa << (symmetric ? " of A alone" : " of A and B") << " alpha=" << alpha
        << " beta=" << beta << (own_c ? " C and D" : " D") << " padding=" << padding
        << " form=" << static_cast<int>(form) << " batch=" << batch
        << " pointer mode=" << pointer_mode;
    return out.str();
  }
};

// A batch of column-major matrices, one behind the other, here and on the device.
struct Matrices {
  int64_t rows, columns, ld, stride;
  std::vector<float> image;
  DeviceBuffer buffer, addresses;

  Matrices(int64_t rows_, int64_t columns_, const TriangleCase& of, uint64_t seed)
      : rows(rows_),
        columns(columns_),
        ld(std::max<int64_t>(1, rows_ + of.padding)),
        stride(ld * std::max<int64_t>(1, columns_)),
        image(static_cast<size_t>(of.batch * stride)) {
    Random random(seed);
    for (float& x : image) x = static_cast<float>(random.real(-1, 1));
  }
  void upload(int64_t batch) {
    buffer = DeviceBuffer(image.data(), image.size() * sizeof(float), 0);
    std::vector<const float*> pointers;
    for (int64_t i = 0; i < batch; ++i) pointers.push_back(buffer.as<float>() + i * stride);
    addresses = DeviceBuffer(pointers.data(), pointers.size() * sizeof(float*), 0);
  }
  float* matrix(int64_t i) { return image.data() + i * stride; }
};

void keep_triangle(const TriangleCase& of, Matrices* matrices) {
  for (int64_t matrix = 0; matrix < of.batch; ++matrix) {
    for (int64_t j = 0; j < of.n; ++j) {
      for (int64_t i = 0; i < matrices->ld; ++i) {
        const bool inside = i < of.n && of.fills(i, j);
        if (!inside) std::memset(matrices->matrix(matrix) + i + j * matrices->ld, kPoison, 4);
      }
    }
  }
}

struct Call {
  Matrices a, b, c, d;
  DeviceBuffer scalars;
  mygemmGemm_t descriptor = MYGEMM_GEMM_INIT;

  explicit Call(const TriangleCase& of)
      : a(of.transa == MYGEMM_OP_N ? of.n : of.k, of.transa == MYGEMM_OP_N ? of.k : of.n, of, 1),
        b(of.transb() == MYGEMM_OP_N ? of.k : of.n, of.transb() == MYGEMM_OP_N ? of.n : of.k, of,
          2),
        c(of.n, of.n, of, 3),
        d(of.n, of.n, of, 4) {
    if (of.nan_inputs) {
      for (Matrices* x : {&a, &b}) std::memset(x->image.data(), kPoison, x->image.size() * 4);
    }
    keep_triangle(of, &c);
    keep_triangle(of, &d);
    for (Matrices* x : {&a, &b, &c, &d}) x->upload(of.batch);
    const float both[] = {of.alpha, of.beta};
    scalars = DeviceBuffer(both, sizeof both, 0);
    describe(of);
  }

  void describe(const TriangleCase& of) {
    mygemmGemm_t& call = descriptor;
    Matrices& second = of.symmetric ? a : b;
    call.transa = of.transa, call.transb = of.transb();
    call.m = call.n = of.n, call.k = of.k, call.batch_count = of.batch;
    call.fill = of.fill;
    const bool on_device = of.pointer_mode == MYGEMM_POINTER_MODE_DEVICE && kBuild != Build::kHost;
    call.alpha = on_device ? scalars.data() : &of.alpha;
    call.beta = on_device ? scalars.as<float>() + 1 : &of.beta;
    call.A = a.buffer.data(), call.lda = a.ld, call.stride_a = a.stride;
    call.B = second.buffer.data(), call.ldb = second.ld, call.stride_b = second.stride;
    call.D = d.buffer.data(), call.ldd = d.ld, call.stride_d = d.stride;
    if (of.own_c) call.C = c.buffer.data(), call.ldc = c.ld, call.stride_c = c.stride;
    if (of.form != Form::kPointers) return;
    call.A_array = a.addresses.as<const void* const>();
    call.B_array = second.addresses.as<const void* const>();
    call.D_array = d.addresses.as<void* const>();
    if (of.own_c) call.C_array = c.addresses.as<const void* const>();
  }
};

void check(const TriangleCase& of, Call* call) {
  std::vector<float> results(call->d.image.size());
  call->d.buffer.download(results.data());
  Comparison comparison;
  for (int64_t matrix = 0; matrix < of.batch; ++matrix) {
    Matrices& second = of.symmetric ? call->a : call->b;
    const Matrices& old = of.own_c ? call->c : call->d;
    const GemmArguments gemm{of.transa != MYGEMM_OP_N,
                             of.transb() != MYGEMM_OP_N,
                             of.n,
                             of.n,
                             of.alpha == 0 ? 0 : of.k,
                             of.alpha,
                             call->a.matrix(matrix),
                             call->a.ld,
                             second.matrix(matrix),
                             second.ld,
                             of.beta,
                             old.image.data() + matrix * old.stride,
                             old.ld};
    for (int64_t j = 0; j < of.n; ++j) {
      for (int64_t i = 0; i < of.n; ++i) {
        if (!of.fills(i, j)) continue;
        const auto at = static_cast<size_t>(matrix * call->d.stride + i + j * call->d.ld);
        double value = 0, tolerance = 0;
        gemm_element(gemm, i, j, &value, &tolerance);
        comparison.add(i, j, results[at], value, tolerance);
        results[at] = call->d.image[at];  // the rest must be unchanged
      }
    }
  }
  EXPECT_TRUE(comparison.result());
  EXPECT_EQ(std::memcmp(results.data(), call->d.image.data(), results.size() * 4), 0)
      << "written beside the triangle";
  EXPECT_TRUE(call->d.buffer.bands_intact()) << "written outside D";
}

void run(mygemmHandle_t handle, const TriangleCase& of, RowTally* tally = nullptr) {
  SCOPED_TRACE(of.text());
  Call call(of);
  ASSERT_EQ(mygemm_set_pointer_mode(handle, of.pointer_mode), MYGEMM_STATUS_SUCCESS);
  const mygemmStatus_t status = mygemm_gemm(handle, &call.descriptor);
  synchronize();
  const auto explained = explained_rows([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_gemm(handle, nullptr, &call.descriptor, text, capacity, length);
  });
  if (!tally) {
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  } else if (!tally->ran(status, explained)) {
    return;
  }
  check(of, &call);
}

// 1 where it ran; a kernel that is forced may refuse it, and then nothing is written.
int run_if_possible(mygemmHandle_t handle, const TriangleCase& of) {
  SCOPED_TRACE(of.text());
  Call call(of);
  EXPECT_EQ(mygemm_set_pointer_mode(handle, of.pointer_mode), MYGEMM_STATUS_SUCCESS);
  const mygemmStatus_t status = mygemm_gemm(handle, &call.descriptor);
  synchronize();
  if (status == MYGEMM_STATUS_SUCCESS) {
    check(of, &call);
    return 1;
  }
  EXPECT_EQ(status, MYGEMM_STATUS_NOT_SUPPORTED) << mygemm_last_error();
  std::vector<float> now(call.d.image.size());
  call.d.buffer.download(now.data());
  EXPECT_EQ(std::memcmp(now.data(), call.d.image.data(), now.size() * 4), 0)
      << "written by a call that was refused";
  return 0;
}

std::vector<TriangleCase> small_cases() {
  std::vector<TriangleCase> cases;
  const auto add = [&](TriangleCase of) {
    of.fill = cases.size() % 2 == 0 ? MYGEMM_FILL_LOWER : MYGEMM_FILL_UPPER;
    of.transa = cases.size() % 4 < 2 ? MYGEMM_OP_N : MYGEMM_OP_T;
    of.symmetric = cases.size() % 3 != 2;
    of.own_c = cases.size() % 5 == 3;
    of.padding = cases.size() % 3 == 0 ? 0 : 3;
    cases.push_back(of);
  };
  for (const int64_t n : {1, 2, 31, 33, 70, 129}) {
    for (const int64_t k : {1, 19, 300}) {
      add({.n = n, .k = k});
      add({.n = n, .k = k, .beta = 0});
    }
  }
  for (const float beta : {0.0f, 1.0f, -0.5f}) {
    add({.n = 70, .k = 0, .beta = beta});
    add({.n = 70, .k = 9, .alpha = 0, .beta = beta, .nan_inputs = true});
    add({.n = 70, .k = 9, .beta = beta, .pointer_mode = MYGEMM_POINTER_MODE_DEVICE});
    TriangleCase unknown{.n = 70, .k = 9, .alpha = 0, .beta = beta};
    unknown.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
    unknown.nan_inputs = true;
    add(unknown);
  }
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    add({.n = 66, .k = 35, .form = form, .batch = 5});
    add({.n = 66, .k = 35, .form = form, .batch = 5});
  }
  return cases;
}

class GemmTriangleRows : public RowTest {};

TEST_P(GemmTriangleRows, OfSmallMatrices) {
  Handle handle(Family::kGemm, GetParam(), 1 << 20);
  RowTally tally(GetParam());
  for (const TriangleCase& of : small_cases()) run(handle, of, &tally);
  tally.finish();
}

// Others compute all of D.
std::vector<std::string> kernels_of_triangles() {
  std::vector<std::string> names;
  for (const std::string& name : row_names(Family::kGemm)) {
    for (const char* family : {"warptiled_", "sliced_", "tiled", "naive", "host_naive"}) {
      if (name.starts_with(family)) names.push_back(name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmTriangleRows, ::testing::ValuesIn(kernels_of_triangles()),
                         row_test_name);

class GemmTriangle : public BackendTest {};

TEST_F(GemmTriangle, OfSmallMatrices) {
  for (const size_t workspace : {size_t{0}, size_t{1} << 20}) {
    Handle handle(workspace);
    for (const TriangleCase& of : small_cases()) run(handle, of);
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  }
}

// The kernels of the products of steps, where they are forced; "" is the plan's choice.
std::vector<const char*> kernels_of_steps() {
  if (kBuild == Build::kHost) return {"", "host_blocked"};
  return {"", "tma_32x32", "splitk_64x64", "bf16x6_128x64"};
}

// Blocks of 128 rows and more, one or some at once, with ragged last rectangles and blocks.
TEST_F(GemmTriangle, InStepsOfASmallWorkspace) {
  int ran = 0;
  for (const char* kernel : kernels_of_steps()) {
    for (const size_t workspace : {size_t{160} << 10, size_t{512} << 10, size_t{1} << 20}) {
      Handle handle(Family::kGemm, kernel, workspace);
      const auto run_or_refuse = [&](const TriangleCase& of) {
        ran += run_if_possible(handle, of);
      };
      bool upper = false;
      for (const int64_t n : {257, 300, 384, 500, 641, 700}) {
        upper = !upper;
        TriangleCase of{.n = n, .k = upper ? 65 : 23, .beta = n % 4 == 0 ? 0.0f : 1.0f};
        of.fill = upper ? MYGEMM_FILL_UPPER : MYGEMM_FILL_LOWER;
        of.transa = n % 3 == 0 ? MYGEMM_OP_T : MYGEMM_OP_N;
        of.symmetric = n % 4 != 0;
        of.own_c = n % 5 == 1;
        of.padding = n % 2 == 0 ? 0 : 1;
        run_or_refuse(of);
      }
      run_or_refuse({.n = 300, .k = 40, .form = Form::kStrided, .batch = 3});
      run_or_refuse({.n = 150, .k = 40, .form = Form::kStrided, .batch = 7});
      TriangleCase nothing{.n = 300, .k = 9, .alpha = 0, .beta = 1};
      nothing.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
      nothing.nan_inputs = true;
      run_or_refuse(nothing);
      EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    }
  }
  EXPECT_GE(ran, kBuild == Build::kHost ? 50 : 60);
}

// Sizes that are divided whatever the workspace, and of one kernel.
TEST_F(GemmTriangle, LargeInSteps) {
  if (kBuild == Build::kEmulated) GTEST_SKIP() << "takes minutes";
  Handle handle(size_t{36} << 20);
  for (const int64_t n : {2047, 2050, 3000, 4097}) {
    TriangleCase of{.n = n, .k = n == 4097 ? 40 : 320};
    if (kBuild == Build::kHost && n > 2050) continue;
    of.fill = n % 2 == 0 ? MYGEMM_FILL_LOWER : MYGEMM_FILL_UPPER;
    of.transa = n % 4 < 2 ? MYGEMM_OP_N : MYGEMM_OP_T;
    of.padding = n % 3;
    run(handle, of);
  }
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
}

// The workspace that a query names is all that a call uses: with more it has the same bits.
TEST_F(GemmTriangle, WantsTheWorkspaceOfItsQuery) {
  const TriangleCase of{.n = 300, .k = 40};
  Handle handle(Family::kGemm, kBuild == Build::kHost ? "" : "tma_32x32", 0);
  Call first(of), second(of);
  size_t bytes = 0;
  ASSERT_EQ(mygemm_gemm_workspace_size(handle, &first.descriptor, &bytes), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(bytes > 0, kBuild != Build::kHost);
  handle.set_workspace(bytes);
  ASSERT_EQ(mygemm_gemm(handle, &first.descriptor), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  handle.set_workspace(4 * bytes + 256);
  ASSERT_EQ(mygemm_gemm(handle, &second.descriptor), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  std::vector<float> one(first.d.image.size()), other(one.size());
  first.d.buffer.download(one.data());
  second.d.buffer.download(other.data());
  EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * 4), 0);
  check(of, &first);
}

}  // namespace
}  // namespace mygemm_tests
