// The cuBLAS drop-in: triangles (cublasSsyrk, cublasSsyrkx) and groups of products
// (cublasSgemmGroupedBatched). Runs as cublas_test.cpp does.
#include "cublas_product.h"

namespace {

using namespace mygemm_tests;

std::vector<float> contents(const DeviceBuffer& buffer) {
  std::vector<float> values(buffer.bytes() / sizeof(float));
  synchronize();
  buffer.download(values.data());
  return values;
}

// ---- triangles ---------------------------------------------------------------------------------

// 2 op(A) op(B)^T + 3 C of 5 x 5 results.
constexpr int kDepth = 33, kLdOfDepth = 34;  // as many products as are taken
struct Triangle {
  cublasFillMode_t uplo = CUBLAS_FILL_MODE_LOWER;
  cublasOperation_t trans = CUBLAS_OP_N;
  bool of_two = false, wide = false;
  int n = kM, k = kDepth, lda = kLdOfDepth;
};

class CublasDropInTriangle : public CublasHandleTest {
 protected:
  cublasStatus_t run(const Triangle& t) {
    const int64_t n = t.n, k = t.k, lda = t.lda, ldb = kLdOfDepth, ldc = kLdc;
    c_ = upload_elements(kLdc * kM);
    const auto call = [&](const char* name, auto function, auto... sizes_and_matrices) {
      as_said_ = fake_cublas::said(name, handle_, t.uplo, t.trans, sizes_and_matrices...);
      return function(handle_, t.uplo, t.trans, sizes_and_matrices...);
    };
    const auto *a = a_.as<const float>(), *b = b_.as<const float>();
    const float *alpha = &alpha_, *beta = &beta_;
    float* c = c_.as<float>();
    if (t.of_two && t.wide) {
      return call("cublasSsyrkx_64", cublasSsyrkx_64, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    if (t.of_two) {
      return call("cublasSsyrkx", cublasSsyrkx, t.n, t.k, alpha, a, t.lda, b, kLdOfDepth, beta, c,
                  kLdc);
    }
    if (t.wide) {
      return call("cublasSsyrk_v2_64", cublasSsyrk_v2_64, n, k, alpha, a, lda, beta, c, ldc);
    }
    return call("cublasSsyrk_v2", cublasSsyrk_v2, t.n, t.k, alpha, a, t.lda, beta, c, kLdc);
  }

  float expected(const Triangle& t, int i, int j) {
    const float old = element(j * kLdc + i);
    const bool inside = t.uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
    if (!inside || i >= kM) return old;
    float sum = 0;
    constexpr int kLd = kLdOfDepth;
    for (int l = 0; l < t.k; ++l) {
      const bool n = t.trans == CUBLAS_OP_N;
      sum += element(n ? i + l * kLd : l + i * kLd) * element(n ? j + l * kLd : l + j * kLd);
    }
    return 2 * sum + 3 * old;
  }

  const float alpha_ = 2, beta_ = 3;
  DeviceBuffer a_ = upload_elements(kLdOfDepth * kDepth), b_ = upload_elements(kLdOfDepth * kDepth),
               c_;
  std::string as_said_;
};

TEST_F(CublasDropInTriangle, TakesEither) {
  for (const bool of_two : {false, true}) {
    for (const bool wide : {false, true}) {
      for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        for (const auto trans : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
          const Triangle t{uplo, trans, of_two, wide};
          EXPECT_EQ(run(t), CUBLAS_STATUS_SUCCESS);
          EXPECT_STREQ(fake_cublas_last_call(), "");
          const std::vector<float> c = contents(c_);
          for (int at = 0; at < kLdc * kM; ++at) {
            EXPECT_EQ(c[static_cast<size_t>(at)], expected(t, at % kLdc, at / kLdc))
                << as_said_ << " at " << at;
          }
        }
      }
    }
  }
}

// And what it computes faster.
TEST_F(CublasDropInTriangle, LeavesBadArgumentsToCublas) {
  for (const bool of_two : {false, true}) {
    for (const bool wide : {false, true}) {
      const Triangle spoilt[] = {{.uplo = CUBLAS_FILL_MODE_FULL},
                                 {.trans = CUBLAS_OP_CONJG},
                                 {.n = -1},
                                 {.n = 0},
                                 {.lda = kM - 1},
                                 {.k = 32}};
      for (Triangle t : spoilt) {
        t.of_two = of_two, t.wide = wide;
        fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
        EXPECT_EQ(run(t), CUBLAS_STATUS_LICENSE_ERROR);
        EXPECT_EQ(fake_cublas_last_call(), as_said_);
        EXPECT_EQ(contents(c_), contents(upload_elements(kLdc * kM)));
      }
    }
  }
}

// cuBLAS crashes on some of them.
TEST_F(CublasDropInTriangle, RefusesNullItself) {
  const float one = 1;
  float* const c = a_.as<float>();
  for (const float* a : {static_cast<const float*>(nullptr), b_.as<const float>()}) {
    EXPECT_EQ(cublasSsyrk_v2(handle_, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, kM, kDepth, &one, a,
                             kLdOfDepth, a ? nullptr : &one, c, kLdc),
              CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_STREQ(fake_cublas_last_call(), "");
  }
}

TEST_F(CublasDropInTriangle, LeavesReducedPrecisionToCublas) {
  ASSERT_EQ(cublasSetMathMode(handle_, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(run({}), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(fake_cublas_last_call(), as_said_);
}

// ---- groups ------------------------------------------------------------------------------------

// Products of all groups lie one behind the other in each operand's memory, dense.
template <class Int>
struct Groups {
  std::vector<cublasOperation_t> transa, transb;
  std::vector<Int> m, n, k, lda, ldb, ldc, sizes;
  std::vector<float> alpha, beta;

  void add(cublasOperation_t ta, cublasOperation_t tb, Int m_, Int n_, Int k_, Int size) {
    transa.push_back(ta), transb.push_back(tb);
    m.push_back(m_), n.push_back(n_), k.push_back(k_), sizes.push_back(size);
    lda.push_back(ta == CUBLAS_OP_N ? m_ : k_);
    ldb.push_back(tb == CUBLAS_OP_N ? k_ : n_);
    ldc.push_back(m_);
    alpha.push_back(static_cast<float>(m.size())), beta.push_back(2);
  }
};

class CublasDropInGroups : public CublasHandleTest {
 protected:
  // The addresses of the matrices of one operand, rows x columns in each group.
  template <class Int>
  static DeviceBuffer pointers(const DeviceBuffer& memory, const std::vector<Int>& rows,
                               const std::vector<Int>& columns, const std::vector<Int>& sizes) {
    std::vector<const float*> all;
    const auto* next = memory.as<const float>();
    for (size_t group = 0; group < sizes.size(); ++group) {
      for (Int i = 0; i < sizes[group]; ++i) {
        all.push_back(next);
        next += rows[group] * columns[group];
      }
    }
    return {all.data(), all.size() * sizeof(float*), 0};
  }

  template <class Int, class Function>
  cublasStatus_t run(const char* name, Function function, const Groups<Int>& g,
                     bool without_a = false) {
    c_ = upload_elements(kElements);
    const DeviceBuffer a = pointers(a_, g.m, g.k, g.sizes), b = pointers(b_, g.k, g.n, g.sizes),
                       c = pointers(c_, g.m, g.n, g.sizes);
    const auto call = [&](auto... arguments) {
      as_said_ = fake_cublas::said(name, arguments...);
      return function(arguments...);
    };
    const cublasStatus_t status =
        call(handle_, g.transa.data(), g.transb.data(), g.m.data(), g.n.data(), g.k.data(),
             g.alpha.data(), without_a ? nullptr : a.as<const float* const>(), g.lda.data(),
             b.as<const float* const>(), g.ldb.data(), g.beta.data(), c.as<float* const>(),
             g.ldc.data(), static_cast<Int>(g.sizes.size()), g.sizes.data());
    synchronize();
    return status;
  }

  template <class Int>
  std::vector<float> expected(const Groups<Int>& g) {
    std::vector<float> values = contents(upload_elements(kElements));
    Int at_a = 0, at_b = 0, at_c = 0;
    for (size_t group = 0; group < g.sizes.size(); ++group) {
      const Int m = g.m[group], n = g.n[group], k = g.k[group];
      for (Int i = 0; i < g.sizes[group]; ++i) {
        for (Int at = 0; at < m * n; ++at) {
          const Int row = at % m, column = at / m;
          float sum = 0;
          for (Int l = 0; l < k; ++l) {
            const bool na = g.transa[group] == CUBLAS_OP_N, nb = g.transb[group] == CUBLAS_OP_N;
            sum += element(static_cast<int>(at_a + (na ? row + l * m : l + row * k))) *
                   element(static_cast<int>(at_b + (nb ? l + column * k : column + l * n)));
          }
          float& c = values[static_cast<size_t>(at_c + at)];
          c = g.alpha[group] * sum + g.beta[group] * c;
        }
        at_a += m * k, at_b += k * n, at_c += m * n;
      }
    }
    return values;
  }

  template <class Int>
  static Groups<Int> three_groups() {
    Groups<Int> g;
    g.add(CUBLAS_OP_N, CUBLAS_OP_T, 5, 3, 4, 2);
    g.add(CUBLAS_OP_T, CUBLAS_OP_N, 1, 7, 6, 3);
    g.add(CUBLAS_OP_C, CUBLAS_OP_C, 8, 2, 3, 1);
    return g;
  }

  template <class Int, class Function, class Change>
  void expect_left(const char* name, Function function, const Change& change) {
    Groups<Int> g = three_groups<Int>();
    change(g);
    fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(run(name, function, g), CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(fake_cublas_last_call(), as_said_);
    EXPECT_EQ(contents(c_), contents(upload_elements(kElements)));
  }

  template <class Int, class Function>
  void test(const char* name, Function function) {
    const Groups<Int> g = three_groups<Int>();
    EXPECT_EQ(run(name, function, g), CUBLAS_STATUS_SUCCESS);
    EXPECT_STREQ(fake_cublas_last_call(), "");
    EXPECT_EQ(contents(c_), expected(g));

    // No group has been computed where a later one is refused.
    expect_left<Int>(name, function, [](auto& x) { x.lda[2] = 2; });
    expect_left<Int>(name, function, [](auto& x) { x.ldc[1] = 0; });
    expect_left<Int>(name, function, [](auto& x) { x.transb[2] = CUBLAS_OP_CONJG; });
    expect_left<Int>(name, function, [](auto& x) { x.sizes[1] = -1; });
    expect_left<Int>(name, function, [](auto& x) { x.add(CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, 1); });
    fake_cublas_answer(CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(run(name, function, g, true), CUBLAS_STATUS_LICENSE_ERROR);
    EXPECT_EQ(fake_cublas_last_call(), as_said_);
  }

  static constexpr int kElements = 256;
  DeviceBuffer a_ = upload_elements(kElements), b_ = upload_elements(kElements), c_;
  std::string as_said_;
};

TEST_F(CublasDropInGroups, TakesFew) {
  test<int>("cublasSgemmGroupedBatched", cublasSgemmGroupedBatched);
  fake_cublas_answer(CUBLAS_STATUS_SUCCESS);
  test<int64_t>("cublasSgemmGroupedBatched_64", cublasSgemmGroupedBatched_64);
}

}  // namespace
