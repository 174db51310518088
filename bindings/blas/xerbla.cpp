// Finds xerbla_ and cblas_xerbla as a call would: the program's own first. See xerbla.h.
#include "xerbla.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace mygemm::blas {
namespace {

using Xerbla = void (*)(const char* routine, const int* position, size_t routine_length);
using CblasXerbla = void (*)(int position, const char* routine, const char* form, ...);
using MklXerbla = void (*)(const char* routine, int position);

// Exchanges two positions, as those of A and B in a row-major call.
int exchange(int position, int one, int other) {
  if (position == one) return other;
  return position == other ? one : position;
}

// Netlib's cblas_xerbla does this itself where its flag RowMajorStrg says so.
int exchanged_by_netlib(int position) { return exchange(exchange(position, 4, 5), 9, 11); }

}  // namespace

void call_xerbla(const char* routine, int position, const char* why) {
  if (auto* const xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, "xerbla_"))) {
    xerbla(routine, &position, std::strlen(routine));
    return;
  }
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n    %s\n",
               routine, position, why);
}

void call_cblas_xerbla(const char* routine, int position, bool row_major, const char* why) {
  if (row_major) position = exchanged_by_netlib(exchange(position, 8, 10));
  void* const found = dlsym(RTLD_DEFAULT, "cblas_xerbla");
  if (found == nullptr) {
    std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n%s\n", position, routine, why);
    return;
  }
  if (dlsym(RTLD_DEFAULT, "MKL_Get_Version") != nullptr) {  // oneMKL's has other parameters
    reinterpret_cast<MklXerbla>(found)(routine, position);
    return;
  }
  auto* const xerbla = reinterpret_cast<CblasXerbla>(found);
  auto* const row_major_flag = static_cast<int*>(dlsym(RTLD_DEFAULT, "RowMajorStrg"));
  const int flag_before = row_major_flag ? *row_major_flag : 0;
  if (row_major_flag) *row_major_flag = row_major ? 1 : 0;
  if (row_major_flag && row_major) position = exchanged_by_netlib(position);
  xerbla(position, routine, "%s\n", why);
  if (row_major_flag) *row_major_flag = flag_before;
}

}  // namespace mygemm::blas
