// Ops tests: see softmax_masked_case.h.
#include "softmax_masked_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "support/random.h"
#include "typed_matrix.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The rows of a case, and the distances of a mask or of lengths from one to the next.
struct Layout {
  int64_t group_rows, groups, batches;

  explicit Layout(const MaskedSoftmaxCase& test) {
    const int64_t rows = test.softmax.rows;
    group_rows = test.group_rows > 0 ? test.group_rows : rows;
    const int64_t all = (rows + group_rows - 1) / group_rows;
    groups = test.batch_groups > 0 ? test.batch_groups : all;
    batches = (all + groups - 1) / groups;
  }
  int64_t row(int64_t r) const { return r % group_rows; }
  int64_t group(int64_t r) const { return r / group_rows % groups; }
  int64_t batch(int64_t r) const { return r / group_rows / groups; }
};

// The mask and the lengths of a case.
struct Masking {
  Layout layout;
  std::vector<int64_t> valid;  // columns of each row
  std::vector<double> mask;    // of each element
  TypedMatrix mask_buffer;
  int64_t mask_first = 0;  // element of the buffer that is the mask's first
  int64_t stride_batch = 0, stride_group = 0, stride_row = 0;
  std::vector<int64_t> lengths;
  DeviceBuffer length_buffer;
  int64_t length_batch = 0, length_group = 0, length_row = 0;

  bool masks(int64_t r, int64_t c, int64_t cols) const {
    return c >= valid[static_cast<size_t>(r)] ||
           mask[static_cast<size_t>(r * cols + c)] == -kInfinity;
  }
};

// The elements of a mask in their order: a vector, with poison where no element is.
struct MaskShape {
  int64_t cols, row, group, batch, total;

  MaskShape(const MaskedSoftmaxCase& test, const Layout& at) {
    const int64_t distance = std::abs(test.mask_col);
    cols = std::max<int64_t>(1, (test.softmax.cols - 1) * distance + 1) + test.mask_padding;
    int64_t next = cols;
    row = test.by_row ? next : 0;
    if (test.by_row) next *= at.group_rows;
    group = test.by_group ? next : 0;
    if (test.by_group) next *= at.groups;
    batch = test.by_batch ? next : 0;
    if (test.by_batch) next *= at.batches;
    total = next - test.mask_padding;
  }
};

Masking make_masking(const MaskedSoftmaxCase& test, Random* random) {
  const Layout at(test);
  const MaskShape shape(test, at);
  const int64_t rows = test.softmax.rows, cols = test.softmax.cols;
  Masking m{at,
            std::vector<int64_t>(static_cast<size_t>(rows), cols),
            std::vector<double>(static_cast<size_t>(rows * cols), 0.0),
            TypedMatrix(test.mask_type, 1, shape.total, shape.total, test.mask_offset),
            test.mask_col < 0 ? (cols - 1) * -test.mask_col : 0,
            shape.batch,
            shape.group,
            shape.row,
            {},
            {}};
  if (test.mask) {
    // The end of the last row's padding has no elements; the others may be read by another row.
    for (int64_t i = 0; i < shape.total; ++i) {
      const bool element = i % shape.cols % std::abs(test.mask_col) == 0 &&
                           i % shape.cols < shape.cols - test.mask_padding;
      if (!element) continue;
      const double value = random->real(-3, 3);
      m.mask_buffer.set(0, i, random->real(0, 1) < test.masked_share ? -kInfinity : value);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t first = m.mask_first + at.batch(r) * shape.batch + at.group(r) * shape.group +
                            at.row(r) * shape.row;
      for (int64_t c = 0; c < cols; ++c) {
        m.mask[static_cast<size_t>(r * cols + c)] =
            m.mask_buffer.values[static_cast<size_t>(first + c * test.mask_col)];
      }
    }
  }
  m.mask_buffer.upload();
  if (test.causal) {
    for (int64_t r = 0; r < rows; ++r) {
      int64_t& valid = m.valid[static_cast<size_t>(r)];
      valid = std::clamp<int64_t>(at.row(r) + test.causal_offset + 1, 0, valid);
    }
  }
  if (test.lengths) {
    m.length_row = test.length_of_row ? 1 : 0;
    m.length_group = test.length_of_group ? (test.length_of_row ? at.group_rows : 1) : 0;
    m.length_batch =
        std::max<int64_t>(1, m.length_row * at.group_rows) * (test.length_of_group ? at.groups : 1);
    m.lengths.resize(static_cast<size_t>(m.length_batch * at.batches));
    const int64_t ends[] = {0, cols, cols + 7, -3, 1};
    for (size_t i = 0; i < m.lengths.size(); ++i) {
      m.lengths[i] = i % 3 == 2 ? ends[i / 3 % 5] : random->integer(0, cols);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t length = m.lengths[static_cast<size_t>(
          at.batch(r) * m.length_batch + at.group(r) * m.length_group + at.row(r) * m.length_row)];
      int64_t& valid = m.valid[static_cast<size_t>(r)];
      valid = std::clamp<int64_t>(length, 0, valid);
    }
    const std::vector<int32_t> narrow(m.lengths.begin(), m.lengths.end());
    m.length_buffer = test.lengths_type == MYGEMM_INDEX_32I
                          ? DeviceBuffer(narrow.data(), narrow.size() * sizeof(int32_t), 0)
                          : DeviceBuffer(m.lengths.data(), m.lengths.size() * sizeof(int64_t), 0);
  }
  return m;
}

