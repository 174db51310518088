// ABI tests: every compute call with random arguments, legal and not, compared with rules.h: its
// status, the argument that its sentence names, and that a refused call writes nothing and a legal
// one only where it may. On the host backend, whose pointers are ordinary ones.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz_calls.h"
#include "rules.h"
#include "support/handle.h"
#include "support/memory.h"

namespace mygemm_tests {
namespace {

constexpr size_t kArenaBytes = 8192;
constexpr int kCases = 45000;  // of each kind of call below
constexpr int kFailuresShown = 3;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool names(const std::string& sentence, const std::string& argument) {
  for (size_t at = sentence.find(argument); at != std::string::npos;
       at = sentence.find(argument, at + 1)) {
    const size_t end = at + argument.size();
    const bool starts = at == 0 || !is_word_character(sentence[at - 1]);
    if (starts && (end == sentence.size() || !is_word_character(sentence[end]))) return true;
  }
  return false;
}

bool names_any(const std::string& sentence, const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& argument) { return names(sentence, argument); });
}

class FuzzArguments : public ::testing::Test {
 protected:
  FuzzArguments() : memory_(kArenaBytes), before_(kArenaBytes) {
    Random random(11);
    for (size_t i = 0; i < kArenaBytes; i += sizeof(float)) {
      const float value = static_cast<float>(random.real(-1, 1));
      std::memcpy(&before_[i], &value, sizeof value);
    }
  }

  unsigned char* begin() const { return memory_.as<unsigned char>(); }
  Arena arena() const { return {begin(), static_cast<int64_t>(kArenaBytes)}; }

  // Makes the call and compares its effects with the verdict; false on a difference.
  template <class Call, class F>
  bool check(const Call& call, F perform) {
    const Verdict expected = rules(call, arena());
    if (expected.outside_arena) return true;
    std::memcpy(begin(), before_.data(), kArenaBytes);
    const mygemmStatus_t status = perform(call);
    const std::string sentence = mygemm_last_error();
    if (expected.open) return true;
    ++(status == MYGEMM_STATUS_SUCCESS ? legal_ : refused_);
    if (status == MYGEMM_STATUS_SUCCESS && expected.interleaved) ++interleaved_;

    EXPECT_EQ(status, expected.status) << text(call) << "\n  last error: " << sentence;
    if (status != expected.status) return false;
    if (status != MYGEMM_STATUS_SUCCESS && !names_any(sentence, expected.culprits)) {
      ADD_FAILURE() << "\"" << sentence << "\" does not name " << expected.culprits.front() << ": "
                    << text(call);
      return false;
    }
    const bool may_write = status == MYGEMM_STATUS_SUCCESS && !expected.nothing_to_do;
    for (size_t byte = 0; byte < kArenaBytes; ++byte) {
      if (begin()[byte] == before_[byte] || (may_write && expected.writes[byte])) continue;
      ADD_FAILURE() << "byte " << byte << " of the arena at " << static_cast<void*>(begin())
                    << " was written: " << text(call);
      return false;
    }
    return true;
  }

  template <class Generate, class Perform>
  void run(Generate generate, Perform perform) {
    int failures = 0;
    for (int i = 0; i < kCases && failures < kFailuresShown; ++i) {
      if (!check(generate(), perform)) ++failures;
    }
    if (failures > 0) return;
    // The generator makes legal calls, illegal ones, and legal ones with interleaved operands.
    EXPECT_GT(legal_, kCases / 5);
    EXPECT_GT(refused_, kCases / 5);
    EXPECT_GT(interleaved_, kCases / 1000);
  }

  Handle handle_;

 private:
  DeviceBuffer memory_;
  std::vector<unsigned char> before_;
  int legal_ = 0;
  int refused_ = 0;
  int interleaved_ = 0;
};

mygemmOperation_t operation(int value) { return static_cast<mygemmOperation_t>(value); }
mygemmDataType_t data_type(int value) { return static_cast<mygemmDataType_t>(value); }

