// Ops tests: see gemm_epilogue_case.h.
#include "gemm_epilogue_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Matrices of a batch in one buffer, with an odd number of elements more from one to the next.
struct Matrices {
  int64_t rows, cols, ld, batch, stride;
  int64_t given_ld;  // in calls
  std::vector<float> image;
  DeviceBuffer buffer;

  Matrices(int64_t rows_in, int64_t cols_in, int64_t padding, const EpilogueCase& c)
      : rows(rows_in),
        cols(cols_in),
        ld(std::max<int64_t>(1, rows + padding)),
        batch(c.batch),
        stride(ld * cols + 3),
        given_ld(cols <= 1 && c.vector_ld > 0 ? c.vector_ld : ld) {
    const int64_t last = cols == 0 ? 0 : (cols - 1) * ld + rows;
    image.resize(static_cast<size_t>((batch - 1) * stride + last));
    if (!image.empty()) std::memset(image.data(), kPoison, image.size() * sizeof(float));
    buffer = DeviceBuffer(image.size() * sizeof(float), c.offset);
  }

  float& at(int64_t matrix, int64_t i, int64_t j) {
    return image[static_cast<size_t>(matrix * stride + i + j * ld)];
  }
  template <class F>
  void each(F visit) {
    for (int64_t matrix = 0; matrix < batch; ++matrix) {
      for (int64_t j = 0; j < cols; ++j) {
        for (int64_t i = 0; i < rows; ++i) visit(matrix, i, j);
      }
    }
  }
  void fill(Random& random) {
    each([&](int64_t matrix, int64_t i, int64_t j) {
      at(matrix, i, j) = static_cast<float>(random.real(-1, 1));
    });
    buffer.upload(image.data());
  }
  DeviceBuffer pointers() const {
    std::vector<float*> list;
    for (int64_t i = 0; i < batch; ++i) list.push_back(buffer.as<float>() + i * stride);
    return DeviceBuffer(list.data(), list.size() * sizeof(float*), 0);
  }
  std::vector<float> now() const {
    std::vector<float> contents(image.size());
    buffer.download(contents.data());
    return contents;
  }
  void expect_unchanged(const char* name) const {
    const std::vector<float> contents = now();
    EXPECT_TRUE(image.empty() ||
                std::memcmp(contents.data(), image.data(), image.size() * sizeof(float)) == 0)
        << name << " was written";
    EXPECT_TRUE(buffer.bands_intact()) << "written outside " << name;
  }
};

// The operands of a call. C has D's layout where it is D.
struct Operands {
  const EpilogueCase& gemm;
  Matrices a, b, c, d, bias;
  DeviceBuffer scalars, a_list, b_list, c_list, d_list;

  explicit Operands(const EpilogueCase& g)
      : gemm(g),
        a(g.transa ? g.k : g.m, g.transa ? g.m : g.k, g.padding, g),
        b(g.transb ? g.n : g.k, g.transb ? g.k : g.n, g.padding, g),
        c(g.m, g.n, g.own_c ? g.c_padding : g.padding, g),
        d(g.m, g.n, g.padding, g),
        bias(g.m, 1, 0, g) {
    Random random(7);
    a.fill(random);
    b.fill(random);
    c.fill(random);
    bias.fill(random);
    if (g.special) {
      constexpr float kValues[] = {kInfinity, -kInfinity, std::nanf(""), -0.0f, 3e38f, -20.0f};
      for (int64_t i = 0; i < 6; ++i) {
        c.at(0, i + 7, 1) = kValues[i];
        bias.at(0, i, 0) = kValues[i];
      }
      a.at(0, 20, 2) = kInfinity;  // a row of results that is not finite before C is added
      a.buffer.upload(a.image.data());
      c.buffer.upload(c.image.data());
      bias.buffer.upload(bias.image.data());
    }
    if (g.beta == 0) {  // then C is not read
      c.each([&](int64_t matrix, int64_t i, int64_t j) { c.at(matrix, i, j) = std::nanf(""); });
      c.buffer.upload(c.image.data());
    }
    const float both[2] = {g.alpha, g.beta};
    scalars = DeviceBuffer(both, sizeof both, 4);
    a_list = a.pointers();
    b_list = b.pointers();
    c_list = c.pointers();
    d_list = d.pointers();
  }

