// Unit tests: which kernel is chosen for what, on which machine. golden.txt has the answers, so
// that a change of the cost model shows as a change of a text file. To accept the new choices:
//   GOLDEN_UPDATE=1 ctest -R unit.Golden
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plan.h"
#include "tighten.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::causal;
using mygemm_tests::cross_entropy;
using mygemm_tests::fast;
using mygemm_tests::gemm;
using mygemm_tests::host_device;
using mygemm_tests::mixed;
using mygemm_tests::of_16_bits;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;
using mygemm_tests::strict;
using mygemm_tests::transpose;
using mygemm_tests::transpose_in_place;
using mygemm_tests::with_odd_lds;
using mygemm_tests::with_relu;

constexpr size_t kMiB = 1024 * 1024;

// A case's name, and under it a line for each kernel that some machine chooses:
//   gemm nn 64x64x64
//     warptiled_64x64       T4, A100
//     host_cblas            host
using Choices = std::map<std::string, std::string>;

class Golden {
 public:
  Golden() {
    for (const char* name : {"T4", "A100", "RTX 4090", "H100", "H200", "B200"}) {
      devices_.push_back(*find_device(name));
    }
    devices_.push_back(host_device(true));
    devices_.push_back(host_device(false));
  }

  template <class Problem>
  void add(const std::string& name, const Problem& problem) {
    const std::string choices = choose(problem, 0);
    ASSERT_TRUE(choices_.emplace(name, choices).second) << name << " is there twice";
    text_ += name + "\n" + choices;
  }

  // A second case where a workspace changes a choice.
  template <class Problem>
  void add_with_workspace(const std::string& name, const Problem& problem, size_t workspace) {
    add(name, problem);
    const std::string choices = choose(problem, workspace);
    if (choices == choices_[name]) return;
    choices_[name + " with workspace"] = choices;
    text_ += name + " with workspace\n" + choices;
  }

  const Choices& choices() const { return choices_; }
  const std::string& text() const { return text_; }

 private:
  template <class Problem>
  std::string choose(const Problem& problem, size_t workspace) const {
    std::vector<std::pair<std::string, std::string>> kernels;  // with the machines that choose them
    for (const DeviceTraits& device : devices_) {
      Plan<Problem> plan;
      if (make_plan(tightened(problem), device, {workspace, nullptr}, &plan) !=
          MYGEMM_STATUS_SUCCESS) {
        ADD_FAILURE() << last_error_text();
        continue;
      }
      const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const auto& known) {
        return known.first == plan.kernel->name;
      });
      if (kernel == kernels.end()) {
        kernels.emplace_back(plan.kernel->name, device.name);
      } else {
        kernel->second += std::string(", ") + device.name;
      }
    }
    std::string choices;
    for (const auto& [kernel, machines] : kernels) {
      choices += "  " + kernel + std::string(24 - std::min<size_t>(23, kernel.size()), ' ') +
                 machines + "\n";
    }
    return choices;
  }

  std::vector<DeviceTraits> devices_;
  Choices choices_;
  std::string text_;
};

