// See suites.h. Published figures exist for most of these shapes; at the odd ones libraries lose
// much of their speed.
#include "suites.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

constexpr double kMostHostFlops = 2.0 * 2048 * 2048 * 2048;
constexpr double kMostHostBytes = 256e6;

// A size between `least` and `most`, every magnitude equally likely.
int64_t log_uniform(std::mt19937_64* random, int64_t least, int64_t most) {
  std::uniform_real_distribution<double> exponent(std::log2(static_cast<double>(least)),
                                                  std::log2(static_cast<double>(most) + 1));
  return std::clamp(static_cast<int64_t>(std::exp2(exponent(*random))), least, most);
}

template <class T>
T one_of(std::mt19937_64* random, std::initializer_list<T> choices) {
  return choices.begin()[std::uniform_int_distribution<size_t>(0, choices.size() - 1)(*random)];
}

template <class Case>
std::vector<Case> completed(std::vector<Case> cases) {
  std::transform(cases.begin(), cases.end(), cases.begin(),
                 [](const Case& c) { return complete(c); });
  return cases;
}

[[noreturn]] void unknown(const std::string& name) {
  throw std::invalid_argument("no suite is called '" + name + "'");
}

SgemmCase product(int64_t m, int64_t n, int64_t k, std::string transa = "N",
                  std::string transb = "N") {
  SgemmCase result;
  result.m = m;
  result.n = n;
  result.k = k;
  result.transa = std::move(transa);
  result.transb = std::move(transb);
  return result;
}

SgemmCase batch(SgemmCase of_one, int64_t count, const char* form) {
  of_one.batch = count;
  of_one.form = form;
  return of_one;
}

SgemmCase batch(int64_t size, int64_t count, const char* form) {
  return batch(product(size, size, size), count, form);
}

// Sizes and leading dimensions are multiples of `unit`.
std::vector<SgemmCase> random_products(const SuiteOptions& options, int64_t unit) {
  std::mt19937_64 random(options.seed);
  std::vector<SgemmCase> cases;
  while (cases.size() < static_cast<size_t>(options.count)) {
    const int64_t most = options.host ? 2048 : 16384;
    const auto extent = [&] { return (log_uniform(&random, 1, most) + unit - 1) / unit * unit; };
    SgemmCase c = product(extent(), extent(), extent(), one_of<const char*>(&random, {"N", "T"}),
                          one_of<const char*>(&random, {"N", "T"}));
    const auto padding = [&] { return one_of<int64_t>(&random, {0, 0, unit == 1 ? 3 : unit, 16}); };
    // Half of the matrices lie within larger ones, aligned or not.
    c.lda = (c.transa == "N" ? c.m : c.k) + padding();
    c.ldb = (c.transb == "N" ? c.k : c.n) + padding();
    c.ldc = c.m + padding();
    cases.push_back(c);
  }
  return cases;
}

SoftmaxCase softmax(int64_t rows, int64_t cols, const char* type = "f32",
                    const char* mode = "softmax", const char* direction = "forward") {
  SoftmaxCase result;
  result.rows = rows;
  result.cols = cols;
  result.xtype = result.dytype = result.ytype = type;
  result.mode = mode;
  result.direction = direction;
  return result;
}

TransposeCase transpose(int64_t rows, int64_t cols, int64_t element_size = 4, int64_t count = 1,
                        int64_t in_place = 0) {
  TransposeCase result;
  result.rows = rows;
  result.cols = cols;
  result.element_size = element_size;
  result.batch = count;
  result.in_place = in_place;
  return result;
}

}  // namespace

const std::vector<std::string>& sgemm_suites() {
  static const std::vector<std::string> names = {"squares", "ops",     "odd",    "skinny",
                                                 "short",   "batched", "random", "random_aligned",
                                                 "data",    "tiny"};
  return names;
}

const std::vector<std::string>& gemm_suites() {
  static const std::vector<std::string> names = {"triangles"};
  return names;
}

const std::vector<std::string>& softmax_suites() {
  static const std::vector<std::string> names = {"columns", "half",   "backward", "few_rows",
                                                 "modes",   "random", "tiny"};
  return names;
}

const std::vector<std::string>& cross_entropy_suites() {
  static const std::vector<std::string> names = {"vocabularies", "tiny"};
  return names;
}

const std::vector<std::string>& transpose_suites() {
  static const std::vector<std::string> names = {"squares", "odd",      "skinny", "elements",
                                                 "batched", "in_place", "random", "tiny"};
  return names;
}