TEST_F(FuzzArguments, Sgemm) {
  CallGenerator generator(arena(), 1);
  run([&] { return generator.gemm(false); },
      [&](const GemmCall& c) {
        return mygemm_sgemm(handle_, operation(c.transa), operation(c.transb), c.m, c.n, c.k,
                            c.alpha, c.a, c.lda, c.b, c.ldb, c.beta, c.c, c.ldc);
      });
}

TEST_F(FuzzArguments, SgemmStridedBatched) {
  CallGenerator generator(arena(), 2);
  run([&] { return generator.gemm(true); },
      [&](const GemmCall& c) {
        return mygemm_sgemm_strided_batched(handle_, operation(c.transa), operation(c.transb), c.m,
                                            c.n, c.k, c.alpha, c.a, c.lda, c.stride_a, c.b, c.ldb,
                                            c.stride_b, c.beta, c.c, c.ldc, c.stride_c, c.batch);
      });
}

// As the general product's descriptor.
mygemmGemm_t descriptor(const GemmCall& c) {
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = c.transa;
  call.transb = c.transb;
  call.m = c.m;
  call.n = c.n;
  call.k = c.k;
  call.batch_count = c.batch;
  call.atype = c.types[0];
  call.btype = c.types[1];
  call.ctype = c.types[2];
  call.dtype = c.types[3];
  call.math = c.math;
  call.invariance = c.invariance;
  call.activation = c.activation;
  call.alpha = c.alpha;
  call.beta = c.beta;
  call.A = c.a;
  call.lda = c.lda;
  call.stride_a = c.stride_a;
  call.B = c.b;
  call.ldb = c.ldb;
  call.stride_b = c.stride_b;
  call.C = c.old_c;
  call.ldc = c.ld_old_c;
  call.stride_c = c.stride_old_c;
  call.D = c.c;
  call.ldd = c.ldc;
  call.stride_d = c.stride_c;
  call.bias = c.bias;
  call.stride_bias = c.stride_bias;
  call.aux = c.aux;
  call.ldaux = c.ldaux;
  call.stride_aux = c.stride_aux;
  call.sums = c.sums;
  call.stride_sums = c.stride_sums;
  call.sums_of = c.sums_of;
  call.fill = c.fill;
  return call;
}

TEST_F(FuzzArguments, Gemm) {
  for (const bool batched : {false, true}) {
    CallGenerator generator(arena(), batched ? 8 : 7);
    run([&] { return generator.general_gemm(batched); },
        [&](const GemmCall& c) {
          const mygemmGemm_t call = descriptor(c);
          return mygemm_gemm(handle_, &call);
        });
  }
}

TEST_F(FuzzArguments, GemmGrouped) {
  CallGenerator generator(arena(), 12);
  run([&] { return generator.grouped_gemm(); },
      [&](const GroupedCall& c) {
        const mygemmGemm_t call = descriptor(c);
        const GroupsOf groups(c);
        return mygemm_gemm_grouped(handle_, &call, groups.get());
      });
}

TEST_F(FuzzArguments, Softmax) {
  CallGenerator generator(arena(), 3);
  run([&] { return generator.softmax(false); },
      [&](const SoftmaxCall& c) {
        return mygemm_softmax(handle_, static_cast<mygemmSoftmaxMode_t>(c.mode), c.rows, c.cols,
                              c.scale, c.in, data_type(c.in_type), c.in_ld, c.out,
                              data_type(c.out_type), c.out_ld);
      });
}

TEST_F(FuzzArguments, SoftmaxBackward) {
  CallGenerator generator(arena(), 4);
  run([&] { return generator.softmax(true); },
      [&](const SoftmaxCall& c) {
        return mygemm_softmax_backward(handle_, static_cast<mygemmSoftmaxMode_t>(c.mode), c.rows,
                                       c.cols, c.scale, c.in, data_type(c.in_type), c.in_ld, c.dy,
                                       data_type(c.dy_type), c.dy_ld, c.out, data_type(c.out_type),
                                       c.out_ld);
      });
}