std::string by(int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

void add_gemm(Golden* golden) {
  struct Shape {
    int64_t m, n, k, batch;
  };
  constexpr Shape kShapes[] = {
      {16, 16, 16, 1},       {64, 64, 64, 1},          {128, 128, 128, 1},    {256, 256, 256, 1},
      {512, 512, 512, 1},    {1024, 1024, 1024, 1},    {2048, 2048, 2048, 1}, {4096, 4096, 4096, 1},
      {8192, 8192, 8192, 1}, {16384, 16384, 16384, 1}, {1, 4096, 4096, 1},    {4096, 1, 4096, 1},
      {4096, 16, 4096, 1},   {16, 16384, 512, 1},      {65536, 64, 64, 1},    {100000, 100, 10, 1},
      {64, 64, 65536, 1},    {256, 256, 1000000, 1},   {1, 1, 1000000, 1},    {8, 8, 8, 10000},
      {32, 32, 32, 8000},    {64, 64, 64, 1024},       {128, 128, 64, 96},    {2048, 2048, 128, 16},
      {4096, 4096, 1, 1},    {4096, 4096, 64, 1},      {1024, 4096, 64, 1}};
  for (const auto& [m, n, k, batch] : kShapes) {
    const std::string name = "gemm nn " + by(m, n) + "x" + std::to_string(k) +
                             (batch > 1 ? " batch " + std::to_string(batch) : "");
    golden->add_with_workspace(name, gemm(false, false, m, n, k, batch), 32 * kMiB);
  }
  for (const int64_t size : {64, 4096}) {
    golden->add("gemm tn " + by(size, size), gemm(true, false, size, size, size));
    golden->add("gemm nt " + by(size, size), gemm(false, true, size, size, size));
    golden->add("gemm tt " + by(size, size), gemm(true, true, size, size, size));
  }
}

// Leading dimensions of A and B that leave their columns misaligned.
constexpr std::pair<const char*, std::pair<bool, bool>> kOperations[] = {
    {"nn", {false, false}}, {"tn", {true, false}}, {"nt", {false, true}}, {"tt", {true, true}}};

void add_gemm_variants(Golden* golden) {
  for (const int64_t size : {64, 512, 1024, 4096, 8192}) {
    const std::string sizes = " " + by(size, size) + "x" + std::to_string(size);
    for (const auto& [name, trans] : kOperations) {
      const GemmProblem p = gemm(trans.first, trans.second, size, size, size);
      const std::string operation = std::string("gemm ") + name + sizes;
      golden->add_with_workspace(operation + " strict", strict(p), 32 * kMiB);
      golden->add_with_workspace(operation + " fast", fast(p), 32 * kMiB);
      golden->add_with_workspace(operation + " odd lds", with_odd_lds(p), 32 * kMiB);
    }
    golden->add_with_workspace("gemm nn" + sizes + " strict, odd lds",
                               strict(with_odd_lds(gemm(false, false, size, size, size))),
                               32 * kMiB);
  }
  golden->add("gemm nn 2048x1024x512 strict, relu",
              strict(with_relu(gemm(false, false, 2048, 1024, 512))));
  golden->add_with_workspace("gemm nn 1248x88x13168 strict",
                             strict(gemm(false, false, 1248, 88, 13168)), 32 * kMiB);
  golden->add("gemm tt 1004x1496x4", gemm(true, true, 1004, 1496, 4));
  golden->add_with_workspace("gemm nt 1x4096x4096 odd lds",
                             with_odd_lds(gemm(false, true, 1, 4096, 4096)), 32 * kMiB);
  golden->add_with_workspace("gemm tn 4096x4x4096 odd lds",
                             with_odd_lds(gemm(true, false, 4096, 4, 4096)), 32 * kMiB);
}

// Operands of 16 bits, and D of another type or of theirs.
GemmProblem of_types(GemmProblem p, mygemmDataType_t in, mygemmDataType_t out) {
  p.a.type = p.b.type = in;
  p.c.type = p.d.type = out;
  return p;
}

void add_16bit_gemm(Golden* golden) {
  for (const int64_t size : {64, 1024, 4096}) {
    for (const auto& [name, trans] : kOperations) {
      const GemmProblem p = gemm(trans.first, trans.second, size, size, size);
      const std::string operation =
          std::string("gemm ") + name + " " + by(size, size) + "x" + std::to_string(size);
      golden->add_with_workspace(operation + " bf16 to f32",
                                 of_types(p, MYGEMM_R_16BF, MYGEMM_R_32F), 32 * kMiB);
      golden->add_with_workspace(operation + " f32 by bf16", mixed(p, true), 32 * kMiB);
      golden->add_with_workspace(operation + " bf16 by f32", mixed(p, false), 32 * kMiB);
      golden->add_with_workspace(operation + " f16", of_types(p, MYGEMM_R_16F, MYGEMM_R_16F),
                                 32 * kMiB);
    }
  }
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{4096, 1, 4096},     {1, 14336, 4096},    {4096, 4, 4096},    {14336, 8, 4096},
                 {28672, 16, 8192},   {128256, 8, 4096},   {512, 3, 512},      {4096, 512, 14336},
                 {11008, 2048, 4096}, {3072, 768, 3072},   {2048, 16, 65536},  {100, 12, 100},
                 {4096, 96, 14336},   {400, 11472, 656},   {1832, 328, 8152},  {384, 8192, 512},
                 {320, 8192, 1024},   {368, 14384, 2856},  {576, 8104, 8800},  {192, 4096, 4096},
                 {320, 3400, 9864},   {128256, 256, 4096}, {1688, 2200, 744},  {2320, 7432, 13448},
                 {232, 9256, 13240},  {80, 10376, 2328},   {960, 808, 4688},   {120, 10616, 1080},
                 {128, 6736, 2976},   {392, 976, 3392},    {104, 16320, 4608}, {2320, 512, 1432},
                 {120, 8544, 576},    {80, 9504, 2944}};
  for (const auto& [m, n, k] : kShapes) {
    golden->add_with_workspace("gemm tn " + by(m, n) + "x" + std::to_string(k) + " bf16",
                               of_16_bits(gemm(true, false, m, n, k)), 32 * kMiB);
    golden->add_with_workspace("gemm nt " + by(m, n) + "x" + std::to_string(k) + " bf16",
                               of_16_bits(gemm(false, true, m, n, k)), 32 * kMiB);
  }
  golden->add_with_workspace("gemm tn 4096x16x4096 bf16 odd lds",
                             of_16_bits(with_odd_lds(gemm(true, false, 4096, 16, 4096))),
                             32 * kMiB);
  golden->add_with_workspace(
      "gemm nn 1024x1024x1024 bf16 odd lds",
      of_types(with_odd_lds(gemm(false, false, 1024, 1024, 1024)), MYGEMM_R_16BF, MYGEMM_R_16BF),
      32 * kMiB);
  // Their packed lines fit no workspace.
  golden->add_with_workspace("gemm tn 512x512x200000 bf16 odd lds",
                             of_16_bits(with_odd_lds(gemm(true, false, 512, 512, 200000))),
                             32 * kMiB);
}

