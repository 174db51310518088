// Matrix products of a warpgroup on the tensor cores (wgmma). SM 90a; elsewhere every function
// stops the kernel, and the plan chooses no kernel that calls one. Device only.
//
// All warps of a warpgroup call every function together. Products run asynchronously: between
// wgmma_commit() and the wgmma_wait() for it the warps may not touch the registers that products
// write, nor change those that they read, nor may the shared memory that they read be written.
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// wgmma.fence: registers that were written before are seen by the products that follow.
__device__ __forceinline__ void wgmma_fence() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// wgmma.commit_group: the products since the last one become a group.
__device__ __forceinline__ void wgmma_commit() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// wgmma.wait_group: until all of the warpgroup's products are done but those of the last kPending
// groups. `d` holds their results, of which the compiler may not use earlier values.
template <int kPending = 0, int kCount>
__device__ __forceinline__ void wgmma_wait(float (&d)[kCount]) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
#endif
}

// The lower half of the descriptor of a K-major matrix of B in shared memory: address and leading
// stride in units of 16 bytes. One more is 16 bytes of k further on. The matrix has columns of 32
// elements, contiguous along k: 128 bytes of floats, swizzled as swizzle.h says, or 64 bytes of
// BF16 values, where chunk c of 16 bytes of the r-th column lies where c ^ (r / 2 % 4) would.
// `address` is that of shared_address(), a multiple of 1024, plus the bytes of each k that is left
// out (a multiple of 32).
__device__ __forceinline__ unsigned wgmma_matrix(unsigned address) {
  constexpr unsigned kLeadingStride = 1;
  return kLeadingStride << 16 | address >> 4;
}
// The same of an MN-major matrix of BF16 values: blocks of 32 columns, 2048 bytes apart, which have
// 64 bytes for each of 32 k, swizzled as those of columns are. 1024 bytes are 16 k.
__device__ __forceinline__ unsigned wgmma_matrix_mn(unsigned address) {
  constexpr unsigned kLeadingStride = 2048 / 16;
  return kLeadingStride << 16 | address >> 4;
}
// The upper halves. 8 columns of floats are 1024 bytes apart, swizzle of 128 bytes; 8 columns, or 8
// k of 32 columns, of BF16 values are 512 bytes apart, swizzle of 64 bytes.
constexpr unsigned kWgmmaMatrix = 1024 / 16 | 1u << 30;
constexpr unsigned kWgmmaMatrixBf16 = 512 / 16 | 2u << 30;