TEST_F(FuzzArguments, MaskedSoftmax) {
  for (const bool backward : {false, true}) {
    CallGenerator generator(arena(), backward ? 11 : 10);
    run([&] { return generator.masked_softmax(backward); },
        [&](const MaskedCall& c) {
          mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
          call.mode = c.mode;
          call.backward = c.backward_flag;
          call.rows = c.rows;
          call.cols = c.cols;
          call.group_rows = c.group_rows;
          call.batch_groups = c.batch_groups;
          call.x = backward ? c.x : c.in;
          call.xtype = backward ? c.x_type : c.in_type;
          call.ldx = backward ? c.x_ld : c.in_ld;
          call.y = backward ? const_cast<void*>(c.in) : c.out;
          call.ytype = backward ? c.in_type : c.out_type;
          call.ldy = backward ? c.in_ld : c.out_ld;
          call.dy = c.dy;
          call.dytype = c.dy_type;
          call.lddy = c.dy_ld;
          if (backward) {
            call.dx = c.out;
            call.dxtype = c.out_type;
            call.lddx = c.out_ld;
          }
          call.scale = c.scale;
          call.softcap = c.softcap;
          call.mask = c.mask;
          call.mask_type = c.mask_type;
          call.mask_stride_batch = c.mask_strides[0];
          call.mask_stride_group = c.mask_strides[1];
          call.mask_stride_row = c.mask_strides[2];
          call.mask_stride_col = c.mask_strides[3];
          call.lengths = c.lengths;
          call.lengths_type = c.lengths_type;
          call.lengths_stride_batch = c.lengths_strides[0];
          call.lengths_stride_group = c.lengths_strides[1];
          call.lengths_stride_row = c.lengths_strides[2];
          call.causal = c.causal;
          call.causal_offset = c.causal_offset;
          call.empty_rows = c.empty_rows;
          return mygemm_softmax_ex(handle_, &call);
        });
  }
}

TEST_F(FuzzArguments, CrossEntropy) {
  CallGenerator generator(arena(), 9);
  run([&] { return generator.cross_entropy(); },
      [&](const LossCall& c) {
        mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
        call.rows = c.rows;
        call.cols = c.cols;
        call.x = c.x;
        call.xtype = c.xtype;
        call.ldx = c.ldx;
        call.targets = c.targets;
        call.target_type = c.target_type;
        call.dx = c.dx;
        call.dxtype = c.dxtype;
        call.lddx = c.lddx;
        call.dloss = c.dloss;
        call.stride_dloss = c.stride_dloss;
        call.loss = c.loss;
        call.lse = c.lse;
        call.label_smoothing = c.smoothing;
        call.z_loss = c.z_loss;
        call.gradient_scale = c.scale;
        return mygemm_cross_entropy(handle_, &call);
      });
}

TEST_F(FuzzArguments, Transpose) {
  CallGenerator generator(arena(), 5);
  run([&] { return generator.transpose(false); },
      [&](const TransposeCall& c) {
        return mygemm_transpose(handle_, c.element_size, c.rows, c.cols, c.in, c.ldin, c.out,
                                c.ldout);
      });
}

TEST_F(FuzzArguments, TransposeStridedBatched) {
  CallGenerator generator(arena(), 6);
  run([&] { return generator.transpose(true); },
      [&](const TransposeCall& c) {
        return mygemm_transpose_strided_batched(handle_, c.element_size, c.rows, c.cols, c.in,
                                                c.ldin, c.stride_in, c.out, c.ldout, c.stride_out,
                                                c.batch);
      });
}

// The pointer-array form by hand: errors of the arrays and of the pointers in them.
TEST_F(FuzzArguments, SgemmBatched) {
  const float one = 1;
  float* matrices = reinterpret_cast<float*>(begin());
  const float* inputs[2] = {matrices, matrices + 16};
  float* outputs[2] = {matrices + 32, matrices + 48};
  const auto call = [&](const float* const* a, const float* const* b, float* const* c, int64_t k,
                        int64_t batch) {
    return mygemm_sgemm_batched(handle_, MYGEMM_OP_N, MYGEMM_OP_N, 2, 2, k, &one, a, 2, b, 2, &one,
                                c, 2, batch);
  };
  EXPECT_EQ(call(inputs, inputs, outputs, 2, 2), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(nullptr, nullptr, outputs, 0, 2), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(nullptr, nullptr, nullptr, 2, 0), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(inputs, inputs, outputs, 2, -1), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "batch_count"));
  EXPECT_EQ(call(nullptr, inputs, outputs, 2, 2), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "A"));
  EXPECT_EQ(call(inputs, nullptr, outputs, 2, 2), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "B"));
  EXPECT_EQ(call(inputs, inputs, nullptr, 2, 2), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "C"));
}

