// See multiply.h.
#include "multiply.h"

#include "host.h"
#include "host/host.h"
#include "offload.h"
#include "offload_cost.h"
#include "settings.h"

namespace mygemm::blas {
namespace {

bool wants_gpu(const Product& p) {
  if (!p.reads_inputs() || inside_host_call()) return false;
  const ProductShape shape{p.m, p.n, p.k, p.beta != 0.0f};
  switch (offload_choice()) {
    case OffloadChoice::kAlways: return true;
    case OffloadChoice::kNever: return false;
    case OffloadChoice::kBySize: return is_worth_by_size(kMeasuredRates, shape);
    case OffloadChoice::kAuto: break;
  }
  static OffloadDecision decision(kMeasuredRates);
  return offload_is_possible() && decision.worth(shape, host::num_threads());
}

}  // namespace

bool multiply(const Product& product) {
  if (wants_gpu(product) && multiply_on_gpu(product)) return true;
  multiply_on_host(product);
  return false;
}

}  // namespace mygemm::blas
