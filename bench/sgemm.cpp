// See sgemm.h.
#include "sgemm.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "values.h"

namespace bench {
namespace {

Extent extent_of_a(const SgemmCase& c) {
  return Extent(c.lda, c.transa == "N" ? c.k : c.m, *c.stride_a, c.batch);
}
Extent extent_of_b(const SgemmCase& c) {
  return Extent(c.ldb, c.transb == "N" ? c.n : c.k, *c.stride_b, c.batch);
}
Extent extent_of_c(const SgemmCase& c) { return Extent(c.ldc, c.n, *c.stride_c, c.batch); }

int64_t type_size(const std::string& type) {
  return static_cast<int64_t>(type_bytes(data_type(type)));
}

// Fills the matrices of a batch, or the one that they are; the gaps between columns stay as they
// are.
void fill(const Machine& machine, const RotatedOperand& operand, const Extent& extent,
          const Distribution& kind, Side side, const Lines& lines, int64_t stride, int64_t count) {
  constexpr uint32_t kSeed = 1;
  std::vector<float> image(static_cast<size_t>(extent.elements));
  machine.copy_to_host(image.data(), operand.first(), operand.bytes());
  for (int64_t i = 0; i < (stride == 0 ? 1 : count); ++i) {
    fill_matrix(kind, kSeed, side, lines, i * lines.count, &image[0] + extent.lead + i * stride);
  }
  operand.replace(image.data());
}

}  // namespace

bool fits_int(const SgemmCase& c) {
  return std::max({c.m, c.n, c.k, c.lda, c.ldb, c.ldc, c.batch}) <= INT_MAX;
}

mygemmOperation_t operation(const std::string& name) {
  return name == "N" ? MYGEMM_OP_N : name == "T" ? MYGEMM_OP_T : MYGEMM_OP_C;
}

Extent::Extent(int64_t ld, int64_t columns, int64_t stride, int64_t count)
    : elements(std::abs(stride) * (count - 1) + ld * columns),
      lead(stride < 0 ? -stride * (count - 1) : 0) {}

RotatedOperand operand(const Machine& machine, const Extent& extent, int64_t sets, uint32_t seed,
                       mygemmDataType_t type) {
  return RotatedOperand(machine, type, extent.elements, extent.lead, sets, seed);
}

void add_peers(Session* session, const SgemmCase& c, const Product& product, bool same_result,
               Contest* contest) {
  const BlasGemm gemm = blas_gemm(c);
  const auto add = [&](const std::string& name, Call call) {
    contest->peer_names.push_back(name);
    if (fits_int(c)) {
      contest->peers.push_back({name, std::move(call), same_result});
    }
  };
  const auto add_cublas = [&](const std::string& name, Cublas* cublas) {
    if (cublas != nullptr) {
      add(name, [&product, cublas, gemm](int64_t i) { product.call_cublas(cublas, gemm, i); });
    }
  };
  add_cublas("cublas", session->cublas.get());
  add_cublas("cublas_pedantic", session->cublas_pedantic.get());
  if (const Cblas* cblas = session->cblas.get()) {
    // The pointers of a pointer-batched call are one stride apart as well.
    add(cblas->name(), [&product, cblas, gemm](int64_t i) {
      cblas->sgemm(gemm, product.a(i), product.b(i), product.out(i));
    });
  }
  contest->peer_names.push_back(kNaive);
}

Product::Product(const Machine& machine, const SgemmCase& c, int64_t sets)
    : c_(c),
      a_(operand(machine, extent_of_a(c), sets, 1, data_type(c.atype))),
      b_(operand(machine, extent_of_b(c), sets, 2, data_type(c.btype))),
      out_(operand(machine, extent_of_c(c), sets, 3, data_type(c.dtype))) {
  if (c.data != kUsualData) {
    if (!c.fp32_operands()) throw std::runtime_error("--data is for operands of FP32");
    const Distribution& kind = distribution(c.data);
    fill(machine, a_, extent_of_a(c), kind, Side::kA, {c.m, c.k, c.transa != "N", c.lda},
         *c.stride_a, c.batch);
    fill(machine, b_, extent_of_b(c), kind, Side::kB, {c.n, c.k, c.transb == "N", c.ldb},
         *c.stride_b, c.batch);
  }
  if (c.form == "pointers") {
    a_pointers_ = PointerArrays(machine, a_, sets, c.batch, *c.stride_a * type_size(c.atype));
    b_pointers_ = PointerArrays(machine, b_, sets, c.batch, *c.stride_b * type_size(c.btype));
    out_pointers_ = PointerArrays(machine, out_, sets, c.batch, *c.stride_c * type_size(c.dtype));
  }
}

int64_t Product::bytes_of_a_set(const SgemmCase& c) {
  return type_size(c.atype) * extent_of_a(c).elements +
         type_size(c.btype) * extent_of_b(c).elements +
         type_size(c.dtype) * extent_of_c(c).elements;
}

mygemmStatus_t Product::call_ours(mygemmHandle_t handle, int64_t i) const {
  const mygemmOperation_t transa = operation(c_.transa), transb = operation(c_.transb);
  if (c_.form == "pointers") {
    return mygemm_sgemm_batched(handle, transa, transb, c_.m, c_.n, c_.k, &kAlpha, a_pointers(i),
                                c_.lda, b_pointers(i), c_.ldb, &kBeta, out_pointers(i), c_.ldc,
                                c_.batch);
  }
  if (c_.form == "strided") {
    return mygemm_sgemm_strided_batched(handle, transa, transb, c_.m, c_.n, c_.k, &kAlpha, a(i),
                                        c_.lda, *c_.stride_a, b(i), c_.ldb, *c_.stride_b, &kBeta,
                                        out(i), c_.ldc, *c_.stride_c, c_.batch);
  }
  return mygemm_sgemm(handle, transa, transb, c_.m, c_.n, c_.k, &kAlpha, a(i), c_.lda, b(i), c_.ldb,
                      &kBeta, out(i), c_.ldc);
}

void Product::call_cublas(Cublas* cublas, const BlasGemm& gemm, int64_t i) const {
  if (c_.form == "pointers") {
    cublas->sgemm_batched(gemm, a_pointers(i), b_pointers(i), out_pointers(i));
  } else if (c_.form == "strided") {
    cublas->sgemm_strided_batched(gemm, a(i), b(i), out(i));
  } else {
    cublas->sgemm(gemm, a(i), b(i), out(i));
  }
}

BlasGemm blas_gemm(const SgemmCase& c) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {c.transa != "N", c.transb != "N", narrow(c.m),   narrow(c.n),    narrow(c.k),
          Product::kAlpha, Product::kBeta,  narrow(c.lda), narrow(c.ldb),  narrow(c.ldc),
          *c.stride_a,     *c.stride_b,     *c.stride_c,   narrow(c.batch)};
}

