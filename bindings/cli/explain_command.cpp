// mygemm explain: the plan of a call, for any GPU, on any machine. Takes the options that the call
// log (MYGEMM_LOG) writes, so that a line of it can be pasted behind `mygemm explain`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "command_line.h"
#include "commands.h"
#include "explanation.h"
#include "session.h"

namespace mygemm::cli {
namespace {

using Extent = std::optional<int64_t>;

int64_t at_least_1(int64_t extent) { return std::max<int64_t>(1, extent); }

// The stride of a batch of densely packed matrices; the library refuses one that does not fit.
int64_t packed(int64_t ld, int64_t vectors, int64_t batch) {
  int64_t stride = 0;
  if (batch <= 1) return stride;
  return __builtin_mul_overflow(ld, vectors, &stride) ? INT64_MAX : stride;
}

// The options that all subcommands share. An empty device is that of this machine.
struct Question {
  std::string device;
  Settings settings;
  bool json = false, bars = false;

  Session session() const {
    return device.empty() ? Session(settings) : Session::for_questions(settings);
  }
  const char* device_or_null() const { return device.empty() ? nullptr : device.c_str(); }

  void print(const std::string& text) const {
    const std::string shown = json ? to_json(text) : bars ? to_bars(text) : text;
    std::printf("%s%s", shown.c_str(), shown.ends_with('\n') ? "" : "\n");
  }
};

struct SgemmQuestion : Question {
  mygemmOperation_t transa = MYGEMM_OP_N, transb = MYGEMM_OP_N;
  int64_t m = 0, n = 0, k = 0;
  Extent lda, ldb, ldc;
  int64_t batch = 1;
  int64_t stride_a = 0, stride_b = 0;
  Extent stride_c;

  void answer() const {
    const int64_t min_lda = at_least_1(transa == MYGEMM_OP_N ? m : k);
    const int64_t min_ldb = at_least_1(transb == MYGEMM_OP_N ? k : n);
    const int64_t c_ld = ldc.value_or(at_least_1(m));
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_sgemm(
          handle.handle(), device_or_null(), transa, transb, m, n, k, nullptr,
          lda.value_or(min_lda), stride_a, nullptr, ldb.value_or(min_ldb), stride_b, nullptr, c_ld,
          stride_c.value_or(packed(c_ld, n, batch)), batch, text, capacity, length);
    }));
  }
};

struct GemmQuestion : SgemmQuestion {
  Extent ldd, stride_d;
  bool bias = false, c_is_d = true, reads_c = false;
  int64_t stride_bias = 0;
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  mygemmFill_t fill = MYGEMM_FILL_FULL;
  mygemmDataType_t atype = MYGEMM_R_32F, dtype = MYGEMM_R_32F;
  std::optional<mygemmDataType_t> btype;
  bool pointers = false;

  void answer() const {
    // Used for comparison and alignment only, never dereferenced.
    alignas(256) static const char places[3][256] = {};
    static const void* const arrays[3] = {places[0], places[1], places[2]};
    const float alpha = 1, beta = reads_c ? 1 : 0;
    mygemmGemm_t call = MYGEMM_GEMM_INIT;
    call.transa = transa;
    call.transb = transb;
    call.m = m;
    call.n = n;
    call.k = k;
    call.batch_count = batch;
    call.atype = atype;
    call.btype = btype.value_or(atype);
    call.ctype = call.dtype = dtype;
    call.activation = activation;
    call.fill = fill;
    call.alpha = &alpha;
    call.beta = &beta;
    call.lda = lda.value_or(0);
    call.stride_a = stride_a;
    call.ldb = ldb.value_or(0);
    call.stride_b = stride_b;
    call.ldc = ldc.value_or(0);
    call.ldd = ldd.value_or(c_is_d ? call.ldc : 0);
    call.stride_c = stride_c.value_or(packed(at_least_1(call.ldc ? call.ldc : m), n, batch));
    call.stride_d = stride_d.value_or(packed(at_least_1(call.ldd ? call.ldd : m), n, batch));
    if (bias) call.bias = places[0];
    call.stride_bias = stride_bias;
    if (pointers) {
      call.C_array = c_is_d ? nullptr : arrays;
      call.D_array = const_cast<void* const*>(arrays) + 1;
    } else {
      call.C = c_is_d ? nullptr : places[1];
    }
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_gemm(handle.handle(), device_or_null(), &call, text, capacity, length);
    }));
  }
};

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