// One operand FP32, the other BF16.
void add_mixed_gemm(Golden* golden) {
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{128, 1, 6144},  {8, 128, 6144},     {128, 64, 6144},      {128, 4096, 6144},
                 {64, 8192, 100}, {8192, 8192, 8192}, {4096, 128256, 4096}, {1056, 232, 600},
                 {520, 500, 400}, {1300, 900, 5000},  {512, 512, 200000}};
  for (const auto& [m, n, k] : kShapes) {
    const std::string name = "gemm tn " + by(m, n) + "x" + std::to_string(k) + " f32 by bf16";
    const GemmProblem p = gemm(true, false, m, n, k);
    golden->add_with_workspace(name, mixed(p, true), 32 * kMiB);
    golden->add_with_workspace(name + " odd lds", mixed(with_odd_lds(p), true), 32 * kMiB);
  }
}

// Shapes for kernels that none of the others chooses.
void add_gemm_kernels(Golden* golden) {
  struct Shape {
    int64_t m, n, k;
  };
  constexpr Shape kShapes[] = {
      {16, 3072, 200},   {200, 200, 2048},   {256, 256, 2048}, {768, 768, 512},
      {768, 768, 4096},  {1280, 1024, 8192}, {512, 4096, 512}, {2048, 2048, 512},
      {3072, 3072, 512}, {1500, 1500, 1500}, {907, 2237, 549}, {700, 700, 700},
      {228, 640, 5168},  {3783, 3, 2981},    {16, 1024, 4096}, {262, 12786, 10306},
      {4096, 640, 640},  {8192, 320, 2000},  {700, 2000, 900}, {64, 1000, 4096},
      {8, 1024, 8192},   {24, 4096, 8192},   {5525, 357, 5}};
  for (const auto& [m, n, k] : kShapes) {
    const std::string name = "gemm nn " + by(m, n) + "x" + std::to_string(k);
    const GemmProblem p = gemm(false, false, m, n, k);
    golden->add_with_workspace(name, p, 32 * kMiB);
    golden->add_with_workspace(name + " strict", strict(p), 32 * kMiB);
    golden->add_with_workspace(name + " fast", fast(p), 32 * kMiB);
  }
}

