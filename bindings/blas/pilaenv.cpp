// pilaenv_ of ScaLAPACK's PBLAS: the size of the parts that it cuts the k of its products to, each
// of which is a call of sgemm_. Its own is 32, with which no product is worth the way to a GPU.
#include <dlfcn.h>

#include "settings.h"

namespace {

using Pilaenv = int (*)(const int* context, const char* precision);

int block_of_pblas(const int* context, const char* precision) {
  static const auto next = reinterpret_cast<Pilaenv>(dlsym(RTLD_NEXT, "pilaenv_"));
  constexpr int kOfAllReleases = 32;
  return next ? next(context, precision) : kOfAllReleases;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int pilaenv_(const int* context, const char* precision) {
  const int block = mygemm::blas::pblas_block();
  const bool single_precision = *precision == 'S' || *precision == 's';
  return single_precision && block > 0 ? block : block_of_pblas(context, precision);
}
