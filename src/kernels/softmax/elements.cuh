// Matrix rows of fp32, fp16 or bf16, read and written by packs and computed on as fp32. Device
// only.
#pragma once

#include <type_traits>

#include "kernels/element.cuh"
#include "kernels/softmax/formats.h"

namespace mygemm {

// Calls body with a value of the element type that `type` stands for, of those the format has. The
// branch is the same for all threads.
template <class Format, class Body>
__device__ __forceinline__ void with_type(mygemmDataType_t type, Body body) {
  if constexpr (Format::kWidest == 4) {
    if (Format::kNarrowest == 4 || type == MYGEMM_R_32F) return body(float{});
  }
  if constexpr (Format::kNarrowest == 2) {
    if (type == MYGEMM_R_16F) return body(__half{});
    body(__nv_bfloat16{});
  }
}

// Element i of packed words.
template <class T>
__device__ __forceinline__ float element_of(const unsigned* word, int i) {
  if constexpr (sizeof(T) == 4) {
    return __uint_as_float(word[i]);
  } else if constexpr (std::is_same_v<T, __half>) {
    return to_float(__ushort_as_half(static_cast<unsigned short>(word[i / 2] >> i % 2 * 16)));
  } else {
    return __uint_as_float(i % 2 == 0 ? word[i / 2] << 16 : word[i / 2] & 0xffff0000u);
  }
}

// Elementwise maximum and minimum of two words of two 16-bit elements; of a number and a NaN, the
// number.
template <class T>
using TwoOf = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
template <class T>
__device__ __forceinline__ unsigned larger_elements(unsigned a, unsigned b) {
  using Two = TwoOf<T>;
  const Two result = __hmax2(reinterpret_cast<const Two&>(a), reinterpret_cast<const Two&>(b));
  return reinterpret_cast<const unsigned&>(result);
}
template <class T>
__device__ __forceinline__ unsigned smaller_elements(unsigned a, unsigned b) {
  using Two = TwoOf<T>;
  const Two result = __hmin2(reinterpret_cast<const Two&>(a), reinterpret_cast<const Two&>(b));
  return reinterpret_cast<const unsigned&>(result);
}

// Sets element i. The elements before it in the same word must be set first.
template <class T>
__device__ __forceinline__ void set_element(unsigned* word, int i, unsigned bits) {
  if constexpr (sizeof(T) == 4) {
    word[i] = bits;
  } else {
    word[i / 2] = i % 2 == 0 ? bits : word[i / 2] | bits << 16;
  }
}

// The packs of a thread in a row that consists of whole packs. The first kSure packs exist without
// a comparison, unless the thread has no row (`inside` is false).
template <int kSure>
struct WholePlace {
  static constexpr bool kRagged = false;
  int first, stride, count;  // packs first, first + stride and so on, of `count`
  bool inside;

  __device__ int pack(int k) const { return first + k * stride; }
  __device__ bool whole(int k) const { return inside && (k < kSure || pack(k) < count); }
  __device__ bool has(int k, int) const { return whole(k); }
};

// The same for a row that begins and ends anywhere. Element 0 is the first one of the pack in which
// the row begins; elements begin <= e < end belong to the row.
template <int kPack>
struct RaggedPlace {
  static constexpr bool kRagged = kPack > 1;
  int first, stride, begin, end;

  __device__ int pack(int k) const { return first + k * stride; }
  __device__ bool whole(int k) const {
    return begin <= pack(k) * kPack && (pack(k) + 1) * kPack <= end;
  }
  __device__ bool has(int k, int i) const {
    return begin <= pack(k) * kPack + i && pack(k) * kPack + i < end;
  }
  // Whether some elements of pack k, but not all, belong to the row; pack 0 has at least one.
  __device__ bool ragged(int k) const { return pack(k) * kPack < end && !whole(k); }
};

// A tile that lies within its row: pack k of a lane is 32 packs after its pack k - 1.
struct FullPlace {
  static constexpr bool kRagged = false;
  int lane;

  __device__ int pack(int k) const { return lane + 32 * k; }
  __device__ bool whole(int) const { return true; }
  __device__ bool has(int, int) const { return true; }
};

// Calls body(k) for each pack that belongs to the row in part. Few threads have such packs, mostly
// one. The loop is not unrolled: that would take registers from the packs.
template <int kPacks, class Place, class Body>
__device__ __forceinline__ void for_each_ragged(const Place& at, Body body) {
  if constexpr (Place::kRagged) {
    if (at.whole(0) && at.whole(kPacks - 1)) return;
#pragma unroll 1
    for (int k = 0; k < kPacks; ++k) {
      if (at.ragged(k)) body(k);
    }
  }
}

// Packs that a thread holds.
template <class Format, int kPacks>
struct Packs {
  static constexpr int kPack = Format::kPack;
  unsigned word[kPacks][Format::kWords];

  // Pack k as floats. `type` is that of the matrix it was loaded from.
  __device__ __forceinline__ void get(int k, mygemmDataType_t type, float (&value)[kPack]) const {
    if constexpr (Format::kKeepsFloats) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) value[i] = __uint_as_float(word[k][i]);
    } else {
      with_type<Format>(type, [&](auto zero) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) value[i] = element_of<decltype(zero)>(word[k], i);
      });
    }
  }

  // `type` is that of the matrix it will be stored to.
  __device__ __forceinline__ void set(int k, mygemmDataType_t type, const float (&value)[kPack]) {
    if constexpr (Format::kKeepsFloats) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) word[k][i] = __float_as_uint(value[i]);
    } else {
      with_type<Format>(type, [&](auto zero) {
        using T = decltype(zero);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          set_element<T>(word[k], i, bits_of(from_float<T>(value[i])));
        }
      });
    }
  }
};