Contest product_contest(Session* session, const SgemmCase& c, const Product& product,
                        int64_t sets) {
  const Machine& machine = session->machine;
  session->library.set_invariance(c.invariance);
  Contest contest = contest_of(c, product, sets, Product::bytes_of_a_set(c));
  contest.prepare = [&machine, &product] {
    machine.fill_bytes(product.output().first(), 0xff, product.output().bytes());  // NaN
  };
  contest.ours = [&product](mygemmHandle_t handle) -> Call {
    return [&product, handle](int64_t i) { check(product.call_ours(handle, i), "mygemm_sgemm"); };
  };
  contest.workspace_size = [&c](mygemmHandle_t handle, size_t* bytes) {
    return mygemm_sgemm_workspace_size(handle, operation(c.transa), operation(c.transb), c.m, c.n,
                                       c.k, c.batch, bytes);
  };
  contest.explain = [&c, &product](mygemmHandle_t handle, char* text, size_t capacity,
                                   size_t* length) {
    return mygemm_explain_sgemm(handle, nullptr, operation(c.transa), operation(c.transb), c.m, c.n,
                                c.k, product.a(0), c.lda, *c.stride_a, product.b(0), c.ldb,
                                *c.stride_b, product.out(0), c.ldc, *c.stride_c, c.batch, text,
                                capacity, length);
  };
  add_peers(session, c, product, /*same_result=*/true, &contest);
  return contest;
}

Result measure(Session* session, const SgemmCase& c) {
  const Machine& machine = session->machine;
  const int64_t sets = rotation_sets(machine, Product::bytes_of_a_set(c), session->options.hot);
  const Product product(machine, c, sets);
  return run_contest(session, product_contest(session, c, product, sets));
}

}  // namespace bench
