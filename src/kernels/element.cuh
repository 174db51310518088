// Elements of FP32, FP16 and BF16 as C++ types. Kernels compute in FP32: they convert what they
// load, exactly, and round what they store, to nearest even. Device code, and its launchers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "problem.h"

namespace mygemm {

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ __forceinline__ T from_float(float x);
template <>
__device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

__device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned bits_of(__half x) { return __half_as_ushort(x); }
__device__ __forceinline__ unsigned bits_of(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

// Two and four neighbours in memory, aligned to both or all of them.
__device__ __forceinline__ float2 load_two(const float* from) {
  return *reinterpret_cast<const float2*>(from);
}
__device__ __forceinline__ float2 load_two(const __half* from) {
  const __half2 two = *reinterpret_cast<const __half2*>(from);
  return make_float2(__low2float(two), __high2float(two));
}
__device__ __forceinline__ float2 load_two(const __nv_bfloat16* from) {
  const __nv_bfloat162 two = *reinterpret_cast<const __nv_bfloat162*>(from);
  return make_float2(__low2float(two), __high2float(two));
}
__device__ __forceinline__ float4 load_four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
template <class T>
__device__ __forceinline__ float4 load_four(const T* from) {
  const uint2 words = *reinterpret_cast<const uint2*>(from);
  const float2 first = load_two(reinterpret_cast<const T*>(&words.x));
  const float2 last = load_two(reinterpret_cast<const T*>(&words.y));
  return make_float4(first.x, first.y, last.x, last.y);
}

// The values of two neighbours of 16 bits, from their bits.
template <class T>
__device__ __forceinline__ float2 floats_of(unsigned bits) {
  return load_two(reinterpret_cast<const T*>(&bits));
}

// The bits of two neighbours of 16 bits.
template <class T>
__device__ __forceinline__ unsigned two_of(float first, float second) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 two = __floats2half2_rn(first, second);
    return reinterpret_cast<const unsigned&>(two);
  } else {
    const __nv_bfloat162 two = __floats2bfloat162_rn(first, second);
    return reinterpret_cast<const unsigned&>(two);
  }
}

__device__ __forceinline__ void store_two(float* to, float2 value) {
  *reinterpret_cast<float2*>(to) = value;
}
template <class T>
__device__ __forceinline__ void store_two(T* to, float2 value) {
  *reinterpret_cast<unsigned*>(to) = two_of<T>(value.x, value.y);
}
__device__ __forceinline__ void store_four(float* to, float4 value) {
  *reinterpret_cast<float4*>(to) = value;
}
template <class T>
__device__ __forceinline__ void store_four(T* to, float4 value) {
  *reinterpret_cast<uint2*>(to) =
      make_uint2(two_of<T>(value.x, value.y), two_of<T>(value.z, value.w));
}

// Calls body with a value of the C++ type that `type` stands for, and returns its result. Host.
template <class Body>
auto with_element_type(mygemmDataType_t type, Body body) {
  switch (type) {
    case MYGEMM_R_16F: return body(__half{});
    case MYGEMM_R_16BF: return body(__nv_bfloat16{});
    case MYGEMM_R_32F: break;
  }
  return body(float{});
}

// The same with values of both operands' types: those of a product that is supported.
template <class Body>
auto with_operand_types(mygemmDataType_t a, mygemmDataType_t b, Body body) {
  if (a == b) return with_element_type(a, [&](auto x) { return body(x, x); });
  if (a == MYGEMM_R_32F) return body(float{}, __nv_bfloat16{});
  return body(__nv_bfloat16{}, float{});
}

}  // namespace mygemm
