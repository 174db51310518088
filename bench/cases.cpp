// See cases.h.
#include "cases.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "values.h"

namespace bench {
namespace {

void default_to(int64_t* ld, int64_t smallest) { *ld = *ld == 0 ? smallest : *ld; }

std::string text(int64_t value) { return std::to_string(value); }

std::string times(int64_t a, int64_t b) { return text(a) + " x " + text(b); }

}  // namespace

void require_positive(const char* option, int64_t value) {
  if (value < 1) {
    throw std::invalid_argument(std::string(option) + " = " + std::to_string(value) +
                                ": nothing to measure, give at least 1");
  }
}

SgemmCase complete(SgemmCase p) {
  require_positive("-m", p.m);
  require_positive("-n", p.n);
  require_positive("-k", p.k);
  require_positive("--batch", p.batch);
  const bool transa = p.transa != "N", transb = p.transb != "N";
  default_to(&p.lda, transa ? p.k : p.m);
  default_to(&p.ldb, transb ? p.n : p.k);
  default_to(&p.ldc, p.m);
  if (p.btype.empty()) p.btype = p.atype;
  if (p.form.empty()) {
    p.form = p.batch > 1 ? "strided" : "single";
  }
  if (p.form == "single") {
    p.batch = 1;
    p.stride_a = p.stride_b = p.stride_c = 0;
    return p;
  }
  if (p.form == "pointers") {
    p.stride_a = p.stride_b = p.stride_c = std::nullopt;  // a log line has no strides: packed here
  }
  p.stride_a = p.stride_a.value_or(p.lda * (transa ? p.m : p.k));
  p.stride_b = p.stride_b.value_or(p.ldb * (transb ? p.k : p.n));
  p.stride_c = p.stride_c.value_or(p.ldc * p.n);
  return p;
}

GemmCase complete(GemmCase p) {
  static_cast<SgemmCase&>(p) = complete(static_cast<SgemmCase>(p));
  default_to(&p.ldd, p.c_is_d ? p.ldc : p.m);
  if (p.form == "single") {
    p.stride_d = p.stride_bias = 0;
  } else if (p.form == "pointers") {
    p.stride_d = std::nullopt;
  }
  p.stride_d = p.stride_d.value_or(p.ldd * p.n);
  p.stride_bias = p.stride_bias.value_or(p.m);
  if (is_gradient(p)) p.aux = 1;
  default_to(&p.ldaux, has_bits(p) ? (p.m + 31) / 32 * 32 : p.m);
  p.stride_aux = p.form == "single" ? 0 : p.stride_aux.value_or(p.ldaux * p.n);
  p.stride_sums = p.form == "single" ? 0 : p.stride_sums.value_or(p.sums == "b" ? p.n : p.m);
  if (p.c_is_d) {
    p.ldc = p.ldd;
    p.stride_c = p.stride_d;
  }
  return p;
}

SoftmaxCase complete(SoftmaxCase p) {
  require_positive("--rows", p.rows);
  require_positive("--cols", p.cols);
  default_to(&p.ldx, p.cols);
  default_to(&p.lddy, p.cols);
  default_to(&p.ldy, p.cols);
  return p;
}

CrossEntropyCase complete(CrossEntropyCase p) {
  require_positive("--rows", p.rows);
  require_positive("--cols", p.cols);
  default_to(&p.ldx, p.cols);
  default_to(&p.lddx, p.gradient == "in-place" ? p.ldx : p.cols);
  if (p.dxtype.empty()) p.dxtype = p.xtype;
  return p;
}

TransposeCase complete(TransposeCase p) {
  require_positive("--rows", p.rows);
  require_positive("--cols", p.cols);
  require_positive("--batch", p.batch);
  require_positive("--element-size", p.element_size);
  default_to(&p.ldin, p.cols);
  default_to(&p.ldout, p.rows);
  const int64_t in_extent = p.ldin * p.rows, out_extent = p.ldout * p.cols;
  const int64_t both = in_extent > out_extent ? in_extent : out_extent;
  p.stride_in = p.stride_in.value_or(p.in_place ? both : in_extent);
  p.stride_out = p.stride_out.value_or(p.in_place ? both : out_extent);
  return p;
}

namespace {

Fields fields_of_product(const SgemmCase& p) {
  // As in a log line: only the strided form has strides.
  const bool strided = p.form == "strided";
  const auto stride = [&](const std::optional<int64_t>& value) {
    return text(strided ? value.value_or(0) : 0);
  };
  Fields result = {{"--transa", p.transa},
                   {"--transb", p.transb},
                   {"-m", text(p.m)},
                   {"-n", text(p.n)},
                   {"-k", text(p.k)},
                   {"--lda", text(p.lda)},
                   {"--ldb", text(p.ldb)},
                   {"--ldc", text(p.ldc)},
                   {"--batch", text(p.batch)},
                   {"--stride-a", stride(p.stride_a)},
                   {"--stride-b", stride(p.stride_b)},
                   {"--stride-c", stride(p.stride_c)},
                   {"--form", p.form}};
  if (p.data != kUsualData) {
    result.emplace_back("--data", p.data);
  }
  return result;
}

// As a log line ends.
Fields with_invariance(Fields fields, const SgemmCase& p) {
  if (p.invariance != "none") fields.emplace_back("--invariance", p.invariance);
  return fields;
}

}  // namespace

Fields fields(const SgemmCase& p) { return with_invariance(fields_of_product(p), p); }

Fields fields(const GemmCase& p) {
  Fields result = fields_of_product(p);
  const auto before = [&](const char* name) {
    return std::find_if(result.begin(), result.end(),
                        [&](const auto& field) { return field.first == name; });
  };
  result.insert(before("--batch"), {"--ldd", text(p.ldd)});
  const int64_t stride_d = p.form == "strided" ? p.stride_d.value_or(0) : 0;
  result.insert(before("--form"), {"--stride-d", text(stride_d)});
  result.insert(result.end(), {{"--bias", text(p.bias)},
                               {"--stride-bias", text(p.bias ? p.stride_bias.value_or(0) : 0)},
                               {"--activation", p.activation},
                               {"--c-is-d", text(p.c_is_d)},
                               {"--reads-c", text(p.reads_c)}});
  if (p.aux) {
    result.insert(result.end(), {{"--aux", "1"},
                                 {"--ldaux", text(p.ldaux)},
                                 {"--stride-aux", text(p.stride_aux.value_or(0))}});
  }
  if (p.sums != "none") {
    result.insert(result.end(),
                  {{"--sums", p.sums}, {"--stride-sums", text(p.stride_sums.value_or(0))}});
  }
  if (p.fill != "full") result.emplace_back("--fill", p.fill);
  if (!p.fp32_operands()) {
    result.emplace_back("--atype", p.atype);
    if (p.btype != p.atype) result.emplace_back("--btype", p.btype);
    result.emplace_back("--dtype", p.dtype);
  }
  return with_invariance(result, p);
}

Fields fields(const SoftmaxCase& p) {
  Fields result = {{"--mode", p.mode},       {"--direction", p.direction}, {"--rows", text(p.rows)},
                   {"--cols", text(p.cols)}, {"--xtype", p.xtype},         {"--ldx", text(p.ldx)}};
  if (p.backward()) {
    result.insert(result.end(), {{"--dytype", p.dytype}, {"--lddy", text(p.lddy)}});
  }
  result.insert(result.end(), {{"--ytype", p.ytype}, {"--ldy", text(p.ldy)}});
  return result;
}

Fields fields(const CrossEntropyCase& p) {
  const auto real = [](double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return std::string(digits);
  };
  Fields result = {{"--rows", text(p.rows)},
                   {"--cols", text(p.cols)},
                   {"--xtype", p.xtype},
                   {"--ldx", text(p.ldx)},
                   {"--gradient", p.gradient}};
  if (p.has_gradient()) {
    result.insert(result.end(), {{"--dxtype", p.dxtype},
                                 {"--lddx", text(p.lddx)},
                                 {"--dloss", text(p.dloss)},
                                 {"--stride-dloss", text(p.dloss ? p.stride_dloss : 0)},
                                 {"--gradient-scale", real(p.gradient_scale)}});
  }
  result.insert(result.end(), {{"--loss", text(p.loss)},
                               {"--lse", text(p.lse)},
                               {"--target-type", p.target_type},
                               {"--label-smoothing", real(p.label_smoothing)},
                               {"--z-loss", real(p.z_loss)}});
  return result;
}

Fields fields(const TransposeCase& p) {
  return {{"--element-size", text(p.element_size)},
          {"--rows", text(p.rows)},
          {"--cols", text(p.cols)},
          {"--ldin", text(p.ldin)},
          {"--ldout", text(p.ldout)},
          {"--batch", text(p.batch)},
          {"--stride-in", text(p.stride_in.value_or(0))},
          {"--stride-out", text(p.stride_out.value_or(0))},
          {"--in-place", text(p.in_place)}};
}

std::string label(const SgemmCase& p) {
  std::string result = times(p.m, p.n) + " x " + text(p.k) + " " + p.transa + p.transb;
  if (p.form != "single") {
    result += ", " + text(p.batch) + " " + p.form;
  }
  if (p.data != kUsualData) result += ", " + p.data;
  return p.invariance == "none" ? result : result + ", invariant";
}

std::string label(const GemmCase& p) {
  std::string result = label(static_cast<const SgemmCase&>(p));
  result += p.reads_c ? " + C" : "";
  result += p.bias ? " + bias" : "";
  if (p.activation != "none") result += ", " + p.activation;
  result += p.aux && !is_gradient(p) ? " + aux" : "";
  result += p.fill == "full" ? "" : ", " + p.fill + " triangle";
  return p.sums == "none" ? result : result + ", sums of " + p.sums;
}

std::string label(const SoftmaxCase& p) {
  std::string result = times(p.rows, p.cols) + " " + p.xtype;
  result += p.ytype == p.xtype ? "" : "-" + p.ytype;
  result += p.mode == "log" ? " log" : "";
  result += p.backward() ? " backward" : "";
  return result;
}

std::string label(const CrossEntropyCase& p) {
  std::string result = times(p.rows, p.cols) + " " + p.xtype;
  result += !p.has_gradient() || p.dxtype == p.xtype ? "" : "-" + p.dxtype;
  result += p.gradient == "apart" ? "" : p.has_gradient() ? ", in place" : ", loss only";
  result += p.label_smoothing > 0 ? ", smoothing" : "";
  return p.z_loss != 0 ? result + ", z-loss" : result;
}

std::string label(const TransposeCase& p) {
  std::string result = times(p.rows, p.cols) + ", " + text(p.element_size) + " B";
  result += p.batch > 1 ? ", " + text(p.batch) + " strided" : "";
  result += p.in_place ? ", in place" : "";
  return result;
}

double flops(const SgemmCase& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

double bytes(const SgemmCase& p) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double k = static_cast<double>(p.k);
  return 4.0 * (m * k + k * n + m * n) * static_cast<double>(p.batch);
}

double bytes(const SoftmaxCase& p) {
  size_t per_element = type_bytes(data_type(p.xtype)) + type_bytes(data_type(p.ytype));
  per_element += p.backward() ? type_bytes(data_type(p.dytype)) : 0;
  return static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(per_element);
}

double bytes(const CrossEntropyCase& p) {
  size_t per_element = type_bytes(data_type(p.xtype));
  per_element += p.has_gradient() ? type_bytes(data_type(p.dxtype)) : 0;
  return static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(per_element);
}

double bytes(const TransposeCase& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(p.element_size) * static_cast<double>(p.batch);
}

mygemmDataType_t data_type(const std::string& name) {
  return name == "f16" ? MYGEMM_R_16F : name == "bf16" ? MYGEMM_R_16BF : MYGEMM_R_32F;
}

}  // namespace bench
