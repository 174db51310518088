// See pipeline.h.
#include "pipeline.h"

#include <algorithm>

#include "host.h"

namespace mygemm::blas {
namespace {

void check(mygemmStatus_t status) {
  if (status != MYGEMM_STATUS_SUCCESS) throw GpuFailure{mygemm_last_error()};
}

constexpr int64_t kFloatBytes = sizeof(float);
constexpr int64_t kWorkspaceAlignment = 256;

// A matrix as it is stored, given the extents of what op() makes of it.
HostMatrix stored(const float* data, int64_t ld, bool transposed, int64_t rows, int64_t cols) {
  return {data, ld, transposed ? cols : rows, transposed ? rows : cols};
}

}  // namespace

Pipeline::Pipeline(const PipelineLimits& limits)
    : limits_(limits), up_ring_(limits.staging_floats), down_ring_(limits.staging_floats) {
  check(cudaGetDevice(&device_));
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  // Half of the memory is left to the rest of the program. Processes that share a device have equal
  // parts of the other half, whatever is free when each of them starts: with equal tiles, equal
  // data give equal bits.
  const size_t processes = static_cast<size_t>(std::max(1, limits_.processes));
  const size_t part = std::min(free_bytes / 2, total_bytes / 2 / processes);
  limits_.tiling.device_floats =
      std::min(limits_.tiling.device_floats, static_cast<int64_t>(part) / kFloatBytes);
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = MYGEMM_BACKEND_CUDA;
  config.device = device_;
  config.workspace_bytes = 0;  // every call is given one
  check(mygemm_create_with_config(&handle_, &config));
  check(mygemm_set_stream(handle_, compute_.get()));
}

bool Pipeline::multiply(const Product& product) {
  const CurrentDevice device(device_);
  std::optional<Tiling> tiling;
  if (!reserve(product, &tiling)) return false;
  const std::vector<Rect> tiles = tiles_of_result(product, *tiling);
  tiles_stored_ = 0;
  try {
    lay_out(product, *tiling);
    run(product, *tiling, tiles);
  } catch (const GpuFailure& failure) {
    broken_ = true;
    why_broken_ = failure.why;
    if (tiles_stored_ == 0 && pieces_stored() == 0) return false;
    finish_on_host(product, tiles);
  }
  return true;
}

int64_t Pipeline::workspace_floats(const Product& p, const Tiling& tiling) const {
  size_t bytes = 0;
  check(mygemm_sgemm_workspace_size(handle_, operation(p.transa), operation(p.transb),
                                    tiling.tile_m, tiling.tile_n, tiling.tile_k, 1, &bytes));
  const int64_t wanted = std::min(static_cast<int64_t>(bytes), limits_.workspace_bytes);
  return (wanted + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment /
         kFloatBytes;
}

// Allocates device memory for the product, with smaller tiles where little is free. False where
// even the smallest do not fit.
bool Pipeline::reserve(const Product& product, std::optional<Tiling>* tiling) {
  for (TilingLimits limits = limits_.tiling;; limits.device_floats /= 2) {
    *tiling = choose_tiling(product, limits);
    if (!tiling->has_value()) return false;
    const int64_t floats = workspace_floats(product, **tiling) + device_floats(product, **tiling);
    if (floats <= arena_floats_) return true;
    arena_.reset();
    arena_floats_ = 0;
    void* memory = nullptr;
    if (cudaMalloc(&memory, static_cast<size_t>(floats * kFloatBytes)) == cudaSuccess) {
      arena_.reset(static_cast<float*>(memory));
      arena_floats_ = floats;
      return true;
    }
    cudaGetLastError();  // clears the error, which the next call would report
  }
}

// Divides the memory: the workspace first, for its alignment, then the slots.
void Pipeline::lay_out(const Product& p, const Tiling& t) {
  const int64_t workspace = workspace_floats(p, t);
  check(mygemm_set_workspace(handle_, workspace > 0 ? arena_.get() : nullptr,
                             static_cast<size_t>(workspace * kFloatBytes)));
  float* next = arena_.get() + workspace;
  const auto give = [&next](Operand* operand, int64_t count, const HostMatrix& largest) {
    operand->count = count;
    operand->turn = 0;
    for (Slot& slot : operand->slots) slot.tile = -1;
    for (int64_t i = 0; i < count; ++i) {
      operand->slots[static_cast<size_t>(i)].matrix = {next, device_ld(largest.rows)};
      next += device_ld(largest.rows) * largest.cols;
    }
  };
  give(&a_, t.buffers_of_a(), stored(nullptr, 0, p.transa, t.tile_m, t.tile_k));
  give(&b_, t.buffers_of_b(), stored(nullptr, 0, p.transb, t.tile_k, t.tile_n));
  give(&c_, t.buffers_of_c(), stored(nullptr, 0, false, t.tile_m, t.tile_n));
}

void Pipeline::run(const Product& product, const Tiling& tiling, const std::vector<Rect>& tiles) {
  for (const Rect& tile : tiles) {
    ++c_.turn;
    multiply_tile(product, tiling, tile);
    finish_download();
    Slot& c = c_.current();
    download_.emplace(c.matrix, product.c + tile.row + tile.col * product.ldc, product.ldc, tile,
                      c.used, down_, &down_ring_);
  }
  finish_download();
}

// Enqueues one tile of C, and the transfers of the tiles of A, B and C that it needs.
void Pipeline::multiply_tile(const Product& p, const Tiling& tiling, const Rect& tile) {
  Slot& c = c_.current();
  if (p.beta != 0.0f) {
    const float* const from = p.c + tile.row + tile.col * p.ldc;
    load(&c_, tile.row + tile.col * p.m, {from, p.ldc, tile.rows, tile.cols});
  }
  for (int64_t l = 0; l < p.k; l += tiling.tile_k) {
    const int64_t depth = std::min(tiling.tile_k, p.k - l);
    load(&a_, tile.row + l * p.m, stored(p.a_at(tile.row, l), p.lda, p.transa, tile.rows, depth));
    load(&b_, l + tile.col * p.k, stored(p.b_at(l, tile.col), p.ldb, p.transb, depth, tile.cols));
    const DeviceMatrix& a = a_.current().matrix;
    const DeviceMatrix& b = b_.current().matrix;
    const float beta = l == 0 ? p.beta : 1.0f;
    check(mygemm_sgemm(handle_, operation(p.transa), operation(p.transb), tile.rows, tile.cols,
                       depth, &p.alpha, a.data, a.ld, b.data, b.ld, &beta, c.matrix.data,
                       c.matrix.ld));
    a_.current().used.record(compute_);
    b_.current().used.record(compute_);
  }
  c.used.record(compute_);
}

// Copies a tile to the operand's next slot, unless it is in the current one. The slot of C has been
// chosen by the caller, and its last tile is back on the host.
void Pipeline::load(Operand* operand, int64_t tile, const HostMatrix& from) {
  if (operand->current().tile == tile) return;
  if (operand != &c_) ++operand->turn;
  Slot& slot = operand->current();
  slot.used.hold(up_);
  upload(from, slot.matrix, up_, &up_ring_, &up_turn_, [this] {
    if (download_) download_->store_arrived();
  });
  slot.tile = tile;
  slot.filled.record(up_);
  slot.filled.hold(compute_);
}

void Pipeline::finish_download() {
  if (!download_) return;
  while (!download_->is_finished()) download_->store_next();
  download_.reset();
  ++tiles_stored_;
}

void Pipeline::finish_on_host(const Product& product, const std::vector<Rect>& tiles) {
  int64_t next_piece = pieces_stored();
  for (; tiles_stored_ < tiles.size(); ++tiles_stored_, next_piece = 0) {
    const Rect& tile = tiles[tiles_stored_];
    const Pieces pieces(tile.rows, tile.cols, c_.current().matrix.ld, down_ring_.capacity());
    for (; next_piece < pieces.count(); ++next_piece) {
      Rect piece = pieces.at(next_piece);
      piece.row += tile.row;
      piece.col += tile.col;
      multiply_on_host(product.part(piece));
    }
  }
}

}  // namespace mygemm::blas
