// Products of 16-bit operands: from the sums of a consumer warp to D, or to the partial tile that
// the block leaves for another one. Device only.
#pragma once

#include "kernels/element.cuh"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/gemm/tensor16/boxes.cuh"
#include "kernels/gemm/tensor16/multiply.cuh"

namespace mygemm::tensor16 {

// Partial tiles: sums as the block's threads hold them.
template <class Tile>
struct PartialTile {
  float4 quads[Tile::kColumns / 8][32 * Tile::kConsumerWarps];
};

template <class Tile>
__device__ __forceinline__ void store_partial(PartialTile<Tile>& to, const Results<Tile>& sum,
                                              int thread) {
#pragma unroll
  for (int q = 0; q < Tile::kColumns / 8; ++q) {
    __stcg(&to.quads[q][thread],
           make_float4(sum[4 * q], sum[4 * q + 1], sum[4 * q + 2], sum[4 * q + 3]));
  }
}

template <class Tile>
__device__ __forceinline__ void add_partial(Results<Tile>& sum, const PartialTile<Tile>& from,
                                            int thread) {
#pragma unroll
  for (int q = 0; q < Tile::kColumns / 8; ++q) {
    const float4 quad = __ldcg(&from.quads[q][thread]);
    sum[4 * q] += quad.x, sum[4 * q + 1] += quad.y;
    sum[4 * q + 2] += quad.z, sum[4 * q + 3] += quad.w;
  }
}

// The place of a warp's 16 rows of results in D^T, whose rows are contiguous.
struct WarpPlace {
  int batch, row, column;  // the first of each
};

// Four neighbours of a row, as they lie in memory.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T x[4];

  __device__ __forceinline__ static bool is_aligned(const T* at) {
    return reinterpret_cast<uintptr_t>(at) % sizeof(Four) == 0;
  }
};

// The bias of four neighbours of a row, of which `columns` are inside. Loaded once for all rows, by
// the kernel: left to the compiler (nvcc 13.0), the loads came before the question for a bias.
template <class T>
__device__ __forceinline__ float4 bias_of_four(const FusedEpilogue<true, T>& epilogue, int column,
                                               int columns) {
  float bias[4] = {};
  if (epilogue.has_bias()) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < columns) bias[i] = epilogue.bias(column + i);
    }
  }
  return make_float4(bias[0], bias[1], bias[2], bias[3]);
}

// Stores the results of four neighbours of a row of D^T, at d, of which `columns` are inside. c:
// those of C; nullptr where it is not read.
template <class T>
__device__ __forceinline__ void store_four(T* d, const T* c, int row, int column, float4 sum,
                                           int columns, float alpha, const float4& bias,
                                           const FusedEpilogue<true, T>& epilogue) {
  float t[4] = {sum.x, sum.y, sum.z, sum.w};
  if (c) {
    Four<T> old;
    if (columns == 4 && Four<T>::is_aligned(c)) {
      old = *reinterpret_cast<const Four<T>*>(c);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) old.x[i] = i < columns ? c[i] : from_float<T>(0.0f);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) t[i] = epilogue.scaled(t[i], to_float(old.x[i]));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) t[i] *= alpha;
  }
  if (epilogue.has_bias()) t[0] += bias.x, t[1] += bias.y, t[2] += bias.z, t[3] += bias.w;
  if (epilogue.is_gradient()) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < columns) t[i] = epilogue.times_derivative(t[i], epilogue.aux(row, column + i));
    }
  } else if (epilogue.stores_aux()) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < columns) epilogue.store_aux(row, column + i, t[i]);
    }
  }
  epilogue.activate_all(t);
  Four<T> results;
#pragma unroll
  for (int i = 0; i < 4; ++i) results.x[i] = from_float<T>(t[i]);
  if (columns == 4 && Four<T>::is_aligned(d)) {
    *reinterpret_cast<Four<T>*>(d) = results;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < columns) d[i] = results.x[i];
  }
}

