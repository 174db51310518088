// Ops tests: see grouped_case.h.
#include "grouped_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "support/memory.h"
#include "support/oracle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

// The matrices that an operand has for each product, in one buffer.
struct GroupedOperand {
  mygemmDataType_t type;
  std::vector<int64_t> begin, ld, rows, columns;  // of each product; elements
  int64_t stride = 0;
  std::vector<unsigned char> image;
  DeviceBuffer buffer;

  int64_t size() const { return type_bytes(type); }
  size_t place(size_t i, int64_t row, int64_t column) const {
    return static_cast<size_t>(size() * (begin[i] + row + column * ld[i]));
  }
  double value(size_t i, int64_t row, int64_t column) const {
    return decode(type, image.data() + place(i, row, column));
  }
  void add(int64_t at, int64_t own_rows, int64_t own_columns, int64_t own_ld) {
    begin.push_back(at);
    rows.push_back(own_rows), columns.push_back(own_columns), ld.push_back(own_ld);
  }
  // Poison, but for the elements of products.
  void make(int64_t elements, size_t offset, bool filled, int nan_product, Random* random) {
    image.assign(static_cast<size_t>(elements * size()), kPoison);
    for (size_t i = 0; filled && i < begin.size(); ++i) {
      if (static_cast<int>(i) == nan_product) continue;  // poison is NaN
      for (int64_t column = 0; column < columns[i]; ++column) {
        for (int64_t row = 0; row < rows[i]; ++row) {
          encode(type, random->real(-1, 1), image.data() + place(i, row, column));
        }
      }
    }
    buffer = DeviceBuffer(image.size(), offset * static_cast<size_t>(size()) / 2);
    buffer.upload(image.data());
  }
  std::vector<unsigned char> now() const {
    std::vector<unsigned char> contents(image.size());
    buffer.download(contents.data());
    return contents;
  }
  DeviceBuffer pointers() const {
    std::vector<void*> list;
    for (size_t i = 0; i < begin.size(); ++i) {
      list.push_back(buffer.as<unsigned char>() + place(i, 0, 0));
    }
    return DeviceBuffer(list.data(), list.size() * sizeof(void*), 0);
  }
};

// The size that the rows, or the columns, of an operand have.
enum class Extent { kM, kN, kK };

int64_t extent_of(const GroupSize& size, Extent extent) {
  return extent == Extent::kM ? size.m : extent == Extent::kN ? size.n : size.k;
}

// An array of indices as the call has it.
struct Indices {
  std::vector<unsigned char> bytes;
  DeviceBuffer buffer;
  bool on_device = false;

  Indices() = default;
  Indices(const std::vector<int64_t>& values, bool wide, bool on_device_) : on_device(on_device_) {
    const size_t size = wide ? 8 : 4;
    bytes.resize(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto narrow = static_cast<int32_t>(values[i]);
      std::memcpy(bytes.data() + i * size,
                  wide ? static_cast<const void*>(&values[i]) : static_cast<const void*>(&narrow),
                  size);
    }
    buffer = DeviceBuffer(bytes.data(), bytes.size(), 0);
  }
  const void* data() const {
    return bytes.empty() ? nullptr : on_device ? buffer.data() : bytes.data();
  }
};

class GroupedCall {
 public:
  explicit GroupedCall(const GroupedCase& grouped) : of_(grouped), random_(grouped.seed) {
    for (const GroupSize& size : of_.sizes) {
      most_ = {std::max(most_.m, size.m), std::max(most_.n, size.n), std::max(most_.k, size.k)};
    }
    const bool ta = of_.transa != MYGEMM_OP_N, tb = of_.transb != MYGEMM_OP_N;
    a_.type = of_.in, b_.type = of_.mixed ? MYGEMM_R_16BF : of_.in;
    c_.type = d_.type = bias_.type = of_.out;
    place(&a_, ta ? Extent::kK : Extent::kM, ta ? Extent::kM : Extent::kK, true);
    place(&b_, tb ? Extent::kN : Extent::kK, tb ? Extent::kK : Extent::kN, true);
    place(&c_, Extent::kM, Extent::kN, of_.beta != 0);
    place(&d_, Extent::kM, Extent::kN, of_.beta != 0 && !of_.own_c);
    for (size_t i = 0; i < of_.sizes.size(); ++i) {
      bias_.add(static_cast<int64_t>(i) * (most_.m + 3), of_.sizes[i].m, 1, most_.m);
    }
    bias_.make(static_cast<int64_t>(of_.sizes.size()) * (most_.m + 3), of_.offset, true,
               of_.nan_product, &random_);
    make_arrays();
    const float both[2] = {of_.alpha, of_.beta};
    scalars_ = DeviceBuffer(both, sizeof both, 4);
    host_scalars_[0] = of_.alpha, host_scalars_[1] = of_.beta;
  }

