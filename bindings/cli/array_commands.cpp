// mygemm sgemm, softmax and transpose: .npy files in, a .npy file out. Arrays of either order go
// to the library without a copy; NumPy's order is expressed by op and leading dimensions. A file
// named "-" is standard input or standard output.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "command_line.h"
#include "commands.h"
#include "error.h"
#include "input_file.h"
#include "npy_file.h"
#include "run_call.h"

namespace mygemm::cli {
namespace {

using npy::Array;
using npy::kFloat16;
using npy::kFloat32;

int64_t leading_dimension(int64_t extent) { return std::max<int64_t>(1, extent); }

void require_float(const Array& array) {
  if (array.type == kFloat32 || array.type == kFloat16) return;
  throw Error(array.path, ": holds ", array.type.descr(),
              "; only float32 (<f4) and float16 (<f2) can be computed with");
}

void require_matrix(const Array& array) {
  if (array.shape.size() == 2) return;
  throw Error(array.path, ": has the shape ", npy::to_string(array.shape),
              "; a matrix has two dimensions");
}

float from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zeros and subnormals are multiples of 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t rebiased = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | rebiased << 23 | fraction << 13);
}

// Reads an operand of a product: a matrix, widened to float32.
Array load_matrix(const std::string& path) {
  Array array = npy::load(path);
  require_matrix(array);
  require_float(array);
  if (array.type == kFloat16) {
    const auto halves = std::as_const(array.data).as<uint16_t>();
    Bytes floats(npy::byte_count(array.shape, kFloat32));
    std::transform(halves.begin(), halves.end(), floats.as<float>().begin(), from_half);
    array.data = std::move(floats);
    array.type = kFloat32;
  }
  return array;
}

// ---- sgemm --------------------------------------------------------------------------------------

// One factor of a product of NumPy arrays that is computed transposed, C' = op(B)' op(A)', so that
// the column-major result is C in C order.
struct Factor {
  Array array;
  bool transpose;  // op(array) is array'

  int64_t rows() const { return array.shape[transpose ? 1 : 0]; }
  int64_t cols() const { return array.shape[transpose ? 0 : 1]; }
  // To column-major sgemm an array of C order is its transpose already, as the transposed product
  // needs it.
  mygemmOperation_t operation() const {
    return array.fortran_order != transpose ? MYGEMM_OP_T : MYGEMM_OP_N;
  }
  int64_t ld() const { return leading_dimension(array.shape[array.fortran_order ? 0 : 1]); }
};

struct SgemmOptions {
  Settings settings;
  std::string a, b, c0, out;
  mygemmOperation_t transa = MYGEMM_OP_N, transb = MYGEMM_OP_N;
  float alpha = 1;
  std::optional<float> beta;
};

std::string in_words(const Factor& factor) {
  return concat(factor.array.path, factor.transpose ? " transposed (stored as " : " (",
                npy::to_string(factor.array.shape), ")");
}

// C0 as a C-order matrix in the backend's memory; uninitialised where there is none.
Buffer initial_c(const Session& session, const std::string& path, const npy::Shape& shape) {
  if (path.empty()) return Buffer(session.memory(), npy::byte_count(shape, kFloat32));
  Array c0 = load_matrix(path);
  if (c0.shape != shape) {
    throw Error(c0.path, ": has the shape ", npy::to_string(c0.shape),
                ", and the product has the shape ", npy::to_string(shape));
  }
  Buffer stored(session.memory(), std::move(c0.data));
  if (!c0.fortran_order) return stored;
  return transposed(session, sizeof(float), shape[1], shape[0], stored);
}

void run_sgemm(const SgemmOptions& options) {
  const auto streams = [&](const std::string& path) { return path == kStandardStream ? 1 : 0; };
  if (streams(options.a) + streams(options.b) + streams(options.c0) > 1) {
    throw Error("standard input (-) is named for two matrices, and can be read once");
  }
  if (options.beta && *options.beta != 0 && options.c0.empty()) {
    throw Error("--beta ", *options.beta, " needs a matrix to multiply: give it with --c");
  }
  const float beta = options.beta.value_or(options.c0.empty() ? 0.0f : 1.0f);
  Factor a{load_matrix(options.a), options.transa != MYGEMM_OP_N};
  Factor b{load_matrix(options.b), options.transb != MYGEMM_OP_N};
  if (a.cols() != b.rows()) {
    throw Error("the shapes do not fit: ", in_words(a), " has ", a.cols(), " columns, and ",
                in_words(b), " has ", b.rows(), " rows");
  }
  const int64_t m = a.rows(), n = b.cols(), k = a.cols();
  const Session session(options.settings);
  Buffer c = initial_c(session, options.c0, {m, n});
  const Buffer a_data(session.memory(), std::move(a.array.data));
  const Buffer b_data(session.memory(), std::move(b.array.data));
  const auto* a_floats = static_cast<const float*>(a_data.data());
  const auto* b_floats = static_cast<const float*>(b_data.data());
  auto* c_floats = static_cast<float*>(c.data());
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  run_call(
      session, options.settings.verbose, {"sgemm", flops, true},
      [&] {
        return mygemm_sgemm(session.handle(), b.operation(), a.operation(), n, m, k, &options.alpha,
                            b_floats, b.ld(), a_floats, a.ld(), &beta, c_floats,
                            leading_dimension(n));
      },
      [&](char* text, size_t capacity, size_t* length) {
        return mygemm_explain_sgemm(session.handle(), nullptr, b.operation(), a.operation(), n, m,
                                    k, b_floats, b.ld(), 0, a_floats, a.ld(), 0, c_floats,
                                    leading_dimension(n), 0, 1, text, capacity, length);
      });
  npy::save({options.out, kFloat32, false, {m, n}, c.take()});
}

