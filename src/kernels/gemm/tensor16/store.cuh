// Products of 16-bit operands: from the sums of a consumer warp to D, or to the partial tile that
// the block leaves for another one. Device only.
#pragma once

#include "kernels/element.cuh"
#include "kernels/epilogue.cuh"
#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/gemm/tensor16/multiply.cuh"

namespace mygemm::tensor16 {

// Partial tiles: sums as the block's threads hold them.
template <class Tile>
struct PartialTile {
  float4 quads[Tile::kBlockN / 8][32 * Tile::kConsumerWarps];
};

template <class Tile>
__device__ __forceinline__ void store_partial(PartialTile<Tile>& to, const Results<Tile>& sum,
                                              int thread) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    __stcg(&to.quads[q][thread],
           make_float4(sum[4 * q], sum[4 * q + 1], sum[4 * q + 2], sum[4 * q + 3]));
  }
}

template <class Tile>
__device__ __forceinline__ void add_partial(Results<Tile>& sum, const PartialTile<Tile>& from,
                                            int thread) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
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

// Where a warp's results are in shared memory: in boxes of 16 rows of 128 bytes, swizzled.
template <class Tile>
using Boxes = unsigned char[Tile::kBoxes][Tile::kBoxBytes];

// Two neighbours of a row as elements of T, to shared memory.
template <class T>
__device__ __forceinline__ void write_pair(unsigned address, float first, float second) {
  if constexpr (sizeof(T) == 4) {
    ptx::store_shared_8(address, first, second);
  } else {
    const unsigned bits = bits_of(from_float<T>(second)) << 16 | bits_of(from_float<T>(first));
    ptx::store_shared_4(address, bits);
  }
}

// The maps of D for a tile's boxes of 128 bytes, and for the half of one that may be left.
struct ResultMaps {
  OperandMap whole, half;
};

// Writes alpha * sum, of the columns from kFirst on, to a box, as elements of T: rows of kLine
// bytes, swizzled where these are 128. A lane has pairs of neighbours of two rows, 8 apart.
template <class T, int kFirst, int kLine, class Tile>
__device__ __forceinline__ void write_box(unsigned char (&box)[Tile::kBoxBytes],
                                          const Results<Tile>& sum, float alpha, int lane) {
  constexpr int kBytes = 8 * static_cast<int>(sizeof(T));  // of eight columns
  const int row = lane / 4, pair = lane % 4 * (kBytes / 4);
  // A swizzle is an exclusive or of bits 4 to 6.
  const int in_line = kLine == 128 ? row * 16 ^ pair : pair;
  const unsigned of_lane = ptx::shared_address(box) + static_cast<unsigned>(row * kLine + in_line);
#pragma unroll
  for (int eight = 0; eight < kLine / kBytes; ++eight) {
    const unsigned address = of_lane ^ static_cast<unsigned>(eight * kBytes);
    const int r = (kFirst / 8 + eight) * 4;
    write_pair<T>(address, alpha * sum[r], alpha * sum[r + 1]);
    write_pair<T>(address + 8 * kLine, alpha * sum[r + 2], alpha * sum[r + 3]);
  }
}

// Stores alpha * sum by the accelerator, box after box; it leaves out what is outside D.
template <class T, class Tile, int kFirst = 0>
__device__ __forceinline__ void store_mapped(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                             float alpha, const ResultMaps& d, const WarpPlace& at,
                                             int lane) {
  constexpr int kOfBox = Tile::kLineBytes / static_cast<int>(sizeof(T));
  if constexpr (kFirst < Tile::kBlockN) {
    constexpr bool kWhole = kFirst + kOfBox <= Tile::kBlockN;
    static_assert(kWhole || kFirst + kOfBox / 2 == Tile::kBlockN);
    auto& box = boxes[kFirst / kOfBox % Tile::kBoxes];
    const OperandMap& map = kWhole ? d.whole : d.half;
    // The box before may still be read; of the tile before it is this one where their number is
    // odd.
    constexpr bool kSameBox =
        kFirst == 0 && (Tile::kBlockN + kOfBox - 1) / kOfBox % Tile::kBoxes != 0;
    if (lane == 0) ptx::tma_wait_for_reads_of_stores<kSameBox ? 0 : Tile::kBoxes - 1>();
    __syncwarp();
    write_box<T, kFirst, Tile::kLineBytes / (kWhole ? 1 : 2), Tile>(box, sum, alpha, lane);
    ptx::fence_bulk();
    __syncwarp();
    if (lane == 0) {
      ptx::tma_store_3d(&map.map, box, at.column + kFirst, at.row, at.batch * map.batch_step);
      ptx::tma_commit_stores();
    }
    store_mapped<T, Tile, kFirst + kOfBox>(boxes, sum, alpha, d, at, lane);
  }
}