// Two neighbours in memory as elements of T, to shared memory.
template <class T>
__device__ __forceinline__ void write_pair(unsigned address, float first, float second) {
  if constexpr (sizeof(T) == 4) {
    ptx::store_shared_8(address, first, second);
  } else {
    ptx::store_shared_4(address, pair_of<T>(first, second));
  }
}

// The maps of D for a tile's boxes, and for the rest of one that may be left.
struct ResultMaps {
  OperandMap whole, rest;
};

// Writes alpha * sum, of kCount columns from kFirst on, to a box, as elements of T: rows of kLine
// bytes, swizzled where these are 128. A lane has pairs of neighbours of two rows, 8 apart.
template <class T, int kFirst, int kCount, int kLine, class Tile>
__device__ __forceinline__ void write_rows(unsigned char (&box)[Tile::kBoxBytes],
                                           const Results<Tile>& sum, float alpha, int lane) {
  constexpr int kBytes = 8 * static_cast<int>(sizeof(T));  // of eight columns
  const int row = row_of_lane<Tile>(lane), pair = lane % 4 * (kBytes / 4);
  // A swizzle is an exclusive or of bits 4 to 6.
  const int in_line = kLine == 128 ? row * 16 ^ pair : pair;
  const unsigned of_lane = ptx::shared_address(box) + static_cast<unsigned>(row * kLine + in_line);
#pragma unroll
  for (int eight = 0; eight < kCount / 8; ++eight) {
    const auto along = static_cast<unsigned>(eight * kBytes);
    const unsigned address = kLine == 128 ? of_lane ^ along : of_lane + along;
    const int r = (kFirst / 8 + eight) * 4;
    write_pair<T>(address, alpha * sum[r], alpha * sum[r + 1]);
    write_pair<T>(address + 8 * kLine, alpha * sum[r + 2], alpha * sum[r + 3]);
  }
}

// The same, columns of 16 rows. Elements of 16 bits become pairs along a column: of two rows that
// neighbouring lanes have, one lane takes the first column and the other the second.
template <class T, int kFirst, int kCount, class Tile>
__device__ __forceinline__ void write_columns(unsigned char (&box)[Tile::kBoxBytes],
                                              const Results<Tile>& sum, float alpha, int lane) {
  constexpr int kLine = 16 * static_cast<int>(sizeof(T));
  const int row = row_of_lane<Tile>(lane), column = lane % 4 * 2, odd = row % 2;
  const unsigned address = ptx::shared_address(box);
  if constexpr (sizeof(T) == 4) {
    const unsigned of_lane = address + static_cast<unsigned>(column * kLine + row * 4);
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
      const unsigned at = of_lane + (i / 4 * 8 + i % 2) * kLine + i / 2 % 2 * 32;
      ptx::store_shared_4(at, alpha * sum[kFirst / 2 + i]);
    }
  } else {
    const unsigned selector = odd ? 0x3276 : 0x5410;
    const unsigned of_lane =
        address + static_cast<unsigned>((column + odd) * kLine + (row - odd) * 2);
#pragma unroll
    for (int i = 0; i < kCount / 4; ++i) {
      const int r = kFirst / 2 + 2 * i;
      const unsigned mine = pair_of<T>(alpha * sum[r], alpha * sum[r + 1]);
      const unsigned other = __shfl_xor_sync(~0u, mine, 4);
      ptx::store_shared_4(of_lane + i / 2 * 8 * kLine + i % 2 * 16,
                          __byte_perm(mine, other, selector));
    }
  }
}