MaskedScores scores_of(const MaskedSoftmaxCase& test, const Masking& m) {
  return {test.softmax.mode, test.softmax.rows, test.softmax.cols, test.softmax.scale,
          test.softcap,      test.zeros,        m.valid,           m.mask};
}

struct Array : TypedMatrix {
  Array(const SoftmaxCase& softmax, mygemmDataType_t type_in, size_t more_offset = 0)
      : TypedMatrix(type_in, softmax.rows, softmax.cols, softmax.cols + softmax.padding,
                    softmax.offset + more_offset) {}

  void check(mygemmDataType_t result_type, const Reference& reference) {
    std::vector<unsigned char> result(image.size());
    buffer.download(result.data());
    EXPECT_TRUE(compare(result_type, result.data(), rows, cols, ld, reference));
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(at(result, r, 0), at(image, r, 0), static_cast<size_t>(cols * type_bytes(type)));
    }
    EXPECT_TRUE(result == image) << "written between the rows of the output";
    EXPECT_TRUE(buffer.bands_intact()) << "written outside the output";
  }
};

}  // namespace

std::string MaskedSoftmaxCase::text() const {
  std::ostringstream text;
  text << softmax.text() << " group_rows=" << group_rows << " batch_groups=" << batch_groups
       << " softcap=" << softcap << " x=" << type_name(x) << " over_x=" << over_x
       << " mask=" << mask << "," << type_name(mask_type) << " by=" << by_batch << by_group
       << by_row << " col=" << mask_col << " mask_padding=" << mask_padding
       << " mask_offset=" << mask_offset << " share=" << masked_share << " causal=" << causal << ","
       << causal_offset << " lengths=" << lengths << "," << static_cast<int>(lengths_type)
       << " of_row=" << length_of_row << " of_group=" << length_of_group << " zeros=" << zeros;
  return text.str();
}

