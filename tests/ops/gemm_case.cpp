// Ops tests: see gemm_case.h.
#include "gemm_case.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

// A batch of column-major matrices in one buffer that ends with the last element of the last one.
struct Operand {
  int64_t rows, cols, ld;
  int64_t given_ld;          // in calls
  int64_t matrices;          // in the buffer: 1 where all are the same
  int step;                  // -1: matrix 0 is the last one in memory
  std::vector<float> image;  // what the buffer held before the call
  DeviceBuffer buffer;

  Operand(int64_t rows_in, int64_t cols_in, const GemmCase& gemm, int step_in)
      : rows(rows_in),
        cols(cols_in),
        ld(std::max<int64_t>(1, rows_in + gemm.padding)),
        given_ld(cols <= 1 && gemm.vector_ld > 0 ? gemm.vector_ld : ld),
        matrices(step_in == 0 ? 1 : gemm.batch),
        step(step_in) {
    const int64_t last = cols == 0 ? 0 : (cols - 1) * ld + rows;
    const size_t floats = static_cast<size_t>((matrices - 1) * distance() + last);
    image.resize(floats);
    if (floats > 0) std::memset(image.data(), kPoison, floats * sizeof(float));
    buffer = DeviceBuffer(floats * sizeof(float), gemm.offset);
  }

  int64_t distance() const { return ld * cols + 3; }  // odd, so that alignments vary
  int64_t stride() const { return step * distance(); }
  int64_t first() const { return step < 0 ? (matrices - 1) * distance() : 0; }
  int64_t start(int64_t i) const { return first() + i * stride(); }

  template <class F>
  void fill(F next) {
    for (int64_t i = 0; i < matrices; ++i) {
      for (int64_t col = 0; col < cols; ++col) {
        float* column = &image[static_cast<size_t>(i * distance() + col * ld)];
        std::generate(column, column + rows, next);
      }
    }
  }
  void upload() { buffer.upload(image.data()); }
  float* base() const { return buffer.as<float>() + first(); }

  std::vector<float*> pointers(int64_t batch) const {
    std::vector<float*> list;
    for (int64_t i = 0; i < batch; ++i) list.push_back(buffer.as<float>() + start(i));
    return list;
  }
};

DeviceBuffer on_device(const std::vector<float*>& pointers) {
  return DeviceBuffer(pointers.data(), pointers.size() * sizeof(float*), 0);
}

mygemmStatus_t call(mygemmHandle_t handle, const GemmCase& gemm, const Operand& a, const Operand& b,
                    const Operand& c) {
  const DeviceBuffer scalars_buffer = [&] {
    const float both[2] = {gemm.alpha, gemm.beta};
    return DeviceBuffer(both, sizeof both, 4);
  }();
  const bool on_host = gemm.pointer_mode == MYGEMM_POINTER_MODE_HOST;
  const float* alpha = on_host ? &gemm.alpha : scalars_buffer.as<float>();
  const float* beta = on_host ? &gemm.beta : scalars_buffer.as<float>() + 1;
  EXPECT_EQ(mygemm_set_pointer_mode(handle, gemm.pointer_mode), MYGEMM_STATUS_SUCCESS);

  const auto operation = [&] {
    const float* a_base = gemm.null_inputs ? nullptr : a.base();
    const float* b_base = gemm.null_inputs ? nullptr : b.base();
    if (gemm.form == Form::kSingle) {
      return mygemm_sgemm(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k, alpha, a_base,
                          a.given_ld, b_base, b.given_ld, beta, c.base(), c.given_ld);
    }
    return mygemm_sgemm_strided_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k,
                                        alpha, a_base, a.given_ld, a.stride(), b_base, b.given_ld,
                                        b.stride(), beta, c.base(), c.given_ld, c.stride(),
                                        gemm.batch);
  };
  if (gemm.form != Form::kPointers) {
    const mygemmStatus_t status = operation();
    synchronize();
    return status;
  }
  const DeviceBuffer a_list = on_device(a.pointers(gemm.batch));
  const DeviceBuffer b_list = on_device(b.pointers(gemm.batch));
  const DeviceBuffer c_list = on_device(c.pointers(gemm.batch));
  const mygemmStatus_t status =
      mygemm_sgemm_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k, alpha,
                           gemm.null_inputs ? nullptr : a_list.as<const float* const>(), a.given_ld,
                           gemm.null_inputs ? nullptr : b_list.as<const float* const>(), b.given_ld,
                           beta, c_list.as<float* const>(), c.given_ld, gemm.batch);
  synchronize();
  return status;
}

std::map<std::string, std::string> explain(mygemmHandle_t handle, const GemmCase& gemm,
                                           const Operand& a, const Operand& b, const Operand& c) {
  return explained_rows([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_sgemm(handle, nullptr, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k,
                                a.base(), a.given_ld, a.stride(), b.base(), b.given_ld, b.stride(),
                                c.base(), c.given_ld, c.stride(), gemm.batch, text, capacity,
                                length);
  });
}

bool unchanged(const Operand& operand) {
  std::vector<float> now(operand.image.size());
  operand.buffer.download(now.data());
  const bool same =
      now.empty() || std::memcmp(now.data(), operand.image.data(), now.size() * sizeof(float)) == 0;
  return same && operand.buffer.bands_intact();
}

