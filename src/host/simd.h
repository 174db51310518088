// Vectors of the host backend: which instruction sets this processor has, and vector types of any
// width in the compilers' common vector extension (GCC and clang, any processor).
//
// A kernel is an always-inline template over the vector width, and one function per instruction
// set, with a target attribute, that it is inlined into. Vectors travel by reference only: passed
// by value, their calling convention would depend on the instruction set.
#pragma once

#include <cstdint>
#include <cstring>

namespace mygemm::host {

enum class SimdLevel {
  kBaseline,  // whatever the compiler may assume: SSE2 on x86-64, NEON on AArch64
  kAvx2,      // with FMA
  kAvx512     // AVX512F
};

// The best instruction set that processor and operating system support; determined once.
SimdLevel simd_level();

template <int kWidth>
struct Simd {
  typedef float Float __attribute__((vector_size(kWidth * 4)));
  typedef double Double __attribute__((vector_size(kWidth * 8)));
  typedef int32_t Int __attribute__((vector_size(kWidth * 4)));
  typedef uint32_t Uint __attribute__((vector_size(kWidth * 4)));
  typedef uint16_t Short __attribute__((vector_size(kWidth * 2)));
};

// Unaligned loads and stores; the copy becomes one instruction.
template <class Vector, class T>
[[gnu::always_inline]] inline void load(Vector& vector, const T* from) {
  __builtin_memcpy(&vector, from, sizeof vector);
}
template <class Vector, class T>
[[gnu::always_inline]] inline void store(T* to, const Vector& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

// The bits of one vector (or scalar) as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] inline void copy_bits(To& to, const From& from) {
  static_assert(sizeof to == sizeof from);
  __builtin_memcpy(&to, &from, sizeof to);
}

}  // namespace mygemm::host