// The registers of results in wgmma instructions.
#define WGMMA_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA_NAMES_16 WGMMA_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_24 WGMMA_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WGMMA_NAMES_32 WGMMA_NAMES_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_40 WGMMA_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WGMMA_NAMES_48 WGMMA_NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_NAMES_56 WGMMA_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WGMMA_NAMES_64 WGMMA_NAMES_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_NAMES_72 WGMMA_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WGMMA_NAMES_80 WGMMA_NAMES_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_NAMES_88 WGMMA_NAMES_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WGMMA_NAMES_96 WGMMA_NAMES_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_NAMES_104 WGMMA_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define WGMMA_NAMES_112 WGMMA_NAMES_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_NAMES_120 WGMMA_NAMES_112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define WGMMA_NAMES_128 WGMMA_NAMES_120 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_RESULTS_8(i)                                                                    \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define WGMMA_RESULTS_16(i) WGMMA_RESULTS_8(i), WGMMA_RESULTS_8(i + 8)
#define WGMMA_RESULTS_24(i) WGMMA_RESULTS_16(i), WGMMA_RESULTS_8(i + 16)
#define WGMMA_RESULTS_32(i) WGMMA_RESULTS_24(i), WGMMA_RESULTS_8(i + 24)
#define WGMMA_RESULTS_40(i) WGMMA_RESULTS_32(i), WGMMA_RESULTS_8(i + 32)
#define WGMMA_RESULTS_48(i) WGMMA_RESULTS_40(i), WGMMA_RESULTS_8(i + 40)
#define WGMMA_RESULTS_56(i) WGMMA_RESULTS_48(i), WGMMA_RESULTS_8(i + 48)
#define WGMMA_RESULTS_64(i) WGMMA_RESULTS_56(i), WGMMA_RESULTS_8(i + 56)
#define WGMMA_RESULTS_72(i) WGMMA_RESULTS_64(i), WGMMA_RESULTS_8(i + 64)
#define WGMMA_RESULTS_80(i) WGMMA_RESULTS_72(i), WGMMA_RESULTS_8(i + 72)
#define WGMMA_RESULTS_88(i) WGMMA_RESULTS_80(i), WGMMA_RESULTS_8(i + 80)
#define WGMMA_RESULTS_96(i) WGMMA_RESULTS_88(i), WGMMA_RESULTS_8(i + 88)
#define WGMMA_RESULTS_104(i) WGMMA_RESULTS_96(i), WGMMA_RESULTS_8(i + 96)
#define WGMMA_RESULTS_112(i) WGMMA_RESULTS_104(i), WGMMA_RESULTS_8(i + 104)
#define WGMMA_RESULTS_120(i) WGMMA_RESULTS_112(i), WGMMA_RESULTS_8(i + 112)
#define WGMMA_RESULTS_128(i) WGMMA_RESULTS_120(i), WGMMA_RESULTS_8(i + 120)
// An instruction with kCount results of a lane. Its other operands have the numbers from kCount on:
// four registers of A, the descriptor of B, whether to add; then `options`, as text that ends the
// list, whose one operand is `option`.
#define WGMMA(kCount, type, a0, a1, a2, a3, b, adds, options, option)                 \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " adds                           \
               ", 0;\n"                                                               \
               "wgmma.mma_async.sync.aligned." type " {" WGMMA_NAMES_##kCount         \
               "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", add, 1, 1" options ";\n}" \
               : WGMMA_RESULTS_##kCount(0)                                            \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(matrix),             \
                 "r"(static_cast<int>(add)), "n"(option))
#define WGMMA_16(type, options, option) \
  WGMMA(16, type, "%16", "%17", "%18", "%19", "%20", "%21", options, option)
#define WGMMA_32(type, options, option) \
  WGMMA(32, type, "%32", "%33", "%34", "%35", "%36", "%37", options, option)
#define WGMMA_64(type, options, option) \
  WGMMA(64, type, "%64", "%65", "%66", "%67", "%68", "%69", options, option)
#define WGMMA_96(type, options, option) \
  WGMMA(96, type, "%96", "%97", "%98", "%99", "%100", "%101", options, option)

// wgmma.mma_async.m64nNk8.tf32: d = a b, plus d where `add`; a is 64 x 8, b 8 x kN as
// wgmma_matrix() says. Of both only the upper 19 bits of a float count; sums are rounded towards
// zero (measured on an H200). With g = lane / 4 and t = lane % 4, warp w of the warpgroup holds
//   a: rows 16 w + g and g + 8 of k = t, then the same of k = t + 4
//   d: d[4 j + e], e = 0 to 3, columns 8 j + 2 t and the next of row 16 w + g, then of g + 8.
template <int kN>
__device__ __forceinline__ void wgmma_tf32(float (&d)[kN / 2], const unsigned (&a)[4], unsigned b,
                                           bool add) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  static_assert(kN == 64 || kN == 128 || kN == 192);
  const uint64_t matrix = uint64_t{kWgmmaMatrix} << 32 | b;
  if constexpr (kN == 64) {
    WGMMA_32("m64n64k8.f32.tf32.tf32", "", 0);
  } else if constexpr (kN == 128) {
    WGMMA_64("m64n128k8.f32.tf32.tf32", "", 0);
  } else if constexpr (kN == 192) {
    WGMMA_96("m64n192k8.f32.tf32.tf32", "", 0);
  }
#endif
}

