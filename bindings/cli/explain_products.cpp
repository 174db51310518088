// mygemm explain sgemm, gemm and gemm_grouped: see explain_command.cpp.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "question.h"

namespace mygemm::cli {
namespace {

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

  mygemmGemm_t descriptor() const {
    // Used for comparison and alignment only, never dereferenced.
    alignas(256) static const char places[3][256] = {};
    static const void* const arrays[3] = {places[0], places[1], places[2]};
    static const float zero = 0, one = 1;
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
    call.alpha = &one;
    call.beta = reads_c ? &one : &zero;
    call.lda = lda.value_or(0);
    call.stride_a = stride_a;
    call.ldb = ldb.value_or(0);
    call.stride_b = stride_b;
    call.ldc = ldc.value_or(0);
    call.ldd = ldd.value_or(c_is_d ? call.ldc : 0);
    call.stride_c = stride_c.value_or(packed(at_least_1(call.ldc ? call.ldc : m), n, batch));
    const int64_t packed_d = packed(at_least_1(call.ldd ? call.ldd : m), n, batch);
    call.stride_d = stride_d.value_or(c_is_d ? stride_c.value_or(packed_d) : packed_d);
    if (bias) call.bias = places[0];
    call.stride_bias = stride_bias;
    if (pointers) {
      call.C_array = c_is_d ? nullptr : arrays;
      call.D_array = const_cast<void* const*>(arrays) + 1;
    } else {
      call.C = c_is_d ? nullptr : places[1];
    }
    return call;
  }

  void answer() const {
    const mygemmGemm_t call = descriptor();
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_gemm(handle.handle(), device_or_null(), &call, text, capacity, length);
    }));
  }
};

// -m, -n and -k are the largest sizes of any product.
struct GroupedQuestion : GemmQuestion {
  std::vector<std::string> sizes_of;  // of "m", "n", "k"
  Extent total;                       // of the one of them along which matrices are stacked
  bool on_device = true;

  // The total divided as evenly as possible, where matrices are stacked, else the largest of all.
  std::vector<int64_t> sizes(int64_t most) const {
    std::vector<int64_t> result(static_cast<size_t>(std::max<int64_t>(0, batch)), most);
    for (int64_t i = 0; total && i < batch; ++i) {
      const int64_t share = *total / batch + (i < *total % batch ? 1 : 0);
      result[static_cast<size_t>(i)] = std::min(most, share);
    }
    return result;
  }

  void answer() const {
    mygemmGemm_t call = descriptor();
    mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
    groups.index_type = MYGEMM_INDEX_64I;
    groups.location = on_device ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
    groups.stacked = total ? 1 : 0;
    groups.total = total.value_or(0);
    const std::vector<int64_t> all_m = sizes(m), all_n = sizes(n), all_k = sizes(k);
    for (const std::string& size : sizes_of) {
      if (size == "m") groups.m = all_m.data();
      if (size == "n") groups.n = all_n.data();
      if (size == "k") groups.k = all_k.data();
    }
    if (total && !groups.k) {  // C and D are stacked: one matrix each
      call.stride_c = stride_c.value_or(0);
      call.stride_d = stride_d.value_or(c_is_d ? call.stride_c : 0);
    }
    const Session handle = session();
    print(explanation([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_gemm_grouped(handle.handle(), device_or_null(), &call, &groups, text,
                                         capacity, length);
    }));
  }
};

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

// The options of all general products.
void add_general_options(CLI::App* command, GemmQuestion* q) {
  add_product_options(command, q);
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
  add_choice(command, "--atype", &q->atype, kElementTypes, "type of A");
  add_choice(command, "--btype", &q->btype, kElementTypes, "type of B (default: that of A)");
  add_choice(command, "--dtype", &q->dtype, kElementTypes, "type of C, D and the bias");
  command->add_option("--c-is-d", q->c_is_d, "0: C is another matrix than D");
  command->add_option("--reads-c", q->reads_c, "1: beta is not 0");
}

void add_gemm_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q =
      add_question<GemmQuestion>(explain, &command, "gemm", Family::kGemm,
                                 "the plan of mygemm_gemm: a product with C, bias, activation");
  add_general_options(command, q.get());
  add_choice<mygemmFill_t>(
      command, "--fill", &q->fill,
      {{"full", MYGEMM_FILL_FULL}, {"lower", MYGEMM_FILL_LOWER}, {"upper", MYGEMM_FILL_UPPER}},
      "all of D or a triangle");
}

void add_grouped_question(CLI::App* explain) {
  CLI::App* command = nullptr;
  const auto q = add_question<GroupedQuestion>(
      explain, &command, "gemm_grouped", Family::kGrouped,
      "the plan of mygemm_gemm_grouped: a batch of products of different sizes");
  add_general_options(command, q.get());
  command
      ->add_option("--sizes-of", q->sizes_of,
                   "sizes that each product has of its own: m, n, k, or several, with commas; -m, "
                   "-n and -k are the largest")
      ->delimiter(',')
      ->check(CLI::IsMember({"m", "n", "k"}));
  command->add_option("--total", q->total,
                      "matrices are stacked along the size of --sizes-of, of which they have so "
                      "much together (where sizes are read: divided evenly)");
  add_choice<bool>(command, "--sizes-on", &q->on_device, {{"device", true}, {"host", false}},
                   "memory of the sizes; a plan knows those on the host (default: device)");
}

}  // namespace

void add_product_questions(CLI::App* explain) {
  add_sgemm_question(explain);
  add_gemm_question(explain);
  add_grouped_question(explain);
}

}  // namespace mygemm::cli