void add_invariant_gemm(Golden* golden) {
  struct Shape {
    int64_t m, n, k;
  };
  constexpr Shape kShapes[] = {{1, 4096, 4096},    {16, 4096, 4096},   {256, 4096, 4096},
                               {4096, 4096, 4096}, {8192, 8192, 8192}, {64, 64, 65536},
                               {100, 100, 100},    {4096, 4096, 128}};
  for (const auto& [m, n, k] : kShapes) {
    const std::string name = "gemm nn " + by(m, n) + "x" + std::to_string(k) + " invariant";
    const GemmProblem p = mygemm_tests::invariant(gemm(false, false, m, n, k));
    golden->add_with_workspace(name, p, 32 * kMiB);
    golden->add_with_workspace(name + " odd lds", with_odd_lds(p), 32 * kMiB);
    golden->add(name + " strict", strict(p));
    golden->add(name + " fast", fast(p));
    golden->add(name + " bf16", of_16_bits(p));
  }
}

void add_softmax(Golden* golden) {
  for (const int64_t cols : {10, 100, 512, 1000, 4096, 10000, 32768, 100000, 1000000}) {
    for (const int64_t rows : {1, 10000, 1000000}) {
      if (rows * cols > 1000000000) continue;
      golden->add_with_workspace("softmax f32 " + by(rows, cols), softmax(rows, cols), kMiB);
    }
  }
  golden->add_with_workspace("softmax f32 8x131072", softmax(8, 131072), kMiB);
  for (const int64_t cols : {100, 4096, 32768, 100000}) {
    golden->add("softmax f16 " + by(4096, cols), softmax(4096, cols, MYGEMM_R_16F));
    golden->add("softmax bf16 " + by(4096, cols), softmax(4096, cols, MYGEMM_R_16BF));
    golden->add("softmax backward f32 " + by(4096, cols), softmax_backward(4096, cols));
    golden->add("softmax backward f16 " + by(4096, cols),
                softmax_backward(4096, cols, MYGEMM_R_16F));
  }
  for (const int64_t cols : {77, 512, 1024, 4096, 16384, 100000}) {
    golden->add("softmax causal f32 " + by(4096, cols), causal(softmax(4096, cols)));
    golden->add("softmax causal bf16 " + by(4096, cols),
                causal(softmax(4096, cols, MYGEMM_R_16BF)));
    golden->add("softmax causal backward bf16 " + by(4096, cols),
                causal(softmax_backward(4096, cols, MYGEMM_R_16BF)));
  }
}

void add_cross_entropy(Golden* golden) {
  for (const int64_t cols : {10, 1000, 8192, 10000, 32768, 50257, 128256, 400000, 1000000}) {
    for (const int64_t rows : {1, 4096}) {
      const std::string shape = by(rows, cols);
      golden->add("cross_entropy f32 " + shape, cross_entropy(rows, cols));
      golden->add("cross_entropy bf16 " + shape, cross_entropy(rows, cols, MYGEMM_R_16BF));
    }
  }
  CrossEntropyProblem loss_only = cross_entropy(4096, 50257);
  loss_only.dx.data = nullptr;
  golden->add("cross_entropy f32 4096x50257 loss only", loss_only);
}