  const float* alpha() const { return host() ? &gemm.alpha : scalars.as<float>(); }
  const float* beta() const { return host() ? &gemm.beta : scalars.as<float>() + 1; }
  bool host() const { return gemm.pointer_mode == MYGEMM_POINTER_MODE_HOST; }

  // Sets D before the call: C's values where C is D, else poison.
  void prepare_d(bool with_c) {
    if (with_c) {
      d.each(
          [&](int64_t matrix, int64_t i, int64_t j) { d.at(matrix, i, j) = c.at(matrix, i, j); });
    } else {
      std::memset(d.image.data(), kPoison, d.image.size() * sizeof(float));
    }
    d.buffer.upload(d.image.data());
  }

  mygemmGemm_t descriptor() const {
    mygemmGemm_t call = MYGEMM_GEMM_INIT;
    call.transa = gemm.transa;
    call.transb = gemm.transb;
    call.m = gemm.m;
    call.n = gemm.n;
    call.k = gemm.k;
    call.batch_count = gemm.batch;
    call.activation = gemm.activation;
    call.alpha = alpha();
    call.beta = beta();
    call.lda = a.given_ld;
    call.ldb = b.given_ld;
    call.ldc = c.given_ld;
    call.ldd = d.given_ld;
    const int64_t first_bias = gemm.bias_step < 0 ? (gemm.batch - 1) * bias.stride : 0;
    if (gemm.bias) call.bias = bias.buffer.as<float>() + first_bias;
    call.stride_bias = gemm.bias_step * bias.stride;
    if (gemm.form == Form::kPointers) {
      call.A_array = gemm.null_inputs ? nullptr : a_list.as<const void* const>();
      call.B_array = gemm.null_inputs ? nullptr : b_list.as<const void* const>();
      call.C_array = gemm.own_c ? c_list.as<const void* const>() : nullptr;
      call.D_array = d_list.as<void* const>();
      return call;
    }
    call.A = gemm.null_inputs ? nullptr : a.buffer.data();
    call.B = gemm.null_inputs ? nullptr : b.buffer.data();
    call.C = gemm.own_c ? c.buffer.data() : nullptr;
    call.D = d.buffer.data();
    call.stride_a = a.stride;
    call.stride_b = b.stride;
    call.stride_c = c.stride;
    call.stride_d = d.stride;
    return call;
  }

  // The plain product in the same form, C in D.
  mygemmStatus_t plain(mygemmHandle_t handle) const {
    if (gemm.form == Form::kPointers) {
      return mygemm_sgemm_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k, alpha(),
                                  a_list.as<const float* const>(), a.given_ld,
                                  b_list.as<const float* const>(), b.given_ld, beta(),
                                  d_list.as<float* const>(), d.given_ld, gemm.batch);
    }
    return mygemm_sgemm_strided_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k,
                                        alpha(), a.buffer.as<float>(), a.given_ld, a.stride,
                                        b.buffer.as<float>(), b.given_ld, b.stride, beta(),
                                        d.buffer.as<float>(), d.given_ld, d.stride, gemm.batch);
  }
};

// The result of an element whose alpha op(A) op(B) + beta C + bias is t, and its error bound.
struct Expected {
  double value, tolerance;
};

Expected activated(mygemmActivation_t activation, float t) {
  switch (activation) {
    case MYGEMM_ACTIVATION_NONE: break;
    case MYGEMM_ACTIVATION_RELU: return {t > 0 || std::isnan(t) ? t : 0.0, 0};
    case MYGEMM_ACTIVATION_GELU: {
      const double x = t, u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
      if (std::isinf(x)) return {x > 0 ? x : std::nan(""), 0};
      const double value = x / (1 + std::exp(-2 * u));
      return {value, std::fabs(value) * (4 + 8 * std::fabs(u)) * 0x1p-23 + 1e-36};
    }
  }
  return {t, 0};
}