// wgmma.mma_async.m64nNk16.bf16: d = a b, plus d where `add`; a is 64 x 16, b 16 x kN as
// wgmma_matrix() or, where kMNMajor, wgmma_matrix_mn() says; with kMatrix = kWgmmaMatrix as
// wgmma_matrix_16() does. Sums are rounded towards zero. With g and t as above, warp w holds
//   a: pairs of neighbours along k, the first in the lower half: rows 16 w + g and g + 8 of k = 2 t
//      and the next, then the same of k = 2 t + 8
//   d: as above.
template <int kN, bool kMNMajor, unsigned kMatrix = kWgmmaMatrixBf16>
__device__ __forceinline__ void wgmma_bf16(float (&d)[kN / 2], const unsigned (&a)[4], unsigned b,
                                           bool add) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  static_assert(kN == 32 || kN == 64 || kN == 128);
  const uint64_t matrix = uint64_t{kMatrix} << 32 | b;
  if constexpr (kN == 32) {
    WGMMA_16("m64n32k16.f32.bf16.bf16", ", %22", static_cast<int>(kMNMajor));
  } else if constexpr (kN == 64) {
    WGMMA_32("m64n64k16.f32.bf16.bf16", ", %38", static_cast<int>(kMNMajor));
  } else if constexpr (kN == 128) {
    WGMMA_64("m64n128k16.f32.bf16.bf16", ", %70", static_cast<int>(kMNMajor));
  }
#endif
}

// An instruction whose A is in shared memory too: descriptors of both, whether to add, whether A
// and B are MN-major.
#define WGMMA_SHARED(kCount, shape, a, b, adds, mn_a, mn_b)                  \
  if constexpr (kBf16) {                                                     \
    WGMMA_SHARED_OF(kCount, shape ".f32.bf16.bf16", a, b, adds, mn_a, mn_b); \
  } else {                                                                   \
    WGMMA_SHARED_OF(kCount, shape ".f32.f16.f16", a, b, adds, mn_a, mn_b);   \
  }
#define WGMMA_SHARED_OF(kCount, type, a, b, adds, mn_a, mn_b)                 \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " adds                   \
               ", 0;\n"                                                       \
               "wgmma.mma_async.sync.aligned." type " {" WGMMA_NAMES_##kCount \
               "}, " a ", " b ", add, 1, 1, " mn_a ", " mn_b ";\n}"           \
               : WGMMA_RESULTS_##kCount(0)                                    \
               : "l"(matrix_a), "l"(matrix_b), "r"(static_cast<int>(add)),    \
                 "n"(static_cast<int>(kMNMajorA)), "n"(static_cast<int>(kMNMajorB)))

// The lower halves of descriptors of 16-bit matrices in lines of 128 bytes, swizzled as swizzle.h
// says: K-major, lines of 64 k; and MN-major, blocks of 64 lines of k, 8192 bytes apart, each with
// 64 rows of A or columns of B. 16 k are 32 bytes, or 2048. `address` is that of shared_address(),
// a multiple of 1024, plus the bytes of each k that is left out; its upper bits are the block's
// rank in a cluster. The upper half is kWgmmaMatrix.
template <bool kMNMajor>
__device__ __forceinline__ unsigned wgmma_matrix_16(unsigned address) {
  constexpr unsigned kLeadingStride = kMNMajor ? 8192 / 16 : 1, kInBlock = (1u << 18) - 1;
  return kLeadingStride << 16 | (address & kInBlock) >> 4;
}