  mygemmGemm_t descriptor() {
    mygemmGemm_t call = MYGEMM_GEMM_INIT;
    call.transa = of_.transa, call.transb = of_.transb;
    call.m = most_.m, call.n = most_.n, call.k = most_.k;
    call.batch_count = static_cast<int64_t>(of_.sizes.size());
    call.atype = a_.type, call.btype = b_.type;
    call.ctype = call.dtype = of_.out;
    call.activation = of_.activation;
    call.invariance = of_.invariance;
    call.math = of_.math;
    const bool device = of_.pointer_mode == MYGEMM_POINTER_MODE_DEVICE;
    const float* scalars = device ? scalars_.as<float>() : host_scalars_;
    call.alpha = scalars, call.beta = scalars + 1;
    call.lda = a_.ld[0], call.ldb = b_.ld[0], call.ldc = c_.ld[0], call.ldd = d_.ld[0];
    if (of_.bias) call.bias = bias_.buffer.data(), call.stride_bias = most_.m + 3;
    if (of_.form == GroupForm::kPointers) {
      const GroupedOperand* operands[] = {&a_, &b_, &c_, &d_};
      for (int i = 0; i < 4; ++i) lists_[i] = operands[i]->pointers();
      call.A_array = lists_[0].as<void*>(), call.B_array = lists_[1].as<void*>();
      call.D_array = lists_[3].as<void*>();
      if (of_.own_c) call.C_array = lists_[2].as<void*>();
      return call;
    }
    call.A = a_.buffer.data(), call.B = b_.buffer.data(), call.D = d_.buffer.data();
    if (of_.own_c) call.C = c_.buffer.data();
    call.stride_a = a_.stride, call.stride_b = b_.stride;
    call.stride_c = c_.stride, call.stride_d = d_.stride;
    return call;
  }

  mygemmGroups_t groups() const {
    mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
    groups.m = sizes_[0].data(), groups.n = sizes_[1].data(), groups.k = sizes_[2].data();
    groups.lda = lds_[0].data(), groups.ldb = lds_[1].data();
    groups.ldc = of_.own_c ? lds_[2].data() : lds_[3].data(), groups.ldd = lds_[3].data();
    groups.index_type = of_.wide_index ? MYGEMM_INDEX_64I : MYGEMM_INDEX_32I;
    groups.location = of_.on_device ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
    groups.stacked = of_.stacked();
    groups.ends = of_.ends;
    groups.total = total_;
    return groups;
  }

