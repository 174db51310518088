// Grouped products: one case as a Contest. The peer is a loop over the products, each a call of
// mygemm_gemm, which must know the sizes: the ratio says what one call for all gains.
#include <cstddef>
#include <vector>

#include "gemm.h"
#include "values.h"

namespace bench {
namespace {

// The sizes of all products: m's, then n's, then k's, in the memory that the case says.
class Sizes {
 public:
  Sizes(const Machine& machine, const GroupedCase& c) : case_(c) {
    for (int64_t i = 0; i < c.batch; ++i) products_.push_back(sizes_of_product(c, i));
    for (int64_t ProductSizes::*const size :
         {&ProductSizes::m, &ProductSizes::n, &ProductSizes::k}) {
      for (const ProductSizes& product : products_) {
        on_host_.push_back(static_cast<int32_t>(product.*size));
      }
    }
    if (on_device()) {
      on_device_ = Buffer(machine, on_host_.size() * sizeof(int32_t));
      machine.copy_from_host(on_device_.data(), on_host_.data(), on_device_.bytes());
    }
  }

  const std::vector<ProductSizes>& products() const { return products_; }

  mygemmGroups_t groups() const {
    mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
    groups.index_type = MYGEMM_INDEX_32I;
    groups.location = on_device() ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
    groups.stacked = case_.total ? 1 : 0;
    groups.total = case_.total.value_or(0);
    const void* const begin = on_device() ? static_cast<const void*>(on_device_.data())
                                          : static_cast<const void*>(on_host_.data());
    const auto array = [&](int64_t number) {
      return static_cast<const int32_t*>(begin) + number * case_.batch;
    };
    for (const std::string& size : case_.sizes_of) {
      if (size == "m") groups.m = array(0);
      if (size == "n") groups.n = array(1);
      if (size == "k") groups.k = array(2);
    }
    return groups;
  }

 private:
  bool on_device() const { return case_.sizes_on == "device"; }

  const GroupedCase& case_;
  std::vector<ProductSizes> products_;
  std::vector<int32_t> on_host_;
  Buffer on_device_;
};

// Elements from a matrix of a product to that of the next, or, where they are stacked, from one of
// the stacked size to the next.
struct Steps {
  int64_t a, b, c, d;
};

Steps steps_of(const GroupedCase& c) {
  const bool transa = c.transa != "N", transb = c.transb != "N";
  if (c.stacks("m")) return {transa ? c.lda : 1, *c.stride_b, 1, 1};
  if (c.stacks("n")) return {*c.stride_a, transb ? 1 : c.ldb, c.ldc, c.ldd};
  if (c.stacks("k")) {
    return {transa ? 1 : c.lda, transb ? c.ldb : 1, *c.stride_c, *c.stride_d};
  }
  return {*c.stride_a, *c.stride_b, *c.stride_c, *c.stride_d};
}

const void* moved(const void* data, int64_t elements, int32_t type) {
  const auto size = static_cast<int64_t>(type_bytes(static_cast<mygemmDataType_t>(type)));
  return data == nullptr ? nullptr : static_cast<const std::byte*>(data) + elements * size;
}

// Product number `product` of a call whose matrices are found by strides.
mygemmGemm_t product_of(const GroupedCase& c, mygemmGemm_t call, const ProductSizes& sizes,
                        int64_t product) {
  const Steps steps = steps_of(c);
  const auto offset = [&](bool stacked, int64_t step) {
    return step * (stacked ? sizes.before : product);
  };
  const bool stacks_d = c.stacks("m") || c.stacks("n");
  call.m = sizes.m;
  call.n = sizes.n;
  call.k = sizes.k;
  call.batch_count = 1;
  call.A = moved(call.A, offset(c.stacks("m") || c.stacks("k"), steps.a), call.atype);
  call.B = moved(call.B, offset(c.stacks("n") || c.stacks("k"), steps.b), call.btype);
  call.C = moved(call.C, offset(stacks_d, steps.c), call.ctype);
  call.D = const_cast<void*>(moved(call.D, offset(stacks_d, steps.d), call.dtype));
  call.bias = moved(call.bias, product * call.stride_bias, call.dtype);
  call.stride_a = call.stride_b = call.stride_c = call.stride_d = call.stride_bias = 0;
  return call;
}

}  // namespace

Result measure(Session* session, const GroupedCase& c) {
  const Machine& machine = session->machine;
  session->library.set_invariance(c.invariance);
  const GemmCase whole = with_total(c);
  const int64_t set_bytes = FusedProduct::bytes_of_a_set(whole);
  const int64_t sets = rotation_sets(machine, set_bytes, session->options.hot);
  const FusedProduct fused(machine, whole, sets);
  const Sizes sizes(machine, c);
  const mygemmGroups_t groups = sizes.groups();
  const auto call_of = [&fused, &c](int64_t i) {
    mygemmGemm_t call = fused.call(i);
    call.m = c.m;
    call.n = c.n;
    call.k = c.k;
    return call;
  };
  Contest contest = contest_of(c, fused.plain(), sets, set_bytes);
  contest.family = Family::kGrouped;
  contest.prepare = [&] { fused.prepare(machine); };
  contest.ours = [&](mygemmHandle_t handle) -> Call {
    return [&call_of, &groups, handle](int64_t i) {
      const mygemmGemm_t call = call_of(i);
      check(mygemm_gemm_grouped(handle, &call, &groups), "mygemm_gemm_grouped");
    };
  };
  contest.workspace_size = [&](mygemmHandle_t handle, size_t* wanted) {
    const mygemmGemm_t call = call_of(0);
    return mygemm_gemm_grouped_workspace_size(handle, &call, &groups, wanted);
  };
  contest.explain = [&](mygemmHandle_t handle, char* text, size_t capacity, size_t* length) {
    const mygemmGemm_t call = call_of(0);
    return mygemm_explain_gemm_grouped(handle, nullptr, &call, &groups, text, capacity, length);
  };
  mygemmHandle_t handle = session->library.handle(Family::kGemm, "");
  contest.peer_names = {"loop", kNaive};
  contest.peers.push_back({"loop",
                           [&c, &fused, &sizes, handle](int64_t i) {
                             const mygemmGemm_t call = fused.strided_call(i);
                             int64_t number = 0;
                             for (const ProductSizes& product : sizes.products()) {
                               const mygemmGemm_t one = product_of(c, call, product, number++);
                               check(mygemm_gemm(handle, &one), "mygemm_gemm");
                             }
                           },
                           true});
  return run_contest(session, contest);
}

}  // namespace bench