std::vector<SgemmCase> accuracy_products(const AccuracySweep& sweep, const SuiteOptions& options) {
  const int64_t usual_side = options.host ? 128 : 1024;
  const int64_t m = sweep.m == 0 ? usual_side : sweep.m, n = sweep.n == 0 ? usual_side : sweep.n;
  std::vector<int64_t> depths = sweep.depths;
  if (depths.empty()) {
    depths = {32, 64, 128, 256, 512, 768, 1024, 2048};
    if (!options.host) {
      depths.insert(depths.end(), {4096, 8192, 16384});
    }
  }
  std::vector<SgemmCase> products;
  for (const std::string& operation : sweep.operations) {
    for (const int64_t k : depths) {
      products.push_back(product(m, n, k, operation.substr(0, 1), operation.substr(1)));
    }
  }
  return completed(products);
}

std::vector<SgemmCase> sgemm_suite(const std::string& name, const SuiteOptions& options) {
  std::vector<SgemmCase> cases;
  if (name == "squares") {
    for (int64_t n : {128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384}) {
      cases.push_back(product(n, n, n));
    }
  } else if (name == "ops") {
    for (int64_t n : {512, 1024, 2048, 4096, 8192}) {
      for (const char* a : {"N", "T"}) {
        for (const char* b : {"N", "T"}) {
          cases.push_back(product(n, n, n, a, b));
        }
      }
    }
  } else if (name == "odd") {
    for (int64_t n : {127, 129, 255, 257, 511, 513, 1000, 1023, 1025, 2047, 2049}) {
      cases.push_back(product(n, n, n));
    }
    cases.push_back(product(4095, 4097, 4093));
    cases.push_back(product(5120, 1024, 2560));
    cases.push_back(product(1000, 1000, 1000, "T", "N"));
  } else if (name == "skinny") {
    cases = {product(1, 4096, 4096),   product(4096, 1, 4096),    product(16, 4096, 4096),
             product(64, 4096, 4096),  product(4096, 16, 4096),   product(8192, 128, 8192),
             product(128, 128, 65536), product(32, 32, 1048576),  product(65536, 64, 64),
             product(64, 65536, 1024), product(100000, 100, 100), product(4096, 4096, 64),
             product(4096, 4096, 8),   product(1, 1, 1048576)};
  } else if (name == "short") {
    for (int64_t k : {64, 128, 256, 384, 512}) {
      cases.push_back(product(4096, 4096, k));
    }
    for (const char* b : {"N", "T"}) {
      cases.push_back(product(3072, 3072, 320, b, b));
      cases.push_back(product(3001, 2999, 301, "N", b));
      cases.push_back(product(2048, 2048, 256, b, b));
      cases.push_back(product(1024, 1024, 256, "N", b));
      cases.push_back(product(8192, 512, 512, "N", b));
    }
    cases.push_back(batch(product(512, 512, 64, "T", "N"), 64, "strided"));
    cases.push_back(batch(product(512, 64, 512), 64, "strided"));
    cases.push_back(batch(product(1024, 128, 512), 64, "strided"));
    cases.push_back(batch(product(512, 512, 512), 16, "pointers"));
  } else if (name == "batched") {
    cases = {batch(16, 16384, "strided"), batch(32, 4096, "strided"), batch(64, 1024, "strided"),
             batch(128, 256, "strided"),  batch(256, 64, "strided"),  batch(512, 32, "strided"),
             batch(64, 1024, "pointers"), batch(256, 64, "pointers")};
  } else if (name == "random") {
    cases = random_products(options, 1);
  } else if (name == "random_aligned") {
    cases = random_products(options, 4);
  } else if (name == "data") {
    for (int64_t n :
         options.host ? std::vector<int64_t>{64, 256} : std::vector<int64_t>{1024, 2048, 4096}) {
      for (const std::string& data : distribution_names()) {
        cases.push_back(product(n, n, n));
        cases.back().data = data;
      }
    }
  } else if (name == "tiny") {
    cases = {
        product(8, 8, 8),           product(33, 17, 65),          product(64, 48, 32, "T", "N"),
        product(5, 6, 7, "N", "T"), product(1, 64, 64, "T", "T"), batch(8, 5, "strided"),
        batch(7, 3, "pointers")};
  } else {
    unknown(name);
  }
  cases = completed(std::move(cases));
  if (options.host) {
    std::erase_if(cases, [](const SgemmCase& c) { return flops(c) > kMostHostFlops; });
  }
  return cases;
}

