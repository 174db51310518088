// See lt_product.h.
#include "lt_product.h"

#include <cmath>
#include <cstring>

#include "fake_cublas.h"

namespace mygemm_tests {
namespace {

constexpr int kGap = 3, kMostBatches = 2;
constexpr int64_t kAuxStride = 1024;  // elements

float small(int i) { return static_cast<float>(i % 7 - 3); }

double gelu(double x) {
  const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

// By a difference quotient of FP64.
double gelu_derivative(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

}  // namespace

LtMatrix::LtMatrix(int rows_in, int columns_in, int order_in, int batches_in, cudaDataType type_in,
                   int seed)
    : rows(rows_in), columns(columns_in), order(order_in), batches(batches_in), type(type_in) {
  const bool by_rows = order == CUBLASLT_ORDER_ROW;
  ld = (by_rows ? columns : rows) + kGap;
  stride = ld * (by_rows ? rows : columns) + 5;
  values.resize(static_cast<size_t>(stride) * kMostBatches);
  for (size_t i = 0; i < values.size(); ++i) values[i] = small(static_cast<int>(i) * 3 + seed);
  buffer = upload_as(type, values);
  cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows),
                             static_cast<uint64_t>(columns), ld);
  set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batches);
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
}

LtMatrix::~LtMatrix() {
  if (layout) cublasLtMatrixLayoutDestroy(layout);
}

float LtMatrix::at(int batch, int i, int j) const {
  const bool by_rows = order == CUBLASLT_ORDER_ROW;
  return values[static_cast<size_t>(batch * stride + (by_rows ? i * ld + j : i + j * ld))];
}

LtProduct::LtProduct(const LtShape& s)
    : shape(s),
      a(s.transa ? s.k : s.m, s.transa ? s.m : s.k, s.a_order, s.batches, s.type, 1),
      b(s.transb ? s.n : s.k, s.transb ? s.k : s.n, s.b_order, s.batches, s.type, 2),
      c(s.m, s.n, s.d_order, s.batches, s.d_type, 4),
      d(s.m, s.n, s.d_order, s.batches, s.d_type, 5),
      c_data(c.buffer.data()),
      d_data(d.buffer.data()),
      vector_values_(static_cast<size_t>(kMostBatches) * 64),
      aux_values_(kMostBatches * kAuxStride * sizeof(float)) {
  for (size_t i = 0; i < vector_values_.size(); ++i) {
    vector_values_[i] = small(static_cast<int>(i) * 5 + 1);
  }
  for (size_t i = 0; i < aux_values_.size() / sizeof(float); ++i) {
    const float x = 0.5f * small(static_cast<int>(i));
    std::memcpy(&aux_values_[i * sizeof(float)], &x, sizeof x);
  }
  if (aux_is_bits()) {
    for (size_t i = 0; i < aux_values_.size(); ++i) {
      aux_values_[i] = static_cast<unsigned char>(i * 37 + 11);
    }
  }
  vector = upload_as(s.d_type, vector_values_);
  aux = DeviceBuffer(aux_values_.data(), aux_values_.size(), 0);
  cublasLtMatmulDescCreate(&operation, s.compute, CUDA_R_32F);
  set(CUBLASLT_MATMUL_DESC_TRANSA, s.transa ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, s.transb ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, s.epilogue);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector.data());
  set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, int64_t{64});
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.data());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{aux_is_bits() ? kLdBits : kLdFloats});
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, kAuxStride);
}

LtProduct::~LtProduct() { cublasLtMatmulDescDestroy(operation); }

cublasStatus_t LtProduct::run(cublasLtHandle_t handle) {
  const auto said_and_done = [&](auto... arguments) {
    as_said = fake_cublas::said("cublasLtMatmul", arguments...);
    return cublasLtMatmul(arguments...);
  };
  const cublasLtMatmulAlgo_t* const no_algorithm = nullptr;
  const cudaStream_t stream = nullptr;
  const void *a_data = a.buffer.data(), *b_data = b.buffer.data();
  return said_and_done(handle, operation, alpha, a_data, a.layout, b_data, b.layout, beta, c_data,
                       c.layout, d_data, d.layout, no_algorithm, workspace, workspace_bytes,
                       stream);
}

bool LtProduct::reads_aux() const { return has(8 | 64); }
bool LtProduct::aux_is_bits() const { return has(2 | 8); }

float LtProduct::before_activation(int batch, int i, int j) const {
  float sum = 0;
  for (int l = 0; l < shape.k; ++l) {
    sum += (shape.transa ? a.at(batch, l, i) : a.at(batch, i, l)) *
           (shape.transb ? b.at(batch, j, l) : b.at(batch, l, j));
  }
  const float t = 2 * sum + (host_beta == 0 ? 0 : host_beta * c.at(batch, i, j));
  return has(4) ? t + vector_values_[static_cast<size_t>(batch * 64 + i)] : t;
}