// Stores alpha * sum by the accelerator, box after box; it leaves out what is outside D. kSome: the
// first `columns` columns alone, which are whole boxes.
template <class T, bool kInRows, class Tile, bool kSome = false, int kFirst = 0>
__device__ __forceinline__ void store_mapped(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                             float alpha, const ResultMaps& d, const WarpPlace& at,
                                             int lane, int columns = 0) {
  constexpr int kOfBox = Tile::kLineBytes / static_cast<int>(sizeof(T));
  if constexpr (kFirst < Tile::kColumns) {
    if (kSome && kFirst >= columns) return;
    constexpr int kCount = std::min(kOfBox, Tile::kColumns - kFirst);
    auto& box = boxes[kFirst / kOfBox % Tile::kBoxes];
    const OperandMap& map = kCount == kOfBox ? d.whole : d.rest;
    // The box before may still be read; of the tile before it is this one where their number is
    // odd.
    constexpr bool kSameBox =
        kSome || (kFirst == 0 && (Tile::kColumns + kOfBox - 1) / kOfBox % Tile::kBoxes != 0);
    if (lane == 0) ptx::tma_wait_for_reads_of_stores<kSameBox ? 0 : Tile::kBoxes - 1>();
    __syncwarp();
    if constexpr (kInRows) {
      constexpr int kLine = kCount * static_cast<int>(sizeof(T));
      write_rows<T, kFirst, kCount, kLine, Tile>(box, sum, alpha, lane);
    } else {
      write_columns<T, kFirst, kCount, Tile>(box, sum, alpha, lane);
    }
    ptx::fence_bulk();
    __syncwarp();
    if (lane == 0) {
      const int column = at.column + kFirst;
      ptx::tma_store_3d(&map.map, box, kInRows ? column : at.row, kInRows ? at.row : column,
                        at.batch * map.batch_step);
      ptx::tma_commit_stores();
    }
    store_mapped<T, kInRows, Tile, kSome, kFirst + kOfBox>(boxes, sum, alpha, d, at, lane, columns);
  }
}

// Writes the sums of the columns from kFirst on to the boxes, as floats.
template <bool kInRows, class Tile, int kFirst, int kBox = 0>
__device__ __forceinline__ void write_boxes(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                            int lane) {
  constexpr int kOfBox = Tile::kLineBytes / 4, kCount = std::min(kOfBox, Tile::kColumns - kFirst);
  if constexpr (kCount > 0 && kBox < Tile::kBoxes) {
    if constexpr (kInRows) {
      write_rows<float, kFirst, kCount, Tile::kLineBytes, Tile>(boxes[kBox], sum, 1.0f, lane);
    } else {
      write_columns<float, kFirst, kCount, Tile>(boxes[kBox], sum, 1.0f, lane);
    }
    write_boxes<kInRows, Tile, kFirst + kOfBox, kBox + 1>(boxes, sum, lane);
  }
}

// The same of the columns from kChunk * chunk on, as many as the boxes have.
template <bool kInRows, class Tile, int kFirst = 0>
__device__ __forceinline__ void write_chunk(Boxes<Tile>& boxes, const Results<Tile>& sum, int chunk,
                                            int lane) {
  constexpr int kChunk = Tile::kBoxes * Tile::kLineBytes / 4;
  if constexpr (kFirst < Tile::kColumns) {
    if (chunk * kChunk == kFirst) return write_boxes<kInRows, Tile, kFirst>(boxes, sum, lane);
    write_chunk<kInRows, Tile, kFirst + kChunk>(boxes, sum, chunk, lane);
  }
}

