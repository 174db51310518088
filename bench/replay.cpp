// See replay.h.
#include "replay.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "command_line.h"

namespace bench {
namespace {

constexpr char kProgram[] = "mygemm ";

AnyCase parse(const std::string& command) {
  SgemmCase sgemm;
  GemmCase gemm;
  GroupedCase grouped;
  SoftmaxCase softmax;
  CrossEntropyCase cross_entropy;
  TransposeCase transpose;
  CLI::App app;
  app.require_subcommand(1);
  CLI::App* sgemm_command = app.add_subcommand("sgemm");
  CLI::App* softmax_command = app.add_subcommand("softmax");
  CLI::App* loss_command = app.add_subcommand("cross_entropy");
  CLI::App* gemm_command = app.add_subcommand("gemm");
  CLI::App* grouped_command = app.add_subcommand("gemm_grouped");
  add_options(sgemm_command, &sgemm);
  add_options(gemm_command, &gemm);
  add_options(grouped_command, &grouped);
  add_options(softmax_command, &softmax);
  add_options(loss_command, &cross_entropy);
  add_options(app.add_subcommand("transpose"), &transpose);
  mygemm::cli::check_numbers(&app);

  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  app.parse(words);
  if (sgemm_command->parsed()) {
    return complete(sgemm);
  }
  if (gemm_command->parsed()) {
    return complete(gemm);
  }
  if (grouped_command->parsed()) {
    return complete(grouped);
  }
  if (softmax_command->parsed()) {
    return complete(softmax);
  }
  if (loss_command->parsed()) {
    return complete(cross_entropy);
  }
  return complete(transpose);
}

// The options of all general products: those of grouped ones too.
void add_general_options(CLI::App* command, GemmCase* p) {
  add_options(command, static_cast<SgemmCase*>(p));
  const CLI::IsMember flag({0, 1});
  command->add_option("--ldd", p->ldd, "leading dimension of D");
  command->add_option("--stride-d", p->stride_d, "elements between matrices D");
  command->add_option("--bias", p->bias, "1: a value is added to each row of D")->check(flag);
  command->add_option("--stride-bias", p->stride_bias, "elements between biases; m by default");
  const CLI::IsMember types({"f32", "f16", "bf16"});
  command->add_option("--atype", p->atype, "type of A")->check(types);
  command->add_option("--btype", p->btype, "type of B; that of A by default")->check(types);
  command->add_option("--dtype", p->dtype, "type of C, D and the bias")->check(types);
  command->add_option("--c-is-d", p->c_is_d, "0: C is another matrix than D")->check(flag);
  command->add_option("--reads-c", p->reads_c, "1: beta is 1, else 0")->check(flag);
}

}  // namespace

void add_options(CLI::App* command, SgemmCase* p) {
  const CLI::IsMember operations({"N", "T", "C"});
  command->add_option("--transa", p->transa, "op(A): N, T or C")->check(operations);
  command->add_option("--transb", p->transb, "op(B): N, T or C")->check(operations);
  command->add_option("-m", p->m, "rows of op(A) and C");
  command->add_option("-n", p->n, "columns of op(B) and C");
  command->add_option("-k", p->k, "columns of op(A), rows of op(B)");
  command->add_option("--lda", p->lda, "leading dimension of A; smallest by default");
  command->add_option("--ldb", p->ldb, "leading dimension of B");
  command->add_option("--ldc", p->ldc, "leading dimension of C");
  command->add_option("--batch", p->batch, "number of products");
  command->add_option("--stride-a", p->stride_a, "elements between matrices A; packed by default");
  command->add_option("--stride-b", p->stride_b, "elements between matrices B");
  command->add_option("--stride-c", p->stride_c, "elements between matrices C");
  command->add_option("--form", p->form, "single, strided or pointers")
      ->check(CLI::IsMember({"single", "strided", "pointers"}));
  command->add_option("--data", p->data, "what A and B hold")
      ->check(CLI::IsMember(distribution_names()))
      ->capture_default_str();
  command->add_option("--invariance", p->invariance, "none, or batch: batch-invariant products")
      ->check(CLI::IsMember({"none", "batch"}));
}

void add_options(CLI::App* command, GemmCase* p) {
  add_general_options(command, p);
  command->add_option("--activation", p->activation, "applied to each element last")
      ->check(CLI::IsMember({"none", "relu", "gelu", "relu-gradient", "gelu-gradient"}));
  command->add_option("--aux", p->aux, "1: the activation leaves what its gradient reads")
      ->check(CLI::IsMember({0, 1}));
  command->add_option("--ldaux", p->ldaux, "leading dimension of that");
  command->add_option("--stride-aux", p->stride_aux, "elements between its matrices");
  command->add_option("--sums", p->sums, "sums of rows of D or A, or of columns of B")
      ->check(CLI::IsMember({"none", "d", "a", "b"}));
  command->add_option("--stride-sums", p->stride_sums, "elements between sums; packed by default");
  command->add_option("--fill", p->fill, "the triangle of D that is computed")
      ->check(CLI::IsMember({"full", "lower", "upper"}));
}

// No aux, and so no gradients; no sums and triangles.
void add_options(CLI::App* command, GroupedCase* p) {
  add_general_options(command, p);
  command->add_option("--activation", p->activation, "applied to each element last")
      ->check(CLI::IsMember({"none", "relu", "gelu"}));
  command
      ->add_option("--sizes-of", p->sizes_of,
                   "sizes that each product has of its own: m, n, k, or several; -m, -n and -k are "
                   "the largest")
      ->delimiter(',')
      ->check(CLI::IsMember({"m", "n", "k"}));
  command->add_option("--total", p->total,
                      "matrices are stacked along the size of --sizes-of, of which they have so "
                      "much together; divided evenly");
  command->add_option("--sizes-on", p->sizes_on, "memory of the sizes: device or host")
      ->check(CLI::IsMember({"device", "host"}))
      ->capture_default_str();
}

void add_options(CLI::App* command, SoftmaxCase* p) {
  const CLI::IsMember types({"f32", "f16", "bf16"});
  command->add_option("--mode", p->mode, "softmax or log")
      ->check(CLI::IsMember({"softmax", "log"}));
  command->add_option("--direction", p->direction, "forward or backward")
      ->check(CLI::IsMember({"forward", "backward"}));
  command->add_option("--rows", p->rows, "rows");
  command->add_option("--cols", p->cols, "columns: elements that sum to one");
  command->add_option("--xtype", p->xtype, "type of x; backward: of y")->check(types);
  command->add_option("--ldx", p->ldx, "leading dimension of x; backward: of y");
  command->add_option("--dytype", p->dytype, "backward: type of dy")->check(types);
  command->add_option("--lddy", p->lddy, "backward: leading dimension of dy");
  command->add_option("--ytype", p->ytype, "type of y; backward: of dx")->check(types);
  command->add_option("--ldy", p->ldy, "leading dimension of y; backward: of dx");
}

void add_options(CLI::App* command, CrossEntropyCase* p) {
  const CLI::IsMember types({"f32", "f16", "bf16"}), flag({0, 1});
  command->add_option("--rows", p->rows, "rows");
  command->add_option("--cols", p->cols, "columns: classes");
  command->add_option("--xtype", p->xtype, "type of the logits")->check(types);
  command->add_option("--ldx", p->ldx, "leading dimension of the logits");
  command->add_option("--gradient", p->gradient, "none, apart or in-place")
      ->check(CLI::IsMember({"none", "apart", "in-place"}));
  command->add_option("--dxtype", p->dxtype, "type of the gradient; as the logits by default")
      ->check(types);
  command->add_option("--lddx", p->lddx, "leading dimension of the gradient");
  command->add_option("--dloss", p->dloss, "1: the losses have gradients")->check(flag);
  command->add_option("--stride-dloss", p->stride_dloss, "elements between those");
  command->add_option("--gradient-scale", p->gradient_scale, "factor of the gradient");
  command->add_option("--loss", p->loss, "1: the losses are asked for")->check(flag);
  command->add_option("--lse", p->lse, "1: the logarithms of the sums are")->check(flag);
  command->add_option("--target-type", p->target_type, "type of the classes: i32 or i64")
      ->check(CLI::IsMember({"i32", "i64"}));
  command->add_option("--label-smoothing", p->label_smoothing, "0 to 1");
  command->add_option("--z-loss", p->z_loss, "factor of lse^2 in the loss");
}

void add_options(CLI::App* command, TransposeCase* p) {
  command->add_option("--element-size", p->element_size, "bytes of an element")
      ->check(CLI::IsMember({1, 2, 4, 8, 16}));
  command->add_option("--rows", p->rows, "rows of the input");
  command->add_option("--cols", p->cols, "columns of the input");
  command->add_option("--ldin", p->ldin, "leading dimension of the input");
  command->add_option("--ldout", p->ldout, "leading dimension of the output");
  command->add_option("--batch", p->batch, "number of matrices");
  command->add_option("--stride-in", p->stride_in, "elements between inputs; packed by default");
  command->add_option("--stride-out", p->stride_out, "elements between outputs");
  command->add_option("--in-place", p->in_place, "1: the output takes the input's place")
      ->check(CLI::IsMember({0, 1}));
}

std::vector<LoggedCase> read_log(const std::string& path) {
  std::ifstream opened;
  const bool standard_input = path == "-";
  if (!standard_input) {
    opened.open(path);
    if (!opened) throw std::runtime_error("cannot read " + path);
  }
  std::istream& file = standard_input ? std::cin : opened;
  std::vector<LoggedCase> cases;
  std::map<std::string, size_t> seen;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const size_t hash = line.find('#');
    const std::string outcome = hash == std::string::npos ? "" : line.substr(hash);
    const size_t status = outcome.find("status=");
    const bool failed =
        status != std::string::npos && (outcome + ' ').compare(status, 9, "status=0 ") != 0;
    const bool nothing_ran = outcome.find("kernel=none ") != std::string::npos;
    const std::string command = line.substr(0, hash);
    if (failed || nothing_ran || command.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    if (const auto known = seen.find(command); known != seen.end()) {
      ++cases[known->second].repeats;
      continue;
    }
    if (command.rfind(kProgram, 0) != 0) {
      throw std::runtime_error(path + ":" + std::to_string(number) +
                               ": not a log line, they begin with 'mygemm '");
    }
    try {
      cases.push_back({parse(command.substr(sizeof(kProgram) - 1)), 1});
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
    seen.emplace(command, cases.size() - 1);
  }
  if (cases.empty()) {
    throw std::runtime_error(path + ": has no call that succeeded, and so nothing to repeat");
  }
  return cases;
}

}  // namespace bench