// Gram matrices, covariances, and the updates of factorizations, which read C.
std::vector<GemmCase> gemm_suite(const std::string& name, const SuiteOptions& options) {
  if (name != "triangles") unknown(name);
  constexpr int64_t kShapes[][2] = {
      {64, 64},       {256, 64},    {256, 256},  {512, 512},   {100, 20000}, {1000, 1000},
      {1000, 100000}, {1024, 128},  {2048, 128}, {2048, 2048}, {3000, 3000}, {4096, 128},
      {4096, 512},    {4096, 4096}, {8192, 128}, {8192, 512},  {8192, 8192}, {16384, 256}};
  std::vector<GemmCase> cases;
  for (const auto& [n, k] : kShapes) {
    if (options.host && n * k > int64_t{1} << 20) continue;
    for (const bool update : {false, true}) {
      GemmCase c;
      c.m = c.n = n, c.k = k;
      (update ? c.transb : c.transa) = "T";
      c.fill = "lower";
      c.reads_c = update;
      cases.push_back(complete(c));
    }
  }
  return cases;
}

std::vector<SoftmaxCase> softmax_suite(const std::string& name, const SuiteOptions& options) {
  const int64_t total = int64_t{1} << (options.host ? 22 : 28);  // elements, where sizes are free
  std::vector<SoftmaxCase> cases;
  if (name == "columns") {
    for (int64_t cols : {17,    20,    32,    64,    77,     100,    128,    197,     256,
                         512,   1000,  1001,  1024,  2048,   4096,   8192,   12289,   16384,
                         32768, 50257, 57344, 65536, 131072, 262144, 524288, 1000000, 2000000}) {
      cases.push_back(softmax(std::max<int64_t>(total / cols, 1), cols));
    }
  } else if (name == "half") {
    for (const char* type : {"f16", "bf16"}) {
      for (int64_t cols : {64, 256, 1000, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
        cases.push_back(softmax(total / cols, cols, type));
      }
    }
  } else if (name == "backward") {
    for (int64_t cols : {32, 77, 128, 197, 1001, 1024, 4096, 12289, 16384, 32768, 50257, 65536,
                         131072, 262144, 524288, 1000000}) {
      cases.push_back(
          softmax(std::max<int64_t>(total / cols, 1), cols, "f32", "softmax", "backward"));
    }
    for (int64_t cols : {64, 1024, 16384, 32768, 131072}) {
      cases.push_back(softmax(total / cols, cols, "bf16", "softmax", "backward"));
    }
  } else if (name == "few_rows") {
    cases = {softmax(1, 1048576), softmax(8, 131072), softmax(64, 131072), softmax(16, 50257),
             softmax(1, 4096), softmax(1, 32768), softmax(128, 1024), softmax(4096, 4096),
             // Next tokens of language models with usual vocabularies.
             softmax(4, 32000), softmax(32, 32000, "bf16"), softmax(1, 128256),
             softmax(16, 128256, "bf16"), softmax(8, 151936)};
  } else if (name == "modes") {
    for (int64_t cols : {128, 1024, 4096, 32768, 131072}) {
      cases.push_back(softmax(total / cols, cols, "f32", "log"));
      cases.push_back(softmax(total / cols, cols, "bf16", "log"));
      cases.push_back(softmax(total / cols, cols, "bf16", "log", "backward"));
    }
  } else if (name == "random") {
    std::mt19937_64 random(options.seed);
    for (int i = 0; i < options.count; ++i) {
      const int64_t cols = log_uniform(&random, 1, 200000);
      const int64_t rows = log_uniform(&random, 1, std::max<int64_t>(total / 4 / cols, 1));
      cases.push_back(softmax(rows, cols, one_of<const char*>(&random, {"f32", "f16", "bf16"}),
                              one_of<const char*>(&random, {"softmax", "log"})));
    }
  } else if (name == "tiny") {
    cases = {softmax(5, 33), softmax(3, 1000, "f16"), softmax(4, 64, "bf16", "log"),
             softmax(7, 100, "f32", "softmax", "backward"),
             softmax(2, 2048, "bf16", "log", "backward")};
  } else {
    unknown(name);
  }
  return completed(std::move(cases));
}

std::vector<CrossEntropyCase> cross_entropy_suite(const std::string& name,
                                                  const SuiteOptions& options) {
  std::vector<CrossEntropyCase> cases;
  const auto add = [&](int64_t rows, int64_t cols, const char* type) -> CrossEntropyCase& {
    cases.emplace_back();
    cases.back().rows = rows;
    cases.back().cols = cols;
    cases.back().xtype = type;
    return cases.back();
  };
  if (name == "vocabularies") {
    for (const char* type : {"f32", "bf16"}) {
      const int64_t rows = options.host ? 64 : 4096, few_classes = options.host ? 1 << 14 : 1 << 25;
      for (int64_t cols : {2, 10, 100, 300}) add(few_classes / cols, cols, type);
      for (int64_t cols : {1000, 10000, 32000, 50257, 128256, 151936, 262144}) {
        add(cols < 60000 ? 2 * rows : rows, cols, type);
      }
      add(rows, 128256, type).gradient = "in-place";
      add(rows, 128256, type).gradient = "none";
      CrossEntropyCase& both = add(rows, 128256, type);
      both.label_smoothing = 0.1;
      both.z_loss = 1e-4;
    }
  } else if (name == "tiny") {
    add(5, 33, "f32");
    add(3, 1000, "bf16").gradient = "in-place";
    add(4, 300, "f16").dloss = 1;
    add(2, 2048, "f32").gradient = "none";
  } else {
    unknown(name);
  }
  return completed(std::move(cases));
}

std::vector<TransposeCase> transpose_suite(const std::string& name, const SuiteOptions& options) {
  std::vector<TransposeCase> cases;
  if (name == "squares") {
    for (int64_t n :
         {128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384, 22016, 32768}) {
      cases.push_back(transpose(n, n));
    }
  } else if (name == "odd") {
    for (int64_t n : {1023, 4096, 8192, 16384}) {
      cases.push_back(transpose(n, n + 1));
      cases.push_back(transpose(n + 1, n));
      cases.push_back(transpose(n - 1, n + 1));
    }
    cases.push_back(transpose(16388, 16388));
    cases.push_back(transpose(16384, 30000));
    cases.push_back(transpose(16400, 16400));
  } else if (name == "skinny") {
    cases = {transpose(64, 1048576),  transpose(1048576, 64), transpose(3, 16777216),
             transpose(16777216, 5),  transpose(17, 4194304), transpose(1048576, 50),
             transpose(262144, 16),   transpose(16, 4194304), transpose(1024, 1048576),
             transpose(1048576, 1024)};
  } else if (name == "elements") {
    for (const auto& [size, n] :
         {std::pair<int64_t, int64_t>{1, 32768}, {2, 16384}, {4, 16384}, {8, 8192}, {16, 8192}}) {
      const int64_t side = options.host ? 2048 : n;
      cases.push_back(transpose(side, side, size));
      cases.push_back(transpose(side, side + 1, size));
      cases.push_back(transpose(side + 1, side, size));
      cases.push_back(transpose(side - 1, side + 1, size));
    }
  } else if (name == "batched") {
    for (int64_t n : {16, 17, 24, 32, 33, 64, 65, 100, 128, 129, 256}) {
      cases.push_back(transpose(n, n, 4, (int64_t{1} << (options.host ? 22 : 26)) / (n * n)));
    }
    cases.push_back(transpose(1000, 64, 2, 1024));
  } else if (name == "in_place") {
    for (int64_t n : {1024, 8192, 16384, 32768}) cases.push_back(transpose(n, n, 4, 1, 1));
    for (int64_t size : {1, 2, 8, 16}) cases.push_back(transpose(8192, 8192, size, 1, 1));
    cases.push_back(transpose(8191, 8191, 4, 1, 1));
    cases.push_back(transpose(4096, 8192, 4, 1, 1));
    cases.push_back(transpose(2047, 1025, 2, 1, 1));
  } else if (name == "random") {
    std::mt19937_64 random(options.seed);
    for (int i = 0; i < options.count; ++i) {
      const int64_t rows = log_uniform(&random, 1, 65536);
      const int64_t cols = log_uniform(&random, 1, (int64_t{1} << 28) / rows);
      cases.push_back(transpose(rows, cols, one_of<int64_t>(&random, {1, 2, 4, 8, 16})));
    }
  } else if (name == "tiny") {
    cases = {transpose(33, 65),          transpose(64, 31, 1), transpose(17, 40, 8, 3),
             transpose(48, 48, 4, 1, 1), transpose(7, 90, 16), transpose(12, 20, 2, 1, 1)};
  } else {
    unknown(name);
  }
  cases = completed(std::move(cases));
  if (options.host) {
    std::erase_if(cases, [](const TransposeCase& c) { return bytes(c) > kMostHostBytes; });
  }
  return cases;
}

}  // namespace bench
