// Matrix product, short sums: the results of a warp tile wait in shared memory, and the warp stores
// them while it multiplies the next tile. Device only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/tma/multiply.cuh"

namespace mygemm::tma {

// The results of a warp tile, quads[q][place]: quad q of a lane, columns first. A lane's place is
// its number, but where 32 rows are two quads of a lane, the columns of the second change places
// with their neighbours: so 32 rows of a column are in 32 banks.
template <class Tile>
struct WaitingResults {
  static constexpr int kQuadsM = Tile::kThreadM / 4;
  static constexpr int kQuadsOfStrip = 8 / Tile::kLanesM;  // of a lane, in 32 rows

  alignas(16) float quads[Tile::kThreadN * kQuadsM][32][4];

  static __device__ constexpr int place(int lane, int quad) {
    return lane ^ (quad % kQuadsOfStrip * Tile::kLanesM);
  }
};

// Stores the results of a warp tile in units of 32 rows and 16 columns.
template <class Tile>
class StoreBeside {
 public:
  __device__ __forceinline__ StoreBeside(WaitingResults<Tile>& results, int lane)
      : results_(&results), lane_(lane) {}

  // Takes the sums of the warp tile at `d`, once those of the one before are stored.
  __device__ __forceinline__ void take(const Results<Tile>& sum,
                                       const OutputTile<ScaleEpilogue>& d) {
    finish();
    epilogue_ = d.epilogue;
    // Where D is not read, results are finished here. The products are what goes to shared memory
    // in quads of registers: sums that do are in the same bank as what they are multiplied with.
    const ScaleEpilogue now{epilogue_.reads_d() ? 1.0f : epilogue_.alpha, 0.0f};
    __syncwarp();  // all have been read
#pragma unroll
    for (int j = 0; j < Tile::kThreadN; ++j) {
#pragma unroll
      for (int q = 0; q < kQuadsM; ++q) {
        float quad[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          quad[e] = now.finish(0, 0, sum[j][4 * q + e], static_cast<const float*>(nullptr));
        }
        *reinterpret_cast<float4*>(
            results_->quads[j * kQuadsM + q][WaitingResults<Tile>::place(lane_, q)]) =
            make_float4(quad[0], quad[1], quad[2], quad[3]);
      }
    }
    __syncwarp();  // all are there
    d_ = d.first;
    ld_ = d.ld;
    rows_ = d.rows, columns_ = d.columns;
    in_quads_ = d.in_quads && d.rows >= Tile::kWarpM;
    unit_ = 0;
  }

  // Stores what is left.
  __device__ __forceinline__ void finish() {
#pragma unroll 1
    while (unit_ < Tile::kUnits) store_unit();
  }

  // Beside the products of a k step.
  __device__ __forceinline__ void step() {
    if (unit_ < Tile::kUnits) store_unit();
  }

 private:
  static constexpr int kStrips = Tile::kWarpM / 32;
  static constexpr int kLanesM = Tile::kLanesM, kLanesN = Tile::kLanesN;
  static constexpr int kQuadsM = Tile::kThreadM / 4;
  static constexpr int kColumn = kQuadsM * 32 * 4;  // floats from a lane's column to its next

  __device__ __forceinline__ void store_unit() {
    const int strip = unit_ % unsigned{kStrips}, group = unit_ / unsigned{kStrips};
    ++unit_;
    // The first of the unit's columns among a lane's, and of the lanes along n that have them.
    const int j = group * 4 / kLanesN * 4, lane_n = group * 4 % kLanesN;
    const float* from =
        results_
            ->quads[j * kQuadsM + strip * WaitingResults<Tile>::kQuadsOfStrip][kLanesM * lane_n];
    float* to = d_ + strip * 32 + group * 16 * ld_;
    if (in_quads_) {
      store_quads(from, to, columns_ - group * 16);
    } else {
      store_elements(from, to + lane_, rows_ - strip * 32 - lane_, columns_ - group * 16);
    }
  }

  // 8 lanes have 32 rows of a column, and the next 8 lanes the column 4 further on.
  __device__ __forceinline__ void store_quads(const float* from, float* to, int columns) {
    const int quad = lane_ % 8 / kLanesM, column = lane_ / 8 * 4;
    const int of_lane = lane_ % kLanesM + kLanesM * (lane_ / 8);
    from += (quad * 32 + WaitingResults<Tile>::place(of_lane, quad)) * 4;
    to += lane_ % 8 * 4 + column * ld_;
    columns -= column;
    float4 quads[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) quads[c] = *reinterpret_cast<const float4*>(from + c * kColumn);
    if (epilogue_.reads_d()) {
      float4 old[4] = {};
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        if (c < columns) old[c] = load_four(to + c * ld_);
      }
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        quads[c] = make_float4(finished(quads[c].x, old[c].x), finished(quads[c].y, old[c].y),
                               finished(quads[c].z, old[c].z), finished(quads[c].w, old[c].w));
      }
    }
    // Plain stores of some quads came out as those of their elements (nvcc 13.0).
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      if (c < columns) __stcg(reinterpret_cast<float4*>(to), quads[c]);
      to += ld_;
    }
  }

  // Lanes have neighbouring rows of a column. to: the lane's row of the first one; it is inside D
  // where `rows` is more than 0.
  __device__ __forceinline__ void store_elements(const float* from, float* to, int rows,
                                                 int columns) {
    const int quad = lane_ / (4 * kLanesM), lane_m = lane_ / 4 % kLanesM;
    from += quad * 128 + lane_ % 4;
    float values[16];
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      const int of_lane = lane_m + kLanesM * (c / 4);
      values[c] = from[c % 4 * kColumn + 4 * WaitingResults<Tile>::place(of_lane, quad)];
    }
    if (rows <= 0) return;
    if (epilogue_.reads_d()) {
      float old[16] = {};
#pragma unroll
      for (int c = 0; c < 16; ++c) {
        if (c < columns) old[c] = to[c * ld_];
      }
#pragma unroll
      for (int c = 0; c < 16; ++c) values[c] = finished(values[c], old[c]);
    }
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      if (c < columns) *to = values[c];
      to += ld_;
    }
  }

  __device__ __forceinline__ float finished(float sum, float old) const {
    return epilogue_.finish(0, 0, sum, &old);
  }

  WaitingResults<Tile>* results_;
  int lane_;
  unsigned unit_ = Tile::kUnits;  // the next; kUnits: all are stored
  ScaleEpilogue epilogue_ = {};
  float* d_ = nullptr;
  int64_t ld_ = 0;
  int rows_ = 0, columns_ = 0;  // inside D
  bool in_quads_ = false;
};

}  // namespace mygemm::tma
