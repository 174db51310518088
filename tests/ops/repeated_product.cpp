// Ops tests: see repeated_product.h.
#include "repeated_product.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr uint32_t kPoisonedElement = 0xffffffff;  // four bytes of kPoison

DeviceBuffer random_matrices(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.real(-1, 1));
  return DeviceBuffer(values.data(), values.size() * sizeof(float), 0);
}

}  // namespace

std::string RepeatedCase::text() const {
  std::ostringstream out;
  out << "m=" << m << " n=" << n << " k=" << k << " batch=" << batch;
  return out.str();
}

std::vector<RepeatedCase> products_to_repeat() {
  if (kBuild == Build::kGpu) {
    return {{1024, 1024, 1024, 1}, {513, 1025, 777, 1}, {64, 64, 50000, 1},
            {16, 4096, 4096, 1},   {1, 4096, 4096, 1},  {64, 64, 64, 100}};
  }
  return {{64, 64, 64, 1},   {33, 65, 49, 1},  {16, 16, 2000, 1},
          {16, 256, 256, 1}, {1, 256, 256, 1}, {16, 16, 16, 10}};
}

RepeatedProduct::RepeatedProduct(const RepeatedCase& shape)
    : shape_(shape),
      a_(random_matrices(shape.m * shape.k * shape.batch, 1)),
      b_(random_matrices(shape.k * shape.n * shape.batch, 2)),
      c_(static_cast<size_t>(shape.m * shape.n * shape.batch) * sizeof(float)),
      bits_(static_cast<size_t>(shape.m * shape.n * shape.batch)) {}

void RepeatedProduct::enqueue(mygemmHandle_t handle) const {
  const auto [m, n, k, batch] = shape_;
  const float alpha = 1.5f;
  const float beta = 0;
  const auto* a = a_.as<float>();
  const auto* b = b_.as<float>();
  const mygemmStatus_t status =
      batch == 1 ? mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, &alpha, a, m, b, k,
                                &beta, c_.as<float>(), m)
                 : mygemm_sgemm_strided_batched(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, &alpha,
                                                a, m, m * k, b, k, k * n, &beta, c_.as<float>(), m,
                                                m * n, batch);
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
}

void RepeatedProduct::repeat(int runs, const std::function<void()>& run) {
  for (int i = 0; i < runs; ++i) {
    c_.poison();
    synchronize();
    run();
    synchronize();
    c_.download(bits_.data());
    if (first_.empty()) {
      first_ = bits_;
      ASSERT_EQ(std::count(bits_.begin(), bits_.end(), kPoisonedElement), 0) << "C is not whole";
    }
    ASSERT_EQ(std::memcmp(bits_.data(), first_.data(), c_.bytes()), 0) << "run " << i + 1;
  }
}

}  // namespace mygemm_tests