// ---- softmax ------------------------------------------------------------------------------------

struct SoftmaxOptions {
  Settings settings;
  std::string x, out;
  mygemmSoftmaxMode_t mode = MYGEMM_SOFTMAX;
  float scale = 1;
  std::optional<npy::ElementType> type;
};

mygemmDataType_t data_type(npy::ElementType type) {
  return type == kFloat32 ? MYGEMM_R_32F : MYGEMM_R_16F;
}

void run_softmax(const SoftmaxOptions& options) {
  Array x = npy::load(options.x);
  require_float(x);
  if (x.shape.empty()) throw Error(x.path, ": is a scalar; softmax needs an axis");
  const npy::ElementType out_type = options.type.value_or(x.type);
  const int64_t cols = x.shape.back();
  npy::Shape leading = x.shape;
  leading.pop_back();
  const int64_t rows = npy::element_count(leading, x.type);

  // In Fortran order the last axis is the slowest: the file is a row-major cols x rows matrix,
  // softmax wants rows x cols, and the result is written in the order that came in.
  const bool turn = x.fortran_order && x.shape.size() > 1;
  const Session session(options.settings);
  Buffer in(session.memory(), std::move(x.data));
  if (turn) in = transposed(session, static_cast<size_t>(x.type.bytes), cols, rows, in);
  Buffer out(session.memory(), npy::byte_count(x.shape, out_type));
  const int64_t ld = leading_dimension(cols);
  run_call(
      session, options.settings.verbose,
      {"softmax", static_cast<double>(in.size() + out.size()), false},
      [&] {
        return mygemm_softmax(session.handle(), options.mode, rows, cols, options.scale, in.data(),
                              data_type(x.type), ld, out.data(), data_type(out_type), ld);
      },
      [&](char* text, size_t capacity, size_t* length) {
        return mygemm_explain_softmax(session.handle(), nullptr, options.mode, rows, cols,
                                      in.data(), data_type(x.type), ld, out.data(),
                                      data_type(out_type), ld, text, capacity, length);
      });
  if (turn) out = transposed(session, static_cast<size_t>(out_type.bytes), rows, cols, out);
  npy::save({options.out, out_type, turn, std::move(x.shape), out.take()});
}

// ---- transpose ----------------------------------------------------------------------------------

struct TransposeOptions {
  Settings settings;
  std::string x, out;
};

void run_transpose(const TransposeOptions& options) {
  Array x = npy::load(options.x);
  require_matrix(x);
  const int64_t rows = x.shape[0], cols = x.shape[1];
  if (!x.fortran_order) {
    const Session session(options.settings);
    const Buffer in(session.memory(), std::move(x.data));
    x.data = transposed(session, static_cast<size_t>(x.type.bytes), rows, cols, in,
                        options.settings.verbose)
                 .take();
  }  // In Fortran order the file holds the transpose in C order already.
  npy::save({options.out, x.type, false, {cols, rows}, std::move(x.data)});
}

}  // namespace

void add_sgemm(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sgemm",
      "C = alpha op(A) op(B) + beta C0 of matrices in .npy files: float32, or float16 "
      "widened to float32, in C or Fortran order. C is float32 in C order.");
  const auto options = std::make_shared<SgemmOptions>();
  command->add_option("A", options->a, "the left matrix")->required()->type_name("A.npy");
  command->add_option("B", options->b, "the right matrix")->required()->type_name("B.npy");
  command->add_option("-o,--output", options->out, "the result")->required()->type_name("C.npy");
  add_choice(command, "--transa", &options->transa, kOperations, "op(A): N is A, T its transpose");
  add_choice(command, "--transb", &options->transb, kOperations, "op(B), likewise");
  command->add_option("--alpha", options->alpha, "factor of the product (default 1)");
  command->add_option("--beta", options->beta, "factor of C0 (default 1 with --c, else 0)");
  command->add_option("--c", options->c0, "matrix to add")->type_name("C0.npy");
  add_settings(command, &options->settings, Family::kGemm);
  add_verbose(command, &options->settings);
  command->callback([options] { run_sgemm(*options); });
}

void add_softmax(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "softmax",
      "Softmax along the last axis of a float32 or float16 array of any dimension, in "
      "C or Fortran order, which the result keeps. Computed in float32.");
  const auto options = std::make_shared<SoftmaxOptions>();
  command->add_option("X", options->x, "the array")->required()->type_name("X.npy");
  command->add_option("-o,--output", options->out, "the result")->required()->type_name("Y.npy");
  command->add_flag_callback(
      "--log", [options] { options->mode = MYGEMM_LOG_SOFTMAX; }, "the logarithm of the softmax");
  command->add_option("--scale", options->scale, "factor of X (default 1)");
  add_choice<npy::ElementType>(command, "--dtype", &options->type,
                               {{"float32", kFloat32}, {"float16", kFloat16}},
                               "type of the result (default: that of X)");
  add_settings(command, &options->settings, Family::kSoftmax);
  add_verbose(command, &options->settings);
  command->callback([options] { run_softmax(*options); });
}

void add_transpose(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "transpose",
      "The transpose of a matrix of numbers of 1, 2, 4, 8 or 16 bytes, moved bit by "
      "bit. The result is in C order.");
  const auto options = std::make_shared<TransposeOptions>();
  command->add_option("X", options->x, "the matrix")->required()->type_name("X.npy");
  command->add_option("-o,--output", options->out, "the result")->required()->type_name("Y.npy");
  add_settings(command, &options->settings, Family::kTranspose);
  add_verbose(command, &options->settings);
  command->callback([options] { run_transpose(*options); });
}

}  // namespace mygemm::cli
