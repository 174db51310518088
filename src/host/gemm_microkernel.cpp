// Micro-kernels of host_blocked for AVX-512, AVX2 and the baseline: one template, three widths.
// Host backend; see gemm_microkernel.h. Each element of D is one chain of multiply-adds along k,
// so its bits do not depend on where tiles, blocks or threads begin.
#include "host/gemm_microkernel.h"

#include <algorithm>

#include "host/simd.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

template <int kGroup, class Type>
void pack_elements(const Strip& strip, int64_t width, int64_t depth, float* packed) {
  using Element = typename Type::Storage;
  for (int64_t i0 = 0; i0 < width; i0 += kGroup, packed += kGroup * depth) {
    const Element* from = static_cast<const Element*>(strip.data) + i0 * strip.across;
    const int64_t valid = std::min<int64_t>(kGroup, width - i0);
    if (valid < kGroup) {
      std::fill_n(packed, kGroup * depth, 0.0f);
      for (int64_t l = 0; l < depth; ++l) {
        for (int64_t i = 0; i < valid; ++i) {
          packed[l * kGroup + i] = load_float<Type>(from + i * strip.across + l * strip.along);
        }
      }
    } else if (strip.across == 1) {
      for (int64_t l = 0; l < depth; ++l) {
        const Element* column = from + l * strip.along;
        if constexpr (std::is_same_v<Type, Fp32>) {
          __builtin_memcpy(packed + l * kGroup, column, kGroup * sizeof(float));
        } else {
          for (int i = 0; i < kGroup; ++i) packed[l * kGroup + i] = load_float<Type>(column + i);
        }
      }
    } else {
      // A transposition: reads whole cache lines; the lines being written stay in the first cache.
      constexpr int64_t kLine = 16;
      for (int64_t l0 = 0; l0 < depth; l0 += kLine) {
        const int64_t end = std::min(depth, l0 + kLine);
        for (int64_t i = 0; i < kGroup; ++i) {
          const Element* line = from + i * strip.across;
          for (int64_t l = l0; l < end; ++l) packed[l * kGroup + i] = load_float<Type>(line + l);
        }
      }
    }
  }
}

template <int kGroup>
void pack(const Strip& strip, int64_t width, int64_t depth, float* packed) {
  with_type(strip.type,
            [&](auto type) { pack_elements<kGroup, decltype(type)>(strip, width, depth, packed); });
}

// A tile of kVectors * kWidth rows and kColumns columns; the accumulators fill the registers but
// for one column of A and one element of B.
template <int kWidth, int kVectors, int kColumns>
[[gnu::always_inline]] inline void multiply(int64_t depth, const float* a, const float* b,
                                            float alpha, float beta, const float* c, int64_t ldc,
                                            float* d, int64_t ldd) {
  using Float = typename Simd<kWidth>::Float;
  constexpr int kRows = kVectors * kWidth;
  static_assert(kRows * kColumns <= kMaxTileElements);

  Float sum[kColumns][kVectors] = {};
  for (int64_t l = 0; l < depth; ++l, a += kRows, b += kColumns) {
    Float column[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) load(column[v], a + v * kWidth);
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[j][v] += column[v] * b[j];
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j, c += ldc, d += ldd) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Float result = alpha * sum[j][v];
      if (beta != 0.0f) {
        Float old;
        load(old, c + v * kWidth);
        result += beta * old;
      }
      store(d + v * kWidth, result);
    }
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void run_avx512(int64_t depth, const float* a, const float* b,
                                           float alpha, float beta, const float* c, int64_t ldc,
                                           float* d, int64_t ldd) {
  multiply<16, 2, 12>(depth, a, b, alpha, beta, c, ldc, d, ldd);
}
[[gnu::target("avx2,fma")]] void run_avx2(int64_t depth, const float* a, const float* b,
                                          float alpha, float beta, const float* c, int64_t ldc,
                                          float* d, int64_t ldd) {
  multiply<8, 2, 6>(depth, a, b, alpha, beta, c, ldc, d, ldd);
}
#endif
void run_baseline(int64_t depth, const float* a, const float* b, float alpha, float beta,
                  const float* c, int64_t ldc, float* d, int64_t ldd) {
  multiply<4, 2, 6>(depth, a, b, alpha, beta, c, ldc, d, ldd);
}

constexpr MicroKernel kBaseline{8, 6, pack<8>, pack<6>, run_baseline};
#if defined(__x86_64__)
constexpr MicroKernel kAvx2{16, 6, pack<16>, pack<6>, run_avx2};
constexpr MicroKernel kAvx512{32, 12, pack<32>, pack<12>, run_avx512};
#endif

}  // namespace

const MicroKernel& micro_kernel() {
#if defined(__x86_64__)
  if (simd_level() == SimdLevel::kAvx512) return kAvx512;
  if (simd_level() == SimdLevel::kAvx2) return kAvx2;
#endif
  return kBaseline;
}

}  // namespace mygemm::host
