// Ops tests: see softmax_case.h.
#include "softmax_case.h"

#include <cmath>
#include <cstring>
#include <sstream>

#include "support/random.h"
#include "typed_matrix.h"

namespace mygemm_tests {
namespace {

struct Matrix : TypedMatrix {
  int64_t given_ld;  // in calls

  Matrix(const SoftmaxCase& softmax, mygemmDataType_t type_in, size_t more_offset = 0)
      : TypedMatrix(type_in, softmax.rows, softmax.cols, softmax.cols + softmax.padding,
                    softmax.offset + more_offset),
        given_ld(rows <= 1 && softmax.vector_ld > 0 ? softmax.vector_ld : ld) {}
};

void fill_forward(const SoftmaxCase& softmax, Matrix* x) {
  Random random(softmax.seed);
  for (int64_t r = 0; r < x->rows; ++r) {
    for (int64_t c = 0; c < x->cols; ++c) x->set(r, c, random.real(-6, 6));
  }
  for (size_t c = 0; c < softmax.first_row.size(); ++c) {
    x->set(0, static_cast<int64_t>(c), softmax.first_row[c]);
  }
}

// y as from a forward pass, and a random gradient.
void fill_backward(const SoftmaxCase& softmax, Matrix* y, Matrix* dy) {
  Random random(softmax.seed);
  std::vector<double> x(y->values.size());
  for (double& value : x) value = random.real(-3, 3);
  const Reference forward = softmax_reference(softmax.mode, softmax.rows, softmax.cols, 1.0, x);
  for (int64_t r = 0; r < y->rows; ++r) {
    for (int64_t c = 0; c < y->cols; ++c) {
      y->set(r, c, forward.value[static_cast<size_t>(r * y->cols + c)]);
      dy->set(r, c, random.real(-1, 1));
    }
  }
}

mygemmStatus_t call(mygemmHandle_t handle, const SoftmaxCase& softmax, const Matrix& in,
                    const Matrix& dy, const Matrix& out) {
  if (!softmax.backward) {
    return mygemm_softmax(handle, softmax.mode, softmax.rows, softmax.cols, softmax.scale,
                          in.buffer.data(), softmax.in, in.given_ld, out.buffer.data(), softmax.out,
                          out.given_ld);
  }
  return mygemm_softmax_backward(handle, softmax.mode, softmax.rows, softmax.cols, softmax.scale,
                                 in.buffer.data(), softmax.in, in.given_ld, dy.buffer.data(),
                                 softmax.dy, dy.given_ld, out.buffer.data(), softmax.out,
                                 out.given_ld);
}

std::map<std::string, std::string> explain(mygemmHandle_t handle, const SoftmaxCase& softmax,
                                           const Matrix& in, const Matrix& dy, const Matrix& out) {
  return explained_rows([&](char* text, size_t capacity, size_t* length) {
    if (!softmax.backward) {
      return mygemm_explain_softmax(handle, nullptr, softmax.mode, softmax.rows, softmax.cols,
                                    in.buffer.data(), softmax.in, in.given_ld, out.buffer.data(),
                                    softmax.out, out.given_ld, text, capacity, length);
    }
    return mygemm_explain_softmax_backward(
        handle, nullptr, softmax.mode, softmax.rows, softmax.cols, in.buffer.data(), softmax.in,
        in.given_ld, dy.buffer.data(), softmax.dy, dy.given_ld, out.buffer.data(), softmax.out,
        out.given_ld, text, capacity, length);
  });
}

// The result against `reference`; then, with its elements put back, all other bytes of the buffer.
void check_output(const SoftmaxCase& softmax, Matrix& out, const Reference& reference) {
  std::vector<unsigned char> result(out.image.size());
  out.buffer.download(result.data());
  EXPECT_TRUE(compare(softmax.out, result.data(), out.rows, out.cols, out.ld, reference));
  for (int64_t r = 0; r < out.rows; ++r) {
    std::memcpy(out.at(result, r, 0), out.at(out.image, r, 0),
                static_cast<size_t>(out.cols * type_bytes(out.type)));
  }
  EXPECT_TRUE(result == out.image) << "written between the rows of the output";
  EXPECT_TRUE(out.buffer.bands_intact()) << "written outside the output";
}

}  // namespace

std::string SoftmaxCase::text() const {
  std::ostringstream text;
  text << (mode == MYGEMM_LOG_SOFTMAX ? "log " : "") << (backward ? "backward" : "forward")
       << " rows=" << rows << " cols=" << cols << " scale=" << scale << " types=" << type_name(in)
       << "," << (backward ? std::string(type_name(dy)) + "," : "") << type_name(out)
       << " padding=" << padding << " vector_ld=" << vector_ld << " offset=" << offset << ","
       << out_offset << " in_place=" << static_cast<int>(in_place) << " seed=" << seed;
  return text.str();
}

void run_softmax(mygemmHandle_t handle, const SoftmaxCase& softmax, RowTally* tally) {
  SCOPED_TRACE(softmax.text());
  Matrix in(softmax, softmax.in);
  Matrix dy(softmax, softmax.dy);
  Matrix separate_out(softmax, softmax.out, softmax.out_offset);
  if (softmax.backward) {
    fill_backward(softmax, &in, &dy);
  } else {
    fill_forward(softmax, &in);
  }
  for (Matrix* matrix : {&in, &dy, &separate_out}) matrix->upload();
  Matrix& out = softmax.in_place == InPlace::kFirst    ? in
                : softmax.in_place == InPlace::kSecond ? dy
                                                       : separate_out;
  const mygemmStatus_t status = call(handle, softmax, in, dy, out);
  synchronize();
  if (tally != nullptr && !tally->ran(status, explain(handle, softmax, in, dy, out))) {
    EXPECT_TRUE(out.unchanged()) << "the output was written by a call that was refused";
    return;
  }
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();

  const Reference reference =
      softmax.backward
          ? softmax_backward_reference(softmax.mode, softmax.rows, softmax.cols, softmax.scale,
                                       in.values, dy.values)
          : softmax_reference(softmax.mode, softmax.rows, softmax.cols, softmax.scale, in.values);
  check_output(softmax, out, reference);
  EXPECT_TRUE(&out == &in || in.unchanged()) << "the input was written";
  EXPECT_TRUE(&out == &dy || dy.unchanged()) << "dy was written";
}

}  // namespace mygemm_tests