void add_transpose(Golden* golden) {
  constexpr std::pair<int64_t, int64_t> kShapes[] = {
      {2, 2},       {64, 64},     {1000, 1000}, {8192, 8192},  {32768, 32768},
      {1, 1000000}, {1000000, 1}, {3, 1000000}, {1000000, 16}, {100, 20000}};
  for (const auto& [rows, cols] : kShapes) {
    golden->add("transpose 4 bytes " + by(rows, cols), transpose(4, rows, cols));
    const auto in_place = transpose_in_place(4, rows, cols);
    golden->add_with_workspace("transpose 4 bytes " + by(rows, cols) + " in place", in_place,
                               4096 * kMiB);
  }
  for (const int64_t size : {1, 2, 8, 16}) {
    golden->add("transpose " + std::to_string(size) + " bytes 4096x4096",
                transpose(size, 4096, 4096));
  }
  for (const int64_t size : {1, 2, 4, 8}) {
    const std::string bytes = "transpose " + std::to_string(size) + " bytes ";
    for (const auto& [rows, cols] :
         {std::pair{8191, 8193}, {8192, 8193}, {8193, 8192}, {17, 1 << 20}}) {
      golden->add(bytes + by(rows, cols), transpose(size, rows, cols));
    }
    golden->add(bytes + "8191x8191 in place", transpose_in_place(size, 8191, 8191));
  }
  golden->add("transpose 4 bytes 8x8 batch 100000", transpose(4, 8, 8, 100000));
  golden->add("transpose 4 bytes 1024x512 batch 32", transpose(4, 1024, 512, 32));
  golden->add("transpose 4 bytes 512x512 batch 32 in place", transpose_in_place(4, 512, 512, 32));
}

// The file's cases: a line that is not indented is a name, those below it its choices.
Choices read_file() {
  Choices choices;
  std::ifstream file(MYGEMM_GOLDEN_FILE);
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("  ")) {
      choices[name] += line + "\n";
    } else {
      choices[name = line];
    }
  }
  return choices;
}

TEST(Golden, ChoicesAreThoseOfTheFile) {
  Golden golden;
  add_gemm(&golden);
  add_gemm_variants(&golden);
  add_gemm_kernels(&golden);
  add_16bit_gemm(&golden);
  add_mixed_gemm(&golden);
  add_invariant_gemm(&golden);
  add_softmax(&golden);
  add_cross_entropy(&golden);
  add_transpose(&golden);
  const char* update = std::getenv("GOLDEN_UPDATE");
  if (update && *update == '1') {
    ASSERT_TRUE(std::ofstream(MYGEMM_GOLDEN_FILE) << golden.text() << std::flush);
  }
  const Choices wanted = read_file();
  for (const auto& [name, choices] : golden.choices()) {
    const auto found = wanted.find(name);
    EXPECT_EQ(found == wanted.end() ? "not in the file" : found->second, choices)
        << name << " (GOLDEN_UPDATE=1 accepts the new choices)";
  }
  EXPECT_EQ(wanted.size(), golden.choices().size()) << "the file has cases that are tested no more";
}

// A change of any product kernel's estimate shows. The reference kernels serve comparisons.
TEST(Golden, SomeCaseChoosesEachProductKernel) {
  std::set<std::string> chosen;
  for (const auto& [name, choices] : read_file()) {
    if (!name.starts_with("gemm ")) continue;
    std::istringstream lines(choices);
    for (std::string line; std::getline(lines, line);) {
      chosen.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  const std::set<std::string> references = {"naive", "tiled", "host_naive"};
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    EXPECT_TRUE(chosen.erase(kernel.name) || references.contains(kernel.name))
        << kernel.name << " is chosen by no case";
  }
  EXPECT_TRUE(chosen.empty()) << *chosen.begin() << " is no kernel";
}

}  // namespace
}  // namespace mygemm