// wgmma.mma_async.m64nNk16 of BF16 or FP16 values: d = a b, plus d where `add`; a is 64 x 16, b
// 16 x kN, both as wgmma_matrix_16() says. Results lie as those of wgmma_tf32().
template <bool kBf16, int kN, bool kMNMajorA, bool kMNMajorB>
__device__ __forceinline__ void wgmma_16(float (&d)[kN / 2], unsigned a, unsigned b, bool add) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  static_assert(kN % 16 == 0 && 32 <= kN && kN <= 256);
  const uint64_t matrix_a = uint64_t{kWgmmaMatrix} << 32 | a;
  const uint64_t matrix_b = uint64_t{kWgmmaMatrix} << 32 | b;
  if constexpr (kN == 32) {
    WGMMA_SHARED(16, "m64n32k16", "%16", "%17", "%18", "%19", "%20");
  } else if constexpr (kN == 48) {
    WGMMA_SHARED(24, "m64n48k16", "%24", "%25", "%26", "%27", "%28");
  } else if constexpr (kN == 64) {
    WGMMA_SHARED(32, "m64n64k16", "%32", "%33", "%34", "%35", "%36");
  } else if constexpr (kN == 80) {
    WGMMA_SHARED(40, "m64n80k16", "%40", "%41", "%42", "%43", "%44");
  } else if constexpr (kN == 96) {
    WGMMA_SHARED(48, "m64n96k16", "%48", "%49", "%50", "%51", "%52");
  } else if constexpr (kN == 112) {
    WGMMA_SHARED(56, "m64n112k16", "%56", "%57", "%58", "%59", "%60");
  } else if constexpr (kN == 128) {
    WGMMA_SHARED(64, "m64n128k16", "%64", "%65", "%66", "%67", "%68");
  } else if constexpr (kN == 144) {
    WGMMA_SHARED(72, "m64n144k16", "%72", "%73", "%74", "%75", "%76");
  } else if constexpr (kN == 160) {
    WGMMA_SHARED(80, "m64n160k16", "%80", "%81", "%82", "%83", "%84");
  } else if constexpr (kN == 176) {
    WGMMA_SHARED(88, "m64n176k16", "%88", "%89", "%90", "%91", "%92");
  } else if constexpr (kN == 192) {
    WGMMA_SHARED(96, "m64n192k16", "%96", "%97", "%98", "%99", "%100");
  } else if constexpr (kN == 208) {
    WGMMA_SHARED(104, "m64n208k16", "%104", "%105", "%106", "%107", "%108");
  } else if constexpr (kN == 224) {
    WGMMA_SHARED(112, "m64n224k16", "%112", "%113", "%114", "%115", "%116");
  } else if constexpr (kN == 240) {
    WGMMA_SHARED(120, "m64n240k16", "%120", "%121", "%122", "%123", "%124");
  } else if constexpr (kN == 256) {
    WGMMA_SHARED(128, "m64n256k16", "%128", "%129", "%130", "%131", "%132");
  }
#endif
}

// wgmma.wait_group of products whose results stay in flight: until all but the last kPending groups
// have read their operands.
template <int kPending>
__device__ __forceinline__ void wgmma_wait_for_operands() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

#undef WGMMA_SHARED_OF
#undef WGMMA_SHARED
#undef WGMMA_96
#undef WGMMA_64
#undef WGMMA_32
#undef WGMMA_16
#undef WGMMA
#undef WGMMA_RESULTS_128
#undef WGMMA_RESULTS_120
#undef WGMMA_RESULTS_112
#undef WGMMA_RESULTS_104
#undef WGMMA_RESULTS_96
#undef WGMMA_RESULTS_88
#undef WGMMA_RESULTS_80
#undef WGMMA_RESULTS_72
#undef WGMMA_RESULTS_64
#undef WGMMA_RESULTS_56
#undef WGMMA_RESULTS_48
#undef WGMMA_RESULTS_40
#undef WGMMA_RESULTS_32
#undef WGMMA_RESULTS_24
#undef WGMMA_RESULTS_16
#undef WGMMA_RESULTS_8
#undef WGMMA_NAMES_128
#undef WGMMA_NAMES_120
#undef WGMMA_NAMES_112
#undef WGMMA_NAMES_104
#undef WGMMA_NAMES_96
#undef WGMMA_NAMES_88
#undef WGMMA_NAMES_80
#undef WGMMA_NAMES_72
#undef WGMMA_NAMES_64
#undef WGMMA_NAMES_56
#undef WGMMA_NAMES_48
#undef WGMMA_NAMES_40
#undef WGMMA_NAMES_32
#undef WGMMA_NAMES_24
#undef WGMMA_NAMES_16
#undef WGMMA_NAMES_8

}  // namespace mygemm::ptx