bool right(float got, const Expected& expected) {
  if (std::isnan(expected.value)) return std::isnan(got);
  return got == expected.value || std::fabs(got - expected.value) <= expected.tolerance;
}

// alpha op(A) op(B) + beta C in D's layout, by the same kernel.
std::vector<float> unfused(mygemmHandle_t handle, Operands* operands) {
  const EpilogueCase& gemm = operands->gemm;
  if (!gemm.sums()) {
    std::vector<float> scaled = operands->d.image;
    operands->d.each([&](int64_t matrix, int64_t i, int64_t j) {
      scaled[static_cast<size_t>(matrix * operands->d.stride + i + j * operands->d.ld)] =
          gemm.beta == 0 ? 0 : gemm.beta * operands->c.at(matrix, i, j);
    });
    return scaled;
  }
  operands->prepare_d(true);
  const mygemmStatus_t status = operands->plain(handle);
  synchronize();
  EXPECT_TRUE(status == MYGEMM_STATUS_SUCCESS || status == MYGEMM_STATUS_NOT_SUPPORTED)
      << mygemm_last_error();
  return operands->d.now();
}

void check(Operands* operands, const std::vector<float>& before_bias) {
  const EpilogueCase& gemm = operands->gemm;
  Matrices& d = operands->d;
  std::vector<float> results = d.now();
  int64_t wrong = 0;
  d.each([&](int64_t matrix, int64_t i, int64_t j) {
    const int64_t of_bias = gemm.bias_step == 0  ? 0
                            : gemm.bias_step > 0 ? matrix
                                                 : gemm.batch - 1 - matrix;
    const size_t at = static_cast<size_t>(matrix * d.stride + i + j * d.ld);
    const float t =
        gemm.bias ? before_bias[at] + operands->bias.at(of_bias, i, 0) : before_bias[at];
    const Expected expected = activated(gemm.activation, t);
    if (!right(results[at], expected) && ++wrong < 4) {
      ADD_FAILURE() << "D(" << i << ", " << j << ") of matrix " << matrix << " is " << results[at]
                    << " instead of " << expected.value << " (+- " << expected.tolerance
                    << "), from " << before_bias[at];
    }
    results[at] = d.at(matrix, i, j);  // the rest must be unchanged
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::memcmp(results.data(), d.image.data(), results.size() * sizeof(float)), 0)
      << "written between the columns of D";
  EXPECT_TRUE(d.buffer.bands_intact()) << "written outside D";
  operands->a.expect_unchanged("A");
  operands->b.expect_unchanged("B");
  operands->c.expect_unchanged("C");
  operands->bias.expect_unchanged("bias");
}

}  // namespace

std::string EpilogueCase::text() const {
  std::ostringstream out;
  out << (transa ? "T" : "N") << (transb ? "T" : "N") << " m=" << m << " n=" << n << " k=" << k
      << " activation=" << activation << " bias=" << bias << " alpha=" << alpha << " beta=" << beta
      << (own_c ? " C and D" : " D") << " padding=" << padding << " offset=" << offset
      << " pointer mode=" << pointer_mode << " form=" << static_cast<int>(form)
      << " batch=" << batch << " bias step=" << bias_step;
  return out.str();
}

void run_epilogue(mygemmHandle_t handle, const EpilogueCase& gemm, RowTally* tally) {
  SCOPED_TRACE(gemm.text());
  Operands operands(gemm);
  ASSERT_EQ(mygemm_set_pointer_mode(handle, gemm.pointer_mode), MYGEMM_STATUS_SUCCESS);
  const std::vector<float> before_bias = unfused(handle, &operands);

  operands.prepare_d(!gemm.own_c);
  const mygemmGemm_t call = operands.descriptor();
  const mygemmStatus_t status = mygemm_gemm(handle, &call);
  synchronize();
  const auto explained = explained_rows([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_gemm(handle, nullptr, &call, text, capacity, length);
  });
  if (!tally->ran(status, explained)) {
    operands.d.expect_unchanged("D of a call that was refused");
    return;
  }
  check(&operands, before_bias);
}

}  // namespace mygemm_tests
