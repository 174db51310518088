// Products on the host. See host.h.
#include "host.h"

#include <cstdint>

#include "host_handle.h"
#include "mygemm/mygemm.h"

namespace mygemm::blas {
namespace {

thread_local bool inside = false;

// The loops of the reference BLAS.
void multiply_plainly(const Product& p) {
  for (int64_t j = 0; j < p.n; ++j) {
    float* const c = p.c + j * p.ldc;
    for (int64_t i = 0; i < p.m && p.beta != 1.0f; ++i) c[i] = p.beta == 0 ? 0 : p.beta * c[i];
    for (int64_t l = 0; l < p.k && p.reads_inputs(); ++l) {
      const float factor = p.alpha * *p.b_at(l, j);
      for (int64_t i = 0; i < p.m; ++i) c[i] += factor * *p.a_at(i, l);
    }
  }
}

bool multiply_with_handle(const Product& p) {
  const mygemmHandle_t handle = host_handle();
  return handle != nullptr &&
         mygemm_sgemm(handle, operation(p.transa), operation(p.transb), p.m, p.n, p.k, &p.alpha,
                      p.a, p.lda, p.b, p.ldb, &p.beta, p.c, p.ldc) == MYGEMM_STATUS_SUCCESS;
}

}  // namespace

bool inside_host_call() { return inside; }

void multiply_on_host(const Product& product) {
  const bool nested = inside;
  inside = true;
  if (!multiply_with_handle(product)) multiply_plainly(product);
  inside = nested;
}

}  // namespace mygemm::blas
