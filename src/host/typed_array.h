// Element types on the host: type tags, dispatch from the run-time type, and conversion
// of runs of elements to and from FP32. Host backend; knows no kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "host/half.h"
#include "host/simd.h"
#include "problem.h"

namespace mygemm::host {

struct Fp32 {
  using Storage = float;
};
struct Fp16 {
  using Storage = uint16_t;
};
struct Bf16 {
  using Storage = uint16_t;
};

// Calls f with the tag of `type`.
template <class F>
void with_type(mygemmDataType_t type, const F& f) {
  switch (type) {
    case MYGEMM_R_32F: return f(Fp32{});
    case MYGEMM_R_16F: return f(Fp16{});
    case MYGEMM_R_16BF: return f(Bf16{});
  }
}

// kWidth elements to and from a vector of FP32.
template <class Type, int kWidth>
[[gnu::always_inline]] inline void load_floats(const typename Type::Storage* from,
                                               typename Simd<kWidth>::Float& value) {
  if constexpr (std::is_same_v<Type, Fp32>) {
    load(value, from);
  } else {
    typename Simd<kWidth>::Short narrow;
    load(narrow, from);
    const auto bits = __builtin_convertvector(narrow, typename Simd<kWidth>::Uint);
    if constexpr (std::is_same_v<Type, Fp16>) {
      fp16_to_float(bits, value);
    } else {
      bf16_to_float(bits, value);
    }
  }
}

template <class Type, int kWidth>
[[gnu::always_inline]] inline void store_floats(typename Type::Storage* to,
                                                const typename Simd<kWidth>::Float& value) {
  if constexpr (std::is_same_v<Type, Fp32>) {
    store(to, value);
  } else {
    typename Simd<kWidth>::Uint bits;
    if constexpr (std::is_same_v<Type, Fp16>) {
      float_to_fp16(value, bits);
    } else {
      float_to_bf16(value, bits);
    }
    store(to, __builtin_convertvector(bits, typename Simd<kWidth>::Short));
  }
}

// The same for count < kWidth elements; lanes without an element are 0.
template <class Type, int kWidth>
[[gnu::always_inline]] inline void load_tail(const typename Type::Storage* from, int64_t count,
                                             typename Simd<kWidth>::Float& value) {
  typename Type::Storage whole[kWidth] = {};
  std::copy_n(from, count, whole);
  load_floats<Type, kWidth>(whole, value);
}

template <class Type, int kWidth>
[[gnu::always_inline]] inline void store_tail(typename Type::Storage* to, int64_t count,
                                              const typename Simd<kWidth>::Float& value) {
  typename Type::Storage whole[kWidth];
  store_floats<Type, kWidth>(whole, value);
  std::copy_n(whole, count, to);
}

// One element.
template <class Type>
float load_float(const typename Type::Storage* from) {
  float value = 0.0f;
  if constexpr (std::is_same_v<Type, Fp32>) {
    value = *from;
  } else if constexpr (std::is_same_v<Type, Fp16>) {
    fp16_to_float(uint32_t{*from}, value);
  } else {
    bf16_to_float(uint32_t{*from}, value);
  }
  return value;
}

template <class Type>
void store_float(typename Type::Storage* to, float value) {
  if constexpr (std::is_same_v<Type, Fp32>) {
    *to = value;
  } else {
    uint32_t bits = 0;
    if constexpr (std::is_same_v<Type, Fp16>) {
      float_to_fp16(value, bits);
    } else {
      float_to_bf16(value, bits);
    }
    *to = static_cast<uint16_t>(bits);
  }
}

// Elements first to first + count - 1 of an array as floats.
inline void load_elements(mygemmDataType_t type, const void* array, int64_t first, int64_t count,
                          float* to) {
  with_type(type, [&](auto tag) {
    using Type = decltype(tag);
    const auto* from = static_cast<const typename Type::Storage*>(array) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = load_float<Type>(from + i);
  });
}

}  // namespace mygemm::host
