// The sgemm of another BLAS that the host backend calls. Host backend.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace mygemm::host {

// Fortran's sgemm reads its sizes from memory: where the low half of a number comes first, one
// that takes 32-bit integers and one that takes 64-bit ones read the same.
using BlasInteger =
    std::conditional_t<std::endian::native == std::endian::little, int64_t, int32_t>;

// The last two arguments are the lengths of the strings.
using FortranSgemm = void (*)(const char* transa, const char* transb, const BlasInteger* m,
                              const BlasInteger* n, const BlasInteger* k, const float* alpha,
                              const float* a, const BlasInteger* lda, const float* b,
                              const BlasInteger* ldb, const float* beta, float* c,
                              const BlasInteger* ldc, size_t, size_t);

struct BlasLibrary {
  std::string name;  // of its file
  FortranSgemm sgemm = nullptr;
  bool has_openmp_threads = false;
};

// The BLAS that the process has loaded, the first in the order in which its libraries were loaded.
// Only where there is none, one that the machine has, by dlopen: it would bring threads of its own.
// None where that first one is slower than the loops of this backend: the reference BLAS, and those
// that have no CBLAS, which cannot be told from it.
BlasLibrary find_blas_library();

}  // namespace mygemm::host
