// Matrix products of a warp on tensor cores (mma.sync), operands in registers. Lowest SM: 80.
// Device only.
#pragma once

namespace mygemm::ptx {

// mma.sync.m16n8k16: d += a b of BF16 or FP16 values, with sums in FP32. With g = lane / 4 and t =
// lane % 4 a lane has of A, in pairs of neighbours along k, row g from k = 2t on, row g + 8 there,
// row g from k = 2t + 8 on, row g + 8 there; of B column g from k = 2t on, and from k = 2t + 8 on;
// of D columns 2t and 2t + 1 of row g, then of row g + 8.
template <bool kBf16>
__device__ __forceinline__ void mma_16(float (&d)[4], const unsigned (&a)[4],
                                       const unsigned (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();
#else
  if constexpr (kBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
}

}  // namespace mygemm::ptx
