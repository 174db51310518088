// See pipeline.h.
#include "pipeline.h"

#include <algorithm>
#include <span>

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
  config.device = current_device();
  config.workspace_bytes = 0;  // every call is given one
  check(mygemm_create_with_config(&handle_, &config));
  check(mygemm_set_stream(handle_, compute_.get()));
}

int64_t Pipeline::workspace_floats(const Product& p, const Tiling& tiling) const {
  size_t bytes = 0;
  check(mygemm_sgemm_workspace_size(handle_, operation(p.transa), operation(p.transb),
                                    tiling.tile_m, tiling.tile_n, tiling.tile_k, 1, &bytes));
  const int64_t wanted = std::min(static_cast<int64_t>(bytes), limits_.workspace_bytes);
  return (wanted + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment /
         kFloatBytes;
}

std::optional<Tiling> Pipeline::choose_tiling(const Product& product) {
  for (TilingLimits limits = limits_.tiling;; limits.device_floats /= 2) {
    const std::optional<Tiling> tiling = blas::choose_tiling(product, limits);
    if (!tiling || make_room(product, *tiling)) return tiling;
  }
}

bool Pipeline::make_room(const Product& product, const Tiling& tiling) {
  const int64_t of_tiles = device_floats(product, tiling);
  if (of_tiles > limits_.tiling.device_floats) return false;
  const int64_t floats = workspace_floats(product, tiling) + of_tiles;
  if (floats <= arena_floats_) return true;
  arena_.reset();
  arena_floats_ = 0;
  void* memory = nullptr;
  if (cudaMalloc(&memory, static_cast<size_t>(floats * kFloatBytes)) != cudaSuccess) {
    cudaGetLastError();  // clears the error, which the next call would report
    return false;
  }
  arena_.reset(static_cast<float*>(memory));
  arena_floats_ = floats;
  return true;
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
  give(&a_, t.slots_of_a(), stored(nullptr, 0, p.transa, t.tile_m, t.tile_k));
  give(&b_, t.slots_of_b(), stored(nullptr, 0, p.transb, t.tile_k, t.tile_n));
  give(&c_, t.slots_of_c(), stored(nullptr, 0, false, t.tile_m, t.tile_n));
}

void Pipeline::compute(const Product& product, const Tiling& tiling, TileShares* shares,
                       int worker) {
  std::optional<Rect> tile;
  try {
    lay_out(product, tiling);
    while ((tile = shares->take(worker))) {
      has_computed_ = true;
      if (static_cast<int64_t>(computed_.size()) == c_.count) finish_download(product);
      Slot& slot = multiply_tile(product, tiling, *tile);
      computed_.push_back({&slot, *tile});
      tile.reset();
      begin_download(product);
    }
    while (!computed_.empty()) finish_download(product);
  } catch (...) {
    if (tile) shares->give_back(*tile);
    abandon_downloads(product, shares);
    throw;
  }
}

// Enqueues one tile of C, and the transfers of the tiles of A, B and C that it needs. The tile that
// was in its slot is back on the host.
Pipeline::Slot& Pipeline::multiply_tile(const Product& p, const Tiling& tiling, const Rect& tile) {
  Slot& c = c_.next();
  if (p.beta != 0.0f) load(&c, {p.c + tile.row + tile.col * p.ldc, p.ldc, tile.rows, tile.cols});
  for (int64_t l = 0; l < p.k; l += tiling.tile_k) {
    const int64_t depth = std::min(tiling.tile_k, p.k - l);
    Slot& a = find_or_load(&a_, tile.row + l * p.m,
                           stored(p.a_at(tile.row, l), p.lda, p.transa, tile.rows, depth));
    Slot& b = find_or_load(&b_, l + tile.col * p.k,
                           stored(p.b_at(l, tile.col), p.ldb, p.transb, depth, tile.cols));
    const float beta = l == 0 ? p.beta : 1.0f;
    check(mygemm_sgemm(handle_, operation(p.transa), operation(p.transb), tile.rows, tile.cols,
                       depth, &p.alpha, a.matrix.data, a.matrix.ld, b.matrix.data, b.matrix.ld,
                       &beta, c.matrix.data, c.matrix.ld));
    a.used.record(compute_);
    b.used.record(compute_);
  }
  c.used.record(compute_);
  return c;
}

Pipeline::Slot& Pipeline::find_or_load(Operand* operand, int64_t tile, const HostMatrix& from) {
  for (Slot& slot : std::span(operand->slots).first(static_cast<size_t>(operand->count))) {
    if (slot.tile == tile) return slot;
  }
  Slot& slot = operand->next();
  load(&slot, from);
  slot.tile = tile;
  return slot;
}

void Pipeline::load(Slot* slot, const HostMatrix& from) {
  slot->used.hold(up_);
  upload(from, slot->matrix);
  slot->filled.record(up_);
  slot->filled.hold(compute_);
}

// Stores what arrives of the tile before in between.
void Pipeline::upload(const HostMatrix& from, const DeviceMatrix& to) {
  Upload transfer(from, to, up_, &up_ring_);
  const auto copy = [&] {
    while (transfer.copy_next()) {
      if (download_) download_->store_next();
    }
  };
  on_threads(transfer.bytes(), copy, [&] { transfer.give_up(); });
}

void Pipeline::begin_download(const Product& p) {
  if (download_ || computed_.empty()) return;
  const auto& [slot, tile] = computed_.front();
  download_.emplace(slot->matrix, p.c + tile.row + tile.col * p.ldc, p.ldc, tile, slot->used, down_,
                    &down_ring_);
}

void Pipeline::finish_download(const Product& product) {
  if (!download_->is_finished()) {
    download_->await_piece();
    const auto store = [this] {
      while (download_->await_and_store_next()) {
      }
    };
    on_threads(download_->bytes_left(), store, [this] { download_->give_up(); });
  }
  download_.reset();
  computed_.pop_front();
  begin_download(product);
}

// Another worker would read C of a tile, so that it may compute it only while nothing is stored.
void Pipeline::abandon_downloads(const Product& product, TileShares* shares) {
  for (const Computed& computed : computed_) {
    const bool begun = download_ && &computed == &computed_.front();
    if (!begun || download_->nothing_is_stored()) {
      shares->give_back(computed.tile);
    } else {
      download_->for_each_part_not_stored(
          [&](const Rect& part) { multiply_on_host(product.part(part)); });
    }
  }
  computed_.clear();
  download_.reset();
}

}  // namespace mygemm::blas
