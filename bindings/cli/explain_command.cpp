// mygemm explain: the plan of a call, for any GPU, on any machine. Takes the options that the call
// log (MYGEMM_LOG) writes, so that a line of it can be pasted behind `mygemm explain`. Questions
// about products are in explain_products.cpp.
#include <cstdint>
#include <string>

#include "commands.h"
#include "question.h"

namespace mygemm::cli {
namespace {

struct SoftmaxQuestion : Question {
  mygemmSoftmaxMode_t mode = MYGEMM_SOFTMAX;
  bool backward = false;
  int64_t rows = 0, cols = 0;
  mygemmDataType_t xtype = MYGEMM_R_32F, dytype = MYGEMM_R_32F, ytype = MYGEMM_R_32F;
  Extent ldx, lddy, ldy;

  void answer() const {
    const int64_t ld = at_least_1(cols);
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      if (backward) {
        return mygemm_explain_softmax_backward(handle.handle(), device_or_null(), mode, rows, cols,
                                               nullptr, xtype, ldx.value_or(ld), nullptr, dytype,
                                               lddy.value_or(ld), nullptr, ytype, ldy.value_or(ld),
                                               text, capacity, length);
      }
      return mygemm_explain_softmax(handle.handle(), device_or_null(), mode, rows, cols, nullptr,
                                    xtype, ldx.value_or(ld), nullptr, ytype, ldy.value_or(ld), text,
                                    capacity, length);
    }));
  }
};

struct CrossEntropyQuestion : Question {
  mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  std::string gradient = "apart";
  bool dloss = false, loss = true, lse = false;

  void answer() const {
    // Used for comparison and alignment only, never dereferenced.
    alignas(256) static char places[3][256] = {};
    mygemmCrossEntropy_t asked = call;
    asked.x = places[0];
    asked.dx = gradient == "none" ? nullptr : gradient == "in-place" ? places[0] : places[1];
    const auto values = reinterpret_cast<float*>(places[2]);
    asked.dloss = dloss ? values : nullptr;
    asked.loss = loss ? values : nullptr;
    asked.lse = lse ? values : nullptr;
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_cross_entropy(handle.handle(), device_or_null(), &asked, text, capacity,
                                          length);
    }));
  }
};

struct TransposeQuestion : Question {
  size_t element_size = 4;
  int64_t rows = 0, cols = 0;
  Extent ldin, ldout;
  int64_t batch = 1;
  int64_t stride_in = 0;
  Extent stride_out;
  bool in_place = false;

  void answer() const {
    // Used for comparison and alignment only, never dereferenced.
    alignas(256) static const char somewhere[256] = {};
    const void* in = in_place ? somewhere : nullptr;
    const int64_t out_ld = ldout.value_or(at_least_1(rows));
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_transpose(
          handle.handle(), device_or_null(), element_size, rows, cols, in,
          ldin.value_or(at_least_1(cols)), stride_in, in, out_ld,
          stride_out.value_or(in_place ? stride_in : packed(out_ld, cols, batch)), batch, text,
          capacity, length);
    }));
  }
};

void add_softmax_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q =
      add_question<SoftmaxQuestion>(explain, &command, "softmax", Family::kSoftmax,
                                    "the plan of mygemm_softmax or mygemm_softmax_backward");
  add_choice<mygemmSoftmaxMode_t>(command, "--mode", &q->mode,
                                  {{"softmax", MYGEMM_SOFTMAX}, {"log", MYGEMM_LOG_SOFTMAX}},
                                  "softmax or its logarithm");
  add_choice<bool>(command, "--direction", &q->backward, {{"forward", false}, {"backward", true}},
                   "softmax or its gradient");
  command->add_option("-m,--rows", q->rows, "number of rows")->required();
  command->add_option("-n,--cols", q->cols, "elements in a row")->required();
  add_choice(command, "--xtype", &q->xtype, kElementTypes, "type of x (backward: of y)");
  command->add_option("--ldx", q->ldx, "leading dimensions (default: cols)");
  add_choice(command, "--dytype", &q->dytype, kElementTypes, "type of dy (backward only)");
  command->add_option("--lddy", q->lddy);
  add_choice(command, "--ytype", &q->ytype, kElementTypes, "type of y (backward: of dx)");
  command->add_option("--ldy", q->ldy);
}

void add_cross_entropy_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q =
      add_question<CrossEntropyQuestion>(explain, &command, "cross_entropy", Family::kCrossEntropy,
                                         "the plan of mygemm_cross_entropy");
  add_choice(command, "--xtype", &q->call.xtype, kElementTypes, "type of the logits");
  add_choice(command, "--dxtype", &q->call.dxtype, kElementTypes, "type of the gradient");
  add_choice<int32_t>(command, "--target-type", &q->call.target_type,
                      {{"i32", MYGEMM_INDEX_32I}, {"i64", MYGEMM_INDEX_64I}},
                      "type of the classes");
  command->add_option("-m,--rows", q->call.rows, "number of rows")->required();
  command->add_option("-n,--cols", q->call.cols, "number of classes")->required();
  command->add_option("--ldx", q->call.ldx, "leading dimensions (default: cols)");
  command->add_option("--lddx", q->call.lddx);
  command->add_option("--gradient", q->gradient, "none, apart or in-place")
      ->check(CLI::IsMember({"none", "apart", "in-place"}));
  command->add_option("--dloss", q->dloss, "1: the losses have gradients");
  command->add_option("--stride-dloss", q->call.stride_dloss, "from one to the next");
  command->add_option("--gradient-scale", q->call.gradient_scale, "factor of the gradient");
  command->add_option("--loss", q->loss, "1: the losses are asked for");
  command->add_option("--lse", q->lse, "1: the logarithms of the sums are");
  command->add_option("--label-smoothing", q->call.label_smoothing, "0 to 1");
  command->add_option("--z-loss", q->call.z_loss, "factor of lse^2 in the loss");
}

void add_transpose_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q = add_question<TransposeQuestion>(explain, &command, "transpose", Family::kTranspose,
                                                 "the plan of mygemm_transpose (row-major)");
  command->add_option("--element-size", q->element_size, "bytes of an element (default 4)");
  command->add_option("-m,--rows", q->rows, "rows of the input")->required();
  command->add_option("-n,--cols", q->cols, "columns of the input")->required();
  command->add_option("--ldin", q->ldin, "leading dimensions (default: the smallest)");
  command->add_option("--ldout", q->ldout);
  command->add_option("--batch", q->batch, "number of matrices");
  command->add_option("--stride-in", q->stride_in, "from one input to the next (default 0)");
  command->add_option("--stride-out", q->stride_out, "default: densely packed");
  command->add_option("--in-place", q->in_place, "1: the output is where the input was");
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* explain = app.add_subcommand(
      "explain", "Which kernel a call would run, what else there is, and why not that.");
  explain->require_subcommand(1);
  add_product_questions(explain);
  add_softmax_question(explain);
  add_cross_entropy_question(explain);
  add_transpose_question(explain);
}

}  // namespace mygemm::cli