template <class Asked>
std::shared_ptr<Asked> add_question(CLI::App* explain, CLI::App** command, const char* name,
                                    Family family, const char* description) {
  const auto question = std::make_shared<Asked>();
  *command = explain->add_subcommand(name, description);
  CLI::Option* device =
      (*command)->add_option("--device", question->device,
                             "a GPU by name (H200, \"RTX 4090\") or architecture (sm_86), or "
                             "host; `mygemm info --devices` lists them; default: what this "
                             "machine would use");
  add_settings(*command, &question->settings, family);
  (*command)->get_option("--backend")->excludes(device);
  CLI::Option* json = (*command)->add_flag("--json", question->json, "the explanation as JSON");
  (*command)
      ->add_flag("--plot", question->bars, "a bar for each kernel, as long as it is fast")
      ->excludes(json);
  (*command)->callback([question] { question->answer(); });
  return question;
}

void add_product_options(CLI::App* command, SgemmQuestion* q) {
  add_choice(command, "--transa", &q->transa, kOperations, "op(A)");
  add_choice(command, "--transb", &q->transb, kOperations, "op(B)");
  command->add_option("-m", q->m, "rows of C")->required();
  command->add_option("-n", q->n, "columns of C")->required();
  command->add_option("-k", q->k, "columns of op(A), rows of op(B)")->required();
  command->add_option("--lda", q->lda, "leading dimensions (default: the smallest)");
  command->add_option("--ldb", q->ldb);
  command->add_option("--ldc", q->ldc);
  command->add_option("--batch", q->batch, "number of products");
  command->add_option("--stride-a", q->stride_a, "from one A to the next (default 0: the same)");
  command->add_option("--stride-b", q->stride_b);
  command->add_option("--stride-c", q->stride_c, "default: densely packed");
}

void add_sgemm_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q = add_question<SgemmQuestion>(explain, &command, "sgemm", Family::kGemm,
                                             "the plan of mygemm_sgemm (column-major)");
  add_product_options(command, q.get());
  // Pointer arrays have no explain function of their own: their plan is that of a strided batch.
  command
      ->add_option_function<std::string>(
          "--form", [](const std::string&) {}, "as the call log has it; does not matter here")
      ->check(CLI::IsMember({"single", "strided"}));
}

void add_gemm_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q =
      add_question<GemmQuestion>(explain, &command, "gemm", Family::kGemm,
                                 "the plan of mygemm_gemm: a product with C, bias, activation");
  add_product_options(command, q.get());
  command->add_option("--ldd", q->ldd, "leading dimension of D");
  command->add_option("--stride-d", q->stride_d, "default: densely packed");
  add_choice<bool>(command, "--form", &q->pointers,
                   {{"single", false}, {"strided", false}, {"pointers", true}},
                   "how the matrices are given");
  command->add_option("--bias", q->bias, "1: a value is added to each row of D");
  command->add_option("--stride-bias", q->stride_bias, "from one bias to the next (default 0)");
  add_choice<mygemmActivation_t>(command, "--activation", &q->activation,
                                 {{"none", MYGEMM_ACTIVATION_NONE},
                                  {"relu", MYGEMM_ACTIVATION_RELU},
                                  {"gelu", MYGEMM_ACTIVATION_GELU},
                                  {"relu-gradient", MYGEMM_ACTIVATION_RELU_GRADIENT},
                                  {"gelu-gradient", MYGEMM_ACTIVATION_GELU_GRADIENT}},
                                 "applied to each element last");
  add_choice<mygemmFill_t>(
      command, "--fill", &q->fill,
      {{"full", MYGEMM_FILL_FULL}, {"lower", MYGEMM_FILL_LOWER}, {"upper", MYGEMM_FILL_UPPER}},
      "all of D or a triangle");
  add_choice(command, "--atype", &q->atype, kElementTypes, "type of A");
  add_choice(command, "--btype", &q->btype, kElementTypes, "type of B (default: that of A)");
  add_choice(command, "--dtype", &q->dtype, kElementTypes, "type of C, D and the bias");
  command->add_option("--c-is-d", q->c_is_d, "0: C is another matrix than D");
  command->add_option("--reads-c", q->reads_c, "1: beta is not 0");
}

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
  add_sgemm_question(explain);
  add_gemm_question(explain);
  add_softmax_question(explain);
  add_cross_entropy_question(explain);
  add_transpose_question(explain);
}

}  // namespace mygemm::cli