void check(const GemmCase& gemm, const Operand& a, const Operand& b, const Operand& c,
           double least_bound) {
  std::vector<float> result(c.image.size());
  c.buffer.download(result.data());
  for (int64_t i = 0; i < gemm.batch; ++i) {
    float* matrix = &result[static_cast<size_t>(c.start(i))];
    const Reference reference =
        gemm_reference({gemm.transa != MYGEMM_OP_N, gemm.transb != MYGEMM_OP_N, gemm.m, gemm.n,
                        gemm.null_inputs ? 0 : gemm.k, gemm.alpha, a.image.data() + a.start(i),
                        a.ld, b.image.data() + b.start(i), b.ld, gemm.beta,
                        c.image.data() + c.start(i), c.ld, least_bound});
    Comparison comparison;
    int64_t wrong_bits = 0;
    for (int64_t col = 0; col < gemm.n; ++col) {
      for (int64_t row = 0; row < gemm.m; ++row) {
        const size_t at = static_cast<size_t>(row + col * gemm.m);
        float& element = matrix[row + col * c.ld];
        const float before = c.image[static_cast<size_t>(c.start(i) + row + col * c.ld)];
        if (gemm.scales_only()) {
          const float scaled = gemm.beta == 0 ? 0.0f : gemm.beta * before;
          wrong_bits += std::memcmp(&element, &scaled, sizeof scaled) != 0;
        } else {
          comparison.add(row, col, element, reference.value[at],
                         gemm.integers ? 0 : reference.tolerance[at]);
        }
        element = before;  // the rest must be unchanged
      }
    }
    EXPECT_EQ(wrong_bits, 0) << "elements of C that are not beta * C";
    EXPECT_TRUE(comparison.result()) << "C" << (gemm.batch > 1 ? " of matrix " : "")
                                     << (gemm.batch > 1 ? std::to_string(i) : "");
  }
  EXPECT_EQ(std::memcmp(result.data(), c.image.data(), result.size() * sizeof(float)), 0)
      << "written between the columns of C";
  EXPECT_TRUE(c.buffer.bands_intact()) << "written outside C";
  EXPECT_TRUE(unchanged(a)) << "A was written";
  EXPECT_TRUE(unchanged(b)) << "B was written";
}

}  // namespace

std::string GemmCase::text() const {
  constexpr char kLetters[] = "NTC";
  constexpr const char* kForms[] = {"single", "strided", "pointers"};
  std::ostringstream out;
  out << kLetters[transa] << kLetters[transb] << " m=" << m << " n=" << n << " k=" << k
      << " alpha=" << alpha << " beta=" << beta << " padding=" << padding
      << " vector_ld=" << vector_ld << " offset=" << offset
      << (pointer_mode == MYGEMM_POINTER_MODE_DEVICE ? " device scalars" : "")
      << " form=" << kForms[static_cast<int>(form)] << " batch=" << batch << " steps=" << a_step
      << "," << b_step << "," << c_step << (integers ? " integers" : "") << " seed=" << seed;
  return out.str();
}

void run_gemm(mygemmHandle_t handle, const GemmCase& gemm, RowTally* tally) {
  SCOPED_TRACE(gemm.text());
  const bool a_transposed = gemm.transa != MYGEMM_OP_N;
  const bool b_transposed = gemm.transb != MYGEMM_OP_N;
  Operand a(a_transposed ? gemm.k : gemm.m, a_transposed ? gemm.m : gemm.k, gemm, gemm.a_step);
  Operand b(b_transposed ? gemm.n : gemm.k, b_transposed ? gemm.k : gemm.n, gemm, gemm.b_step);
  Operand c(gemm.m, gemm.n, gemm, gemm.c_step);
  Random random(gemm.seed);
  const auto next = [&] {
    return gemm.integers ? static_cast<float>(random.integer(-8, 8))
                         : static_cast<float>(random.real(-1, 1));
  };
  if (!gemm.poisoned_inputs) {
    a.fill(next);
    b.fill(next);
  }
  if (!gemm.poisoned_c) c.fill(next);
  if (!gemm.poisoned_c && gemm.scales_only()) {
    for (size_t at = 0; at < c.image.size(); at += 3) c.image[at] *= at % 2 == 0 ? -0.0f : 1e-42f;
  }
  for (Operand* operand : {&a, &b, &c}) operand->upload();

  const mygemmStatus_t status = call(handle, gemm, a, b, c);
  // Explain calls have no alpha and beta: with nothing to multiply a kernel may refuse a problem
  // that it can run by the explanation, and where C stays unchanged the call succeeds without a
  // plan.
  const bool unexplained =
      gemm.scales_only() && (status == MYGEMM_STATUS_NOT_SUPPORTED || gemm.beta == 1);
  const bool ran = tally == nullptr || unexplained
                       ? status == MYGEMM_STATUS_SUCCESS
                       : tally->ran(status, explain(handle, gemm, a, b, c));
  if (!ran) {
    EXPECT_TRUE(tally != nullptr && status == MYGEMM_STATUS_NOT_SUPPORTED) << mygemm_last_error();
    EXPECT_TRUE(unchanged(c)) << "C was written by a call that was refused";
    return;
  }
  const bool on_tensor_cores = tally != nullptr && runs_on_tensor_cores(tally->row());
  check(gemm, a, b, c, on_tensor_cores ? kTensorBound : 0);
}

}  // namespace mygemm_tests
