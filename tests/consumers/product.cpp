// A consumer of the library in C++11: a product on the host backend, exact in FP32.
#include <iostream>
#include <memory>
#include <vector>

#include <mygemm/mygemm.h>

int main() {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = MYGEMM_BACKEND_HOST;
  mygemmHandle_t raw = nullptr;
  if (mygemm_create_with_config(&raw, &config) != MYGEMM_STATUS_SUCCESS) {
    std::cerr << mygemm_last_error() << '\n';
    return 1;
  }
  const std::unique_ptr<mygemmContext, decltype(&mygemm_destroy)> handle(raw, mygemm_destroy);

  // C = A^T B with A = B = the k x n matrix whose element (l, j) is l + j.
  const int64_t n = 33, k = 17;
  std::vector<float> x(k * n), c(n * n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < k; ++l) x[l + j * k] = static_cast<float>(l + j);
  }
  const float one = 1, zero = 0;
  if (mygemm_sgemm(handle.get(), MYGEMM_OP_T, MYGEMM_OP_N, n, n, k, &one, x.data(), k, x.data(), k,
                   &zero, c.data(), n) != MYGEMM_STATUS_SUCCESS) {
    std::cerr << mygemm_last_error() << '\n';
    return 1;
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += (l + i) * (l + j);
      if (c[i + j * n] != static_cast<float>(sum)) {
        std::cerr << "C(" << i << ", " << j << ") = " << c[i + j * n] << ", not " << sum << '\n';
        return 1;
      }
    }
  }
  std::cout << "mygemm " << mygemm_version() << ": right\n";
}