// A pack as in memory: 32-bit words, except for single 16-bit elements.
template <class T, int kPack>
struct alignas(kPack * sizeof(T)) PackBits {
  static constexpr bool kWords = kPack * sizeof(T) >= 4;
  using Word = std::conditional_t<kWords, unsigned, unsigned short>;
  Word word[kWords ? kPack * sizeof(T) / 4 : 1];

  __device__ __forceinline__ void set(int i, unsigned bits) {
    if constexpr (sizeof(T) == 4 || !kWords) {
      word[i] = static_cast<Word>(bits);
    } else {
      word[i / 2] = i % 2 == 0 ? bits : word[i / 2] | bits << 16;  // in the order of i
    }
  }
  __device__ __forceinline__ unsigned get(int i) const {
    if constexpr (sizeof(T) == 4 || !kWords) {
      return word[i];
    } else {
      return word[i / 2] >> i % 2 * 16 & 0xffffu;
    }
  }
  __device__ __forceinline__ float value(int i) const {
    if constexpr (kWords) {
      return element_of<T>(word, i);
    } else {
      const unsigned only = word[0];
      return element_of<T>(&only, 0);
    }
  }
};

template <class Format, class T, int kPacks, class Place>
__device__ __forceinline__ void load_as(Packs<Format, kPacks>& packs, const void* row,
                                        const Place& at, unsigned missing_bits) {
  constexpr int kPack = Format::kPack;
  using Bits = PackBits<T, kPack>;
  Bits bits[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) bits[k].set(i, missing_bits);
    if (at.whole(k)) bits[k] = static_cast<const Bits*>(row)[at.pack(k)];
  }
  for_each_ragged<kPacks>(at, [&](int ragged) {
    using Element = PackBits<T, 1>;
    const Element* element = static_cast<const Element*>(row) + at.pack(ragged) * kPack;
    Bits some;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      some.set(i, at.has(ragged, i) ? element[i].get(0) : missing_bits);
    }
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (k == ragged) bits[k] = some;
    }
  });
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < Format::kWords; ++i) {
      if constexpr (!Format::kKeepsFloats) {
        packs.word[k][i] = bits[k].word[i];
      } else {
        packs.word[k][i] = __float_as_uint(bits[k].value(i));
      }
    }
  }
}

template <class Format, class T, int kPacks, class Place>
__device__ __forceinline__ void store_as(const Packs<Format, kPacks>& packs, void* row,
                                         const Place& at) {
  constexpr int kPack = Format::kPack;
  using Bits = PackBits<T, kPack>;
  Bits bits[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < Format::kWords; ++i) {
      if constexpr (Format::kKeepsFloats) {
        bits[k].set(i, bits_of(from_float<T>(__uint_as_float(packs.word[k][i]))));
      } else {
        bits[k].word[i] = packs.word[k][i];
      }
    }
    if (at.whole(k)) static_cast<Bits*>(row)[at.pack(k)] = bits[k];
  }
  for_each_ragged<kPacks>(at, [&](int ragged) {
    using Element = PackBits<T, 1>;
    Element* element = static_cast<Element*>(row) + at.pack(ragged) * kPack;
    Bits some = bits[0];
#pragma unroll
    for (int k = 1; k < kPacks; ++k) {
      if (k == ragged) some = bits[k];
    }
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (at.has(ragged, i)) element[i].set(0, some.get(i));
    }
  });
}

// Loads packs; elements outside the row become `missing`.
template <class Format, int kPacks, class Place>
__device__ __forceinline__ void load(Packs<Format, kPacks>& packs, const void* row,
                                     mygemmDataType_t type, const Place& at, float missing) {
  if constexpr (Format::kKeepsFloats) {
    with_type<Format>(type, [&](auto zero) {
      using T = decltype(zero);
      load_as<Format, T>(packs, row, at, bits_of(from_float<T>(missing)));
    });
  } else {
    const unsigned bits = type == MYGEMM_R_16F ? bits_of(from_float<__half>(missing))
                                               : bits_of(from_float<__nv_bfloat16>(missing));
    load_as<Format, __half>(packs, row, at, bits);  // the bits of either type
  }
}

template <class Format, int kPacks, class Place>
__device__ __forceinline__ void store(const Packs<Format, kPacks>& packs, void* row,
                                      mygemmDataType_t type, const Place& at) {
  if constexpr (Format::kKeepsFloats) {
    with_type<Format>(type, [&](auto zero) { store_as<Format, decltype(zero)>(packs, row, at); });
  } else {
    store_as<Format, __half>(packs, row, at);  // the bits of either type
  }
}

// Bytes of an element, known at compile time except for mixed widths.
template <class Format>
__device__ __forceinline__ constexpr int bytes_of(mygemmDataType_t type) {
  if constexpr (Format::kWidest == Format::kNarrowest) return Format::kWidest;
  return type == MYGEMM_R_32F ? 4 : 2;
}

// The address of an element of a matrix row.
template <class Format>
__device__ __forceinline__ char* address_of(const TypedMatrix& matrix, int64_t row,
                                            int64_t column = 0) {
  return static_cast<char*>(matrix.data) +
         (row * matrix.ld + column) * bytes_of<Format>(matrix.type);
}

// Elements between the start of the pack in which a row begins and the row.
template <class Format>
__device__ __forceinline__ int shift_of(const TypedMatrix& matrix, int64_t row) {
  const auto address = reinterpret_cast<uintptr_t>(address_of<Format>(matrix, row));
  return static_cast<int>(address / bytes_of<Format>(matrix.type) % Format::kPack);
}

}  // namespace mygemm
