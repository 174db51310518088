// Matrix rows of fp32, fp16 or bf16, read and written as fp32: single elements and packs of four.
// The type is a run-time value: the branch on it is uniform, taken once per batch of packs, and
// hidden behind the memory traffic. Device only.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

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

// Calls body with a value of the element type that `type` stands for.
template <class Body>
__device__ __forceinline__ void with_type(mygemmDataType_t type, Body body) {
  switch (type) {
    case MYGEMM_R_32F: return body(float{});
    case MYGEMM_R_16F: return body(__half{});
    case MYGEMM_R_16BF: return body(__nv_bfloat16{});
  }
}

// Four elements that are loaded or stored at once: 16 or 8 bytes.
template <class T>
struct alignas(4 * sizeof(T)) Pack {
  T element[4];
};

// One row of a matrix. packs: whole rows are packs of four, each aligned to its size.
struct TypedRow {
  char* data;
  mygemmDataType_t type;
  bool packs;
};

__device__ __forceinline__ TypedRow row_of(const TypedMatrix& matrix, int64_t row, int64_t cols) {
  const int64_t size = element_bytes(matrix.type);
  char* data = static_cast<char*>(matrix.data) + row * matrix.ld * size;
  return {
      data, matrix.type,
      cols % 4 == 0 && reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(4 * size) == 0};
}

// The row from `column` on, a multiple of 4.
__device__ __forceinline__ TypedRow from_column(const TypedRow& row, int64_t column) {
  return {row.data + column * element_bytes(row.type), row.type, row.packs};
}

__device__ __forceinline__ float load_element(const TypedRow& row, int64_t column) {
  float value = 0.0f;
  with_type(row.type, [&](auto zero) {
    using T = decltype(zero);
    value = to_float(reinterpret_cast<const T*>(row.data)[column]);
  });
  return value;
}

__device__ __forceinline__ void store_element(const TypedRow& row, int64_t column, float value) {
  with_type(row.type, [&](auto zero) {
    using T = decltype(zero);
    reinterpret_cast<T*>(row.data)[column] = from_float<T>(value);
  });
}

// kPacks packs: pack p holds columns first + p * stride + (0..3). Columns from `cols` on are not
// touched and read as `missing`. Columns are int: long rows are taken in parts (from_column).
template <int kPacks>
__device__ __forceinline__ void load_packs(float (&value)[kPacks][4], const TypedRow& row,
                                           int first, int stride, int cols, float missing) {
  with_type(row.type, [&](auto zero) {
    using T = decltype(zero);
    const T* data = reinterpret_cast<const T*>(row.data);
    if (row.packs) {
      Pack<T> pack[kPacks];
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const int column = first + p * stride;
        if (column < cols) pack[p] = *reinterpret_cast<const Pack<T>*>(data + column);
      }
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const bool inside = first + p * stride < cols;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          value[p][i] = inside ? to_float(pack[p].element[i]) : missing;
        }
      }
    } else {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int column = first + p * stride + i;
          value[p][i] = column < cols ? to_float(data[column]) : missing;
        }
      }
    }
  });
}

template <int kPacks>
__device__ __forceinline__ void store_packs(const float (&value)[kPacks][4], const TypedRow& row,
                                            int first, int stride, int cols) {
  with_type(row.type, [&](auto zero) {
    using T = decltype(zero);
    T* data = reinterpret_cast<T*>(row.data);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int column = first + p * stride;
      if (row.packs) {
        Pack<T> pack;
#pragma unroll
        for (int i = 0; i < 4; ++i) pack.element[i] = from_float<T>(value[p][i]);
        if (column < cols) *reinterpret_cast<Pack<T>*>(data + column) = pack;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (column + i < cols) data[column + i] = from_float<T>(value[p][i]);
        }
      }
    }
  });
}

}  // namespace mygemm