  void check() const {
    std::vector<unsigned char> results = d_.now();
    int wrong = 0;
    for (size_t i = 0; i < of_.sizes.size(); ++i) {
      for (int64_t column = 0; column < of_.sizes[i].n; ++column) {
        for (int64_t row = 0; row < of_.sizes[i].m; ++row) {
          unsigned char* const at = results.data() + d_.place(i, row, column);
          const double got = decode(of_.out, at);
          if (!matches(i, row, column, got) && ++wrong <= 3) {
            ADD_FAILURE() << "D(" << row << ", " << column << ") of product " << i << " is " << got;
          }
          std::memcpy(at, d_.image.data() + d_.place(i, row, column),
                      static_cast<size_t>(d_.size()));  // the rest must be unchanged
        }
      }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(results == d_.image) << "written outside the products";
    for (const GroupedOperand* x : {&a_, &b_, &c_, &d_, &bias_}) {
      EXPECT_TRUE(x->buffer.bands_intact()) << "written outside an operand";
      EXPECT_TRUE(x == &d_ || x->now() == x->image) << "an operand was written";
    }
  }

 private:
  bool stacks(Extent extent) const {
    return (of_.form == GroupForm::kStackedM && extent == Extent::kM) ||
           (of_.form == GroupForm::kStackedN && extent == Extent::kN) ||
           (of_.form == GroupForm::kStackedK && extent == Extent::kK);
  }

  void place(GroupedOperand* x, Extent rows, Extent columns, bool filled) {
    int64_t end = 0, before = 0;
    const bool by_rows = stacks(rows), by_columns = stacks(columns);
    int64_t sum = of_.room;
    for (const GroupSize& size : of_.sizes) sum += extent_of(size, by_rows ? rows : columns);
    if (by_rows || by_columns) total_ = sum;
    const int64_t common =
        std::max<int64_t>(1, by_rows ? sum : extent_of(most_, rows)) + of_.padding;
    x->stride = by_rows || by_columns ? 0 : common * extent_of(most_, columns) + 8;
    for (size_t i = 0; i < of_.sizes.size(); ++i) {
      const int64_t own_rows = extent_of(of_.sizes[i], rows);
      const int64_t own_columns = extent_of(of_.sizes[i], columns);
      const bool pointers = of_.form == GroupForm::kPointers;
      const int64_t ld =
          pointers ? std::max<int64_t>(1, own_rows) + static_cast<int64_t>(i % 3) : common;
      const int64_t begin = by_rows      ? before
                            : by_columns ? before * ld
                            : pointers   ? end + 5
                                         : static_cast<int64_t>(i) * x->stride;
      x->add(begin, own_rows, own_columns, ld);
      before += by_rows ? own_rows : by_columns ? own_columns : 0;
      end = std::max(end, begin + (own_columns == 0 ? 0 : (own_columns - 1) * ld + own_rows));
    }
    // All that the call may look at, whether it belongs to a product or not.
    const int64_t all_rows = by_rows ? sum : extent_of(most_, rows);
    const int64_t all_columns = by_columns ? sum : extent_of(most_, columns);
    if (of_.form != GroupForm::kPointers && all_columns > 0) {
      end = std::max(end, x->begin.back() * (by_rows || by_columns ? 0 : 1) +
                              (all_columns - 1) * common + all_rows);
    }
    x->make(std::max<int64_t>(1, end), of_.offset, filled, of_.nan_product, &random_);
  }

  void make_arrays() {
    const Extent extents[] = {Extent::kM, Extent::kN, Extent::kK};
    for (int e = 0; e < 3; ++e) {
      if (of_.stacked() && !stacks(extents[e])) continue;
      std::vector<int64_t> values;
      int64_t sum = 0;
      for (const GroupSize& size : of_.sizes) {
        const int64_t own = extent_of(size, extents[e]);
        sum += own;
        values.push_back(of_.ends ? sum : own);
      }
      if (of_.beyond != 0 && !of_.ends) values.back() += of_.beyond;
      sizes_[e] = Indices(values, of_.wide_index, of_.on_device);
    }
    if (of_.form != GroupForm::kPointers) return;
    const GroupedOperand* operands[] = {&a_, &b_, &c_, &d_};
    for (int i = 0; i < 4; ++i) lds_[i] = Indices(operands[i]->ld, of_.wide_index, of_.on_device);
  }

  bool matches(size_t i, int64_t row, int64_t column, double got) const {
    const bool ta = of_.transa != MYGEMM_OP_N, tb = of_.transb != MYGEMM_OP_N;
    const int64_t k = of_.sizes[i].k;
    if (static_cast<int>(i) == of_.nan_product) return std::isnan(got);
    double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < k && of_.alpha != 0; ++l) {
      const double term = (ta ? a_.value(i, l, row) : a_.value(i, row, l)) *
                          (tb ? b_.value(i, column, l) : b_.value(i, l, column));
      sum += term;
      magnitude += std::fabs(term);
    }
    double t = of_.alpha * sum, added = 0;
    if (of_.beta != 0) added = of_.beta * (of_.own_c ? c_ : d_).value(i, row, column);
    t += added;
    added = std::fabs(added);
    if (of_.bias) t += bias_.value(i, row, 0), added += std::fabs(bias_.value(i, row, 0));
    // The tensor cores truncate.
    const double truncated = of_.in == MYGEMM_R_32F ? 0 : 2 * 0x1p-24;
    const double error = std::max(sum_bound(k), truncated * (static_cast<double>(k) + 4));
    const double scale = std::fabs(of_.alpha) * magnitude;
    const double tolerance = error * scale + 4 * 0x1p-24 * (added + scale) + 0x1p-140;
    if (of_.activation == MYGEMM_ACTIVATION_RELU) t = std::max(t, 0.0);
    unsigned char element[4];
    encode(of_.out, t - tolerance, element);
    const double least = decode(of_.out, element);
    encode(of_.out, t + tolerance, element);
    return least <= got && got <= decode(of_.out, element);
  }

  const GroupedCase& of_;
  Random random_;
  GroupSize most_ = {};
  int64_t total_ = 0;
  GroupedOperand a_, b_, c_, d_, bias_;
  Indices sizes_[3], lds_[4];
  DeviceBuffer scalars_, lists_[4];
  float host_scalars_[2];
};

}  // namespace

std::string GroupedCase::text() const {
  std::ostringstream text;
  text << type_name(in) << " -> " << type_name(out) << ", " << (transa ? 'T' : 'N')
       << (transb ? 'T' : 'N') << ", form " << static_cast<int>(form) << ", padding " << padding
       << ", offset " << offset << ", alpha " << alpha << ", beta " << beta << ", sizes";
  for (size_t i = 0; i < sizes.size() && i < 8; ++i) {
    text << ' ' << sizes[i].m << 'x' << sizes[i].n << 'x' << sizes[i].k;
  }
  text << (sizes.size() > 8 ? " ..." : "") << (on_device ? ", on the device" : ", on the host")
       << (ends ? ", ends" : "") << ", seed " << seed;
  return text.str();
}

void run_grouped(mygemmHandle_t handle, const GroupedCase& grouped, RowTally* tally) {
  SCOPED_TRACE(grouped.text());
  GroupedCall operands(grouped);
  const mygemmGemm_t call = operands.descriptor();
  const mygemmGroups_t groups = operands.groups();
  mygemm_set_pointer_mode(handle, grouped.pointer_mode);
  const mygemmStatus_t status = mygemm_gemm_grouped(handle, &call, &groups);
  if (tally) {
    const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_gemm_grouped(handle, nullptr, &call, &groups, text, capacity, length);
    });
    if (!tally->ran(status, rows)) return;
  } else {
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  }
  synchronize();
  operands.check();
}

}  // namespace mygemm_tests