float LtProduct::activated(float t, int batch, int i, int j) const {
  const int64_t number = batch * kAuxStride + i + j * (aux_is_bits() ? kLdBits : kLdFloats);
  if (has(2)) return t > 0 ? t : 0;
  if (has(32)) return static_cast<float>(gelu(t));
  if (has(8)) return aux_values_[static_cast<size_t>(number / 8)] >> number % 8 & 1 ? t : 0;
  if (!has(64)) return t;
  float x;
  std::memcpy(&x, &aux_values_[static_cast<size_t>(number) * sizeof x], sizeof x);
  return static_cast<float>(t * gelu_derivative(x));
}

::testing::AssertionResult LtProduct::is_right() const {
  std::vector<float> got = download_as(d.type, d.buffer);
  for (int batch = 0; batch < shape.batches; ++batch) {
    for (int j = 0; j < shape.n; ++j) {
      for (int i = 0; i < shape.m; ++i) {
        const float expected = activated(before_activation(batch, i, j), batch, i, j);
        const bool by_rows = d.order == CUBLASLT_ORDER_ROW;
        float& element =
            got[static_cast<size_t>(batch * d.stride + (by_rows ? i * d.ld + j : i + j * d.ld))];
        const float unit = d.type == CUDA_R_16BF ? 4e-3f : d.type == CUDA_R_16F ? 5e-4f : 1e-5f;
        const float tolerance = has(32 | 64) ? unit * std::fabs(expected) + 1e-4f : 0;
        if (!(std::fabs(element - expected) <= tolerance)) {
          return ::testing::AssertionFailure() << "D(" << i << ", " << j << ") of matrix " << batch
                                               << " is " << element << " instead of " << expected;
        }
        element = d.at(batch, i, j);
      }
    }
  }
  if (got != d.values || !d.buffer.bands_intact()) {
    return ::testing::AssertionFailure() << "written between the columns of D";
  }
  if (has(128)) {
    if (const auto result = aux_is_right(); !result) return result;
  }
  return has(16 | 256 | 512) ? sums_are_right() : ::testing::AssertionSuccess();
}

::testing::AssertionResult LtProduct::aux_is_right() const {
  std::vector<unsigned char> expected = aux_values_, got(aux_values_.size());
  aux.download(got.data());
  for (int batch = 0; batch < shape.batches && !reads_aux(); ++batch) {
    for (int j = 0; j < shape.n; ++j) {
      for (int i = 0; i < shape.m; ++i) {
        const float t = before_activation(batch, i, j);
        const int64_t number = batch * kAuxStride + i + j * (aux_is_bits() ? kLdBits : kLdFloats);
        if (!aux_is_bits()) {
          std::memcpy(&expected[static_cast<size_t>(number) * sizeof t], &t, sizeof t);
          continue;
        }
        unsigned char& byte = expected[static_cast<size_t>(number / 8)];
        if (i % 8 == 0) byte = 0;
        byte = static_cast<unsigned char>(byte | (!(t < 0) << number % 8));
      }
    }
  }
  return got == expected ? ::testing::AssertionSuccess()
                         : ::testing::AssertionFailure() << "aux is wrong";
}

::testing::AssertionResult LtProduct::sums_are_right() const {
  std::vector<float> got = download_as(shape.d_type, vector);
  const int lines = has(512) ? shape.n : shape.m;
  for (int batch = 0; batch < shape.batches; ++batch) {
    for (int line = 0; line < lines; ++line) {
      double sum = 0, size = 1;
      for (int l = 0; l < (has(16) ? shape.n : shape.k); ++l) {
        const float x = has(16)    ? activated(before_activation(batch, line, l), batch, line, l)
                        : has(256) ? (shape.transa ? a.at(batch, l, line) : a.at(batch, line, l))
                                   : (shape.transb ? b.at(batch, line, l) : b.at(batch, l, line));
        sum += static_cast<double>(x);
        size += std::fabs(static_cast<double>(x));
      }
      float& element = got[static_cast<size_t>(batch * 64 + line)];
      if (!(std::fabs(static_cast<double>(element) - sum) <= 1e-5 * size)) {
        return ::testing::AssertionFailure()
               << "sum " << line << " is " << element << " instead of " << sum;
      }
      element = vector_values_[static_cast<size_t>(batch * 64 + line)];
    }
  }
  return got == vector_values_ ? ::testing::AssertionSuccess()
                               : ::testing::AssertionFailure() << "written beside the sums";
}

::testing::AssertionResult LtProduct::is_untouched() const {
  const std::vector<float> got_d = download_as(d.type, d.buffer),
                           got_vector = download_as(shape.d_type, vector);
  std::vector<unsigned char> got_aux(aux_values_.size());
  aux.download(got_aux.data());
  return got_d == d.values && got_vector == vector_values_ && got_aux == aux_values_
             ? ::testing::AssertionSuccess()
             : ::testing::AssertionFailure() << "something was written";
}

}  // namespace mygemm_tests