// The same of the general product, whose D has arrays of its own.
TEST_F(FuzzArguments, GemmOfPointerArrays) {
  const float one = 1;
  float* matrices = reinterpret_cast<float*>(begin());
  const void* inputs[2] = {matrices, matrices + 16};
  void* outputs[2] = {matrices + 32, matrices + 48};
  const auto call = [&](auto change) {
    mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
    gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.ldd = gemm.batch_count = 2;
    gemm.alpha = gemm.beta = &one;
    gemm.A_array = gemm.B_array = inputs;
    gemm.D_array = outputs;
    change(gemm);
    return mygemm_gemm(handle_, &gemm);
  };
  EXPECT_EQ(call([](mygemmGemm_t&) {}), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call([&](mygemmGemm_t& g) { g.C_array = inputs, g.ldc = 3; }), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call([&](mygemmGemm_t& g) { g.C_array = outputs, g.ldc = 2; }), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call([](mygemmGemm_t& g) { g.k = 0, g.A_array = g.B_array = nullptr; }),
            MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call([](mygemmGemm_t& g) { g.A_array = nullptr; }), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "A_array"));
  EXPECT_EQ(call([&](mygemmGemm_t& g) { g.C_array = outputs, g.ldc = 3; }),
            MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "ldc"));
  EXPECT_EQ(call([&](mygemmGemm_t& g) { g.C_array = inputs, g.ldc = 1; }),
            MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "ldc"));
  outputs[1] = nullptr;
  EXPECT_EQ(call([](mygemmGemm_t&) {}), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(names(mygemm_last_error(), "D_array"));
}

// And of grouped products, none of which may be NULL or without a size.
TEST_F(FuzzArguments, GroupsOfPointerArrays) {
  const float one = 1;
  float* matrices = reinterpret_cast<float*>(begin());
  const void* inputs[2] = {matrices, matrices + 16};
  void* outputs[2] = {matrices + 32, matrices + 48};
  int32_t sizes[2] = {2, 1}, lds[2] = {2, 3};
  const auto call = [&](auto change) {
    mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
    gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.batch_count = 2;
    gemm.alpha = gemm.beta = &one;
    gemm.A_array = gemm.B_array = inputs;
    gemm.D_array = outputs;
    mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
    groups.m = sizes;
    groups.ldd = lds;
    change(gemm, groups);
    return mygemm_gemm_grouped(handle_, &gemm, &groups);
  };
  const auto refused = [&](const char* argument, auto change) {
    EXPECT_EQ(call(change), MYGEMM_STATUS_INVALID_VALUE) << argument;
    EXPECT_TRUE(names(mygemm_last_error(), argument)) << argument;
  };
  using Gemm = mygemmGemm_t;
  using Groups = mygemmGroups_t;
  EXPECT_EQ(call([](Gemm&, Groups&) {}), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  refused("B_array", [](Gemm& gemm, Groups&) { gemm.B_array = nullptr; });
  refused("stacked", [](Gemm&, Groups& groups) { groups.ldd = nullptr, groups.stacked = 1; });
  refused("struct_size", [](Gemm&, Groups& groups) { groups.struct_size -= 8; });
  lds[0] = 1;
  refused("ldd", [](Gemm&, Groups&) {});
  lds[0] = 2, sizes[1] = 3;
  refused("m", [](Gemm&, Groups&) {});
  sizes[1] = 1, outputs[1] = nullptr;
  refused("D_array", [](Gemm&, Groups&) {});
}

}  // namespace
}  // namespace mygemm_tests