// Writes the sums of the columns from kColumns * chunk on to the boxes, as floats.
template <class Tile, int kChunk = 0>
__device__ __forceinline__ void write_chunk(Boxes<Tile>& boxes, const Results<Tile>& sum, int chunk,
                                            int lane) {
  constexpr int kColumns = 2 * Tile::kLineBytes / 4;
  if constexpr (kChunk * kColumns < Tile::kBlockN) {
    if (chunk == kChunk) {
      write_box<float, kChunk * kColumns, Tile::kLineBytes, Tile>(boxes[0], sum, 1.0f, lane);
      if constexpr (kChunk * kColumns + kColumns / 2 < Tile::kBlockN) {
        write_box<float, kChunk * kColumns + kColumns / 2, Tile::kLineBytes, Tile>(boxes[1], sum,
                                                                                   1.0f, lane);
      }
    } else {
      write_chunk<Tile, kChunk + 1>(boxes, sum, chunk, lane);
    }
  }
}

// Stores through the epilogue: sums go through the boxes as floats, so that lanes have neighbours
// of a row, which they load and store together.
template <class T, class Tile>
__device__ __forceinline__ void store_through(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                              const GemmProblem& p, const Scalars& scalars,
                                              const WarpPlace& at, int lane) {
  constexpr int kColumns = 2 * Tile::kLineBytes / 4, kLanes = kColumns / 4;
  const FusedEpilogue<true, T> epilogue(p, scalars, {at.batch, at.row, at.column});
  const int rows = static_cast<int>(min(p.m - at.row, int64_t{16}));
  // The accelerator's stores of the tile before read the boxes.
  if (lane == 0) ptx::tma_wait_for_reads_of_stores();
#pragma unroll 1
  for (int chunk = 0; chunk < Tile::kColumnsB / kColumns; ++chunk) {
    __syncwarp();
    write_chunk<Tile>(boxes, sum, chunk, lane);
    __syncwarp();
    const int in_chunk = lane % kLanes * 4, column = chunk * kColumns + in_chunk;
    const int inside = static_cast<int>(min(p.n - at.column, int64_t{Tile::kBlockN}));
    const int columns = min(inside - column, 4);
    const float4 bias = bias_of_four(epilogue, column, columns);
    const auto of_row = [&](const Operand& x, int row) {
      return x.matrix<T>(at.batch) + at.column + column + (at.row + row) * x.ld;
    };
#pragma unroll 1
    for (int row = lane / kLanes; row < rows; row += 32 / kLanes) {
      const int place = swizzle_128b(row * Tile::kLineBytes + in_chunk % 32 * 4);
      const float4 four = *reinterpret_cast<const float4*>(&boxes[in_chunk / 32][place]);
      store_four<T>(of_row(p.d, row), scalars.beta == 0.0f ? nullptr : of_row(p.c, row), row,
                    column, four, columns, scalars.alpha, bias, epilogue);
    }
  }
}

// Stores the sums of a warp, which are complete.
template <class T, class Tile>
__device__ __forceinline__ void store_results(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                              const GemmProblem& p, const ResultMaps& d,
                                              bool mapped, const WarpPlace& at, int lane) {
  const Scalars scalars(p);
  if (mapped && !p.fused && scalars.beta == 0.0f) {
    store_mapped<T, Tile>(boxes, sum, scalars.alpha, d, at, lane);
  } else {
    store_through<T, Tile>(boxes, sum, p, scalars, at, lane);
  }
}

// The same for the type of D.
template <class Tile>
__device__ __forceinline__ void store_tile(Boxes<Tile>& boxes, const Results<Tile>& sum,
                                           const GemmProblem& p, const ResultMaps& d, bool mapped,
                                           const WarpPlace& at, int lane) {
  switch (p.d.type) {
    case MYGEMM_R_32F: return store_results<float, Tile>(boxes, sum, p, d, mapped, at, lane);
    case MYGEMM_R_16F: return store_results<__half, Tile>(boxes, sum, p, d, mapped, at, lane);
    default: return store_results<__nv_bfloat16, Tile>(boxes, sum, p, d, mapped, at, lane);
  }
}

}  // namespace mygemm::tensor16