// Stores through the epilogue, columns from `first` on, a multiple of 64: sums go through the boxes
// as floats, so that lanes have neighbours in memory, which they load and store together.
template <class T, bool kInRows, class Tile>
__device__ __forceinline__ void store_through(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                              const GemmProblem& p, const Scalars& scalars,
                                              const WarpPlace& at, int lane, int first = 0) {
  constexpr int kOfBox = Tile::kLineBytes / 4, kChunk = Tile::kBoxes * kOfBox;  // columns
  constexpr int kLanes = (kInRows ? kChunk : 16) / 4;                           // of a line of D
  const int rows = static_cast<int>(min(p.m - at.row, int64_t{16}));
  const int columns = static_cast<int>(min(p.n - at.column, int64_t{Tile::kColumns}));
  const int64_t first_line = kInRows ? at.row : at.column;
  const int64_t first_along = kInRows ? at.column : at.row;
  const FusedEpilogue<true, T> epilogue(p, scalars, {at.batch, first_line, first_along});
  // Kernels whose producers copy operands have no registers left for more.
  const bool plain = Tile::kMapped && !p.fused && scalars.beta == 0.0f;
  // The accelerator's stores of the tile before read the boxes.
  if (lane == 0) ptx::tma_wait_for_reads_of_stores();
#pragma unroll 1
  for (int chunk = first / kChunk; chunk * kChunk < columns; ++chunk) {
    __syncwarp();
    write_chunk<kInRows, Tile>(boxes, sum, chunk, lane);
    __syncwarp();
    const int begin = chunk * kChunk, left = min(columns - begin, kChunk);
    if (plain) {
      if (rows <= 0) return;
      store_plain<T, kInRows, Tile>(boxes, p.d, at.batch,
                                    kInRows
                                        ? BoxedLines{first_line, first_along + begin, rows, left}
                                        : BoxedLines{first_line + begin, first_along, left, rows},
                                    scalars.alpha, lane);
      continue;
    }
    const int in_line = lane % kLanes * 4, along = kInRows ? begin + in_line : in_line;
    const int inside = min((kInRows ? columns : rows) - along, 4);
    const int lines = kInRows ? rows : left;
    const float4 bias = bias_of_four(epilogue, along, inside);
    const auto of_line = [&](const Operand& x, int line) {
      return x.matrix<T>(at.batch) + first_along + along + (first_line + line) * x.ld;
    };
#pragma unroll 1
    for (int i = lane / kLanes; i < lines; i += 32 / kLanes) {
      const int box = (kInRows ? in_line : i) / kOfBox;
      const int place = kInRows ? swizzle_128b(i * Tile::kLineBytes + in_line % kOfBox * 4)
                                : i % kOfBox * 64 + in_line * 4;
      const float4 four = *reinterpret_cast<const float4*>(&boxes[box][place]);
      const int line = kInRows ? i : begin + i;
      store_four<T>(of_line(p.d, line), scalars.beta == 0.0f ? nullptr : of_line(p.c, line), line,
                    along, four, inside, scalars.alpha, bias, epilogue);
    }
  }
}

// How results are stored, by number: the type of D, and kMappedWay more where the accelerator
// stores them.
constexpr int kWayOfFloats = 0, kWayOfHalves = 1, kWayOfBf16 = 2, kMappedWay = 4;
__device__ __forceinline__ int store_way(const GemmProblem& p, bool mapped) {
  const bool plain = mapped && !p.fused && load_scalar(p.epilogue.beta) == 0.0f;
  const int type = p.d.type == MYGEMM_R_32F   ? kWayOfFloats
                   : p.d.type == MYGEMM_R_16F ? kWayOfHalves
                                              : kWayOfBf16;
  return ptx::warp_uniform(type + (plain ? kMappedWay : 0));
}

// Stores the sums of a warp, which are complete.
template <bool kInRows, class Tile>
__device__ __forceinline__ void store_tile(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                           const GemmProblem& p, const ResultMaps& d, int way,
                                           const WarpPlace& at, int lane) {
  const auto store = [&](auto element) {
    using T = decltype(element);
    const Scalars scalars(p);
    if (way >= kMappedWay) {
      store_mapped<T, kInRows, Tile>(boxes, sum, scalars.alpha, d, at, lane);
    } else {
      store_through<T, kInRows, Tile>(boxes, sum, p, scalars, at, lane);
    }
  };
  if constexpr (Tile::kFp32Rows) {
    return store(float{});
  } else {
    switch (way % kMappedWay) {
      case kWayOfFloats: return store(float{});
      case kWayOfHalves: return store(__half{});
      default: return store(__nv_bfloat16{});
    }
  }
}

}  // namespace mygemm::tensor16
