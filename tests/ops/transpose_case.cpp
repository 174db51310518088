// Ops tests: see transpose_case.h.
#include "transpose_case.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

using Bytes = std::vector<unsigned char>;

// Where the elements of a call lie, in elements from the start of the buffer.
struct Layout {
  int64_t ldin, ldout;
  int64_t given_ldin, given_ldout;  // in calls
  int64_t in_stride, out_stride;
  int64_t in_first, out_first;    // matrix 0: the last one in memory where the step is -1
  int64_t in_extent, out_extent;  // of the buffers

  explicit Layout(const TransposeCase& t)
      : ldin(std::max<int64_t>(1, t.cols + t.in_padding)),
        ldout(std::max<int64_t>(1, t.rows + t.out_padding)),
        given_ldin(t.rows == 1 && t.vector_ld > 0 ? t.vector_ld : ldin),
        given_ldout(t.cols == 1 && t.vector_ld > 0 ? t.vector_ld : ldout) {
    const int64_t in_matrix = (t.rows - 1) * ldin + t.cols;
    const int64_t out_matrix = (t.cols - 1) * ldout + t.rows;
    int64_t in_distance = in_matrix + t.gap;
    int64_t out_distance = out_matrix + t.gap;
    if (t.in_place) in_distance = out_distance = std::max(in_distance, out_distance);
    const int out_step = t.in_place ? t.step : 1;
    in_stride = t.step * in_distance;
    out_stride = out_step * out_distance;
    const int64_t in_matrices = t.step == 0 ? 1 : t.batch;
    in_first = t.step < 0 ? (t.batch - 1) * in_distance : 0;
    out_first = out_step < 0 ? (t.batch - 1) * out_distance : 0;
    in_extent = (in_matrices - 1) * in_distance + in_matrix;
    out_extent = (t.batch - 1) * out_distance + out_matrix;
    if (t.in_place) in_extent = out_extent = std::max(in_extent, out_extent);
  }
  int64_t in_at(int64_t i, int64_t r, int64_t c) const {
    return in_first + i * in_stride + r * ldin + c;
  }
  int64_t out_at(int64_t i, int64_t c, int64_t r) const {
    return out_first + i * out_stride + c * ldout + r;
  }
};

// Calls f(i, r, c) for every element of the batch.
template <class F>
void for_each_element(const TransposeCase& t, F f) {
  for (int64_t i = 0; i < t.batch; ++i) {
    for (int64_t r = 0; r < t.rows; ++r) {
      for (int64_t c = 0; c < t.cols; ++c) f(i, r, c);
    }
  }
}

// Random bytes as elements (NaNs of every payload and -0 among them), poison elsewhere.
Bytes make_input(const TransposeCase& t, const Layout& layout) {
  Bytes image(static_cast<size_t>(layout.in_extent * t.element_size), kPoison);
  Random random(t.seed);
  for_each_element(t, [&](int64_t i, int64_t r, int64_t c) {
    unsigned char* element = &image[static_cast<size_t>(layout.in_at(i, r, c) * t.element_size)];
    std::generate(element, element + t.element_size,
                  [&] { return static_cast<unsigned char>(random.bits()); });
  });
  return image;
}

// The expected output buffer, given its content before. In place, bytes of in's layout that are not
// in out's may hold anything afterwards: `open` is true there.
Bytes expected_output(const TransposeCase& t, const Layout& layout, const Bytes& input,
                      const Bytes& before, std::vector<bool>* open) {
  const size_t size = static_cast<size_t>(t.element_size);
  Bytes expected = before;
  open->assign(before.size(), false);
  const auto mark = [&](int64_t element, bool value) {
    std::fill_n(open->begin() + element * t.element_size, size, value);
  };
  if (t.in_place) {
    for_each_element(t,
                     [&](int64_t i, int64_t r, int64_t c) { mark(layout.in_at(i, r, c), true); });
  }
  for_each_element(t, [&](int64_t i, int64_t r, int64_t c) {
    const int64_t to = layout.out_at(i, c, r);
    std::memcpy(&expected[static_cast<size_t>(to) * size],
                &input[static_cast<size_t>(layout.in_at(i, r, c)) * size], size);
    mark(to, false);
  });
  return expected;
}

mygemmStatus_t call(mygemmHandle_t handle, const TransposeCase& t, const Layout& layout,
                    const unsigned char* in, unsigned char* out) {
  const size_t size = static_cast<size_t>(t.element_size);
  if (t.batch == 1) {
    return mygemm_transpose(handle, size, t.rows, t.cols, in, layout.given_ldin, out,
                            layout.given_ldout);
  }
  return mygemm_transpose_strided_batched(handle, size, t.rows, t.cols, in, layout.given_ldin,
                                          layout.in_stride, out, layout.given_ldout,
                                          layout.out_stride, t.batch);
}

}  // namespace

std::string TransposeCase::text() const {
  std::ostringstream text;
  text << "element_size=" << element_size << " rows=" << rows << " cols=" << cols
       << " padding=" << in_padding << "," << out_padding << " vector_ld=" << vector_ld
       << " offset=" << offset << (in_place ? " in place" : "") << " batch=" << batch
       << " step=" << step << " gap=" << gap << " seed=" << seed;
  return text.str();
}

void run_transpose(mygemmHandle_t handle, const TransposeCase& t, RowTally* tally) {
  SCOPED_TRACE(t.text());
  const Layout layout(t);
  const Bytes input = make_input(t, layout);
  const DeviceBuffer in(input.data(), input.size(), t.offset);
  DeviceBuffer separate_out;
  Bytes before = input;
  if (!t.in_place) {
    before.assign(static_cast<size_t>(layout.out_extent * t.element_size), kPoison);
    separate_out = DeviceBuffer(before.size(), t.offset);
  }
  const DeviceBuffer& out = t.in_place ? in : separate_out;
  const unsigned char* in_base = in.as<unsigned char>() + layout.in_first * t.element_size;
  unsigned char* out_base = out.as<unsigned char>() + layout.out_first * t.element_size;

  const mygemmStatus_t status = call(handle, t, layout, in_base, out_base);
  synchronize();
  Bytes result(before.size());
  out.download(result.data());
  if (tally != nullptr) {
    const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_transpose(handle, nullptr, static_cast<size_t>(t.element_size), t.rows,
                                      t.cols, in_base, layout.given_ldin, layout.in_stride,
                                      out_base, layout.given_ldout, layout.out_stride, t.batch,
                                      text, capacity, length);
    });
    if (!tally->ran(status, rows)) {
      EXPECT_TRUE(result == before) << "out was written by a call that was refused";
      return;
    }
  }
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();

  std::vector<bool> open;
  const Bytes expected = expected_output(t, layout, input, before, &open);
  for (size_t byte = 0; byte < expected.size(); ++byte) {
    if (result[byte] == expected[byte] || open[byte]) continue;
    const int64_t element = static_cast<int64_t>(byte) / t.element_size - layout.out_first;
    ADD_FAILURE() << "byte " << byte << " of out (row " << element / layout.ldout << ", column "
                  << element % layout.ldout << ") is " << int{result[byte]} << ", expected "
                  << int{expected[byte]};
    break;
  }
  EXPECT_TRUE(out.bands_intact()) << "written outside out";
  if (t.in_place) return;
  Bytes input_now(input.size());
  in.download(input_now.data());
  EXPECT_TRUE(input_now == input && in.bands_intact()) << "in was written";
}

}  // namespace mygemm_tests