void run_masked_softmax(mygemmHandle_t handle, const MaskedSoftmaxCase& test, RowTally* tally) {
  SCOPED_TRACE(test.text());
  const SoftmaxCase& softmax = test.softmax;
  Random random(softmax.seed);
  Masking m = make_masking(test, &random);
  const bool reads_x = !softmax.backward || test.softcap != 0;
  Array x(softmax, softmax.backward ? test.x : softmax.in);
  Array y(softmax, softmax.backward ? softmax.in : softmax.out,
          softmax.backward ? 0 : softmax.out_offset);
  Array dy(softmax, softmax.dy);
  Array separate_dx(softmax, softmax.out, softmax.out_offset);
  for (int64_t r = 0; r < softmax.rows; ++r) {
    for (int64_t c = 0; c < softmax.cols; ++c) {
      x.set(r, c, m.masks(r, c, softmax.cols) ? kNaN : random.real(-6, 6));
    }
  }
  for (size_t c = 0; c < softmax.first_row.size(); ++c) {
    x.set(0, static_cast<int64_t>(c), softmax.first_row[c]);
  }
  const MaskedScores scores = scores_of(test, m);
  const Reference forward = masked_softmax_reference(scores, x.values);
  if (softmax.backward) {
    for (int64_t r = 0; r < softmax.rows; ++r) {
      for (int64_t c = 0; c < softmax.cols; ++c) {
        // From the row's end on, no more than the rest of a pack may be read.
        const bool beyond = c >= m.valid[static_cast<size_t>(r)];
        y.set(r, c, beyond ? kNaN : forward.value[static_cast<size_t>(r * softmax.cols + c)]);
        dy.set(r, c, m.masks(r, c, softmax.cols) ? kNaN : random.real(-1, 1));
      }
    }
  }
  for (Array* array : {&x, &y, &dy, &separate_dx}) array->upload();
  Array& out = !softmax.backward                     ? (softmax.in_place == InPlace::kFirst ? x : y)
               : test.over_x                         ? x
               : softmax.in_place == InPlace::kFirst ? y
               : softmax.in_place == InPlace::kSecond ? dy
                                                      : separate_dx;

  mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
  call.mode = softmax.mode;
  call.backward = softmax.backward ? 1 : 0;
  call.rows = softmax.rows;
  call.cols = softmax.cols;
  call.group_rows = test.group_rows;
  call.batch_groups = test.batch_groups;
  call.scale = softmax.scale;
  call.softcap = test.softcap;
  call.x = reads_x ? x.buffer.data() : nullptr;
  call.xtype = x.type;
  call.ldx = x.ld;
  call.y = softmax.backward ? y.buffer.data() : out.buffer.data();
  call.ytype = softmax.backward ? softmax.in : softmax.out;
  call.ldy = y.ld;
  if (softmax.backward) {
    call.dy = dy.buffer.data();
    call.dytype = softmax.dy;
    call.lddy = dy.ld;
    call.dx = out.buffer.data();
    call.dxtype = softmax.out;
    call.lddx = out.ld;
  }
  call.empty_rows = test.zeros ? MYGEMM_EMPTY_ROW_ZERO : MYGEMM_EMPTY_ROW_NAN;
  call.causal = test.causal ? 1 : 0;
  call.causal_offset = test.causal_offset;
  if (test.mask) {
    call.mask = m.mask_buffer.buffer.as<char>() + m.mask_first * type_bytes(test.mask_type);
    call.mask_type = test.mask_type;
    call.mask_stride_batch = m.stride_batch;
    call.mask_stride_group = m.stride_group;
    call.mask_stride_row = m.stride_row;
    call.mask_stride_col = test.mask_col;
  }
  if (test.lengths) {
    call.lengths = m.length_buffer.data();
    call.lengths_type = test.lengths_type;
    call.lengths_stride_batch = m.length_batch;
    call.lengths_stride_group = m.length_group;
    call.lengths_stride_row = m.length_row;
  }
  const mygemmStatus_t status = mygemm_softmax_ex(handle, &call);
  synchronize();
  if (tally != nullptr) {
    const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_softmax_ex(handle, nullptr, &call, text, capacity, length);
    });
    if (!tally->ran(status, rows)) {
      EXPECT_TRUE(out.unchanged()) << "the output was written by a call that was refused";
      return;
    }
  }
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();

  const Reference reference =
      softmax.backward ? masked_softmax_backward_reference(scores, x.values, y.values, dy.values)
                       : forward;
  out.check(softmax.out, reference);
  for (Array* array : {&x, &y, &dy}) {
    EXPECT_TRUE(array == &out || array->unchanged()) << "an input was written";
  }
  EXPECT_TRUE(m.mask_buffer.unchanged()) << "the mask was written";
  EXPECT_TRUE(!test.lengths || m.length_buffer.bands_intact()) << "written around the lengths";
}

}  // namespace mygemm_tests
