// See dealing.h.
#include "dealing.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "host.h"
#include "host/host.h"
#include "host/thread_pool.h"

namespace mygemm::blas {
namespace {

// A worker's part in a product.
struct Work {
  Gpu* gpu;
  const Product* product;
  const Tiling* tiling;
  TileShares* shares;
  int worker;
  int threads;  // of the caller's loops

  void run() const {
    gpu->compute(*product, *tiling, shares, worker);
    shares->leave(worker);
  }
};

void* run_on_thread(void* argument) {
  const Work& work = *static_cast<const Work*>(argument);
  host::set_num_threads(work.threads);
  work.run();
  return nullptr;
}

// The first one on this thread. Where no thread can be started, its GPU takes no part.
void run_at_once(std::span<Work> works) {
  std::vector<pthread_t> threads;
  threads.reserve(works.size());
  for (Work& work : works.subspan(1)) {
    pthread_t thread;
    if (host::start_thread(run_on_thread, &work, &thread)) {
      threads.push_back(thread);
    } else {
      work.shares->leave(work.worker);
    }
  }
  works.front().run();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

std::vector<std::vector<Rect>> shares_of(const Product& product, const Tiling& tiling,
                                         int workers) {
  std::vector<std::vector<Rect>> shares;
  for (int worker = 0; worker < workers; ++worker) {
    shares.push_back(tiles_of_result(product, tiling, worker, workers));
  }
  return shares;
}

}  // namespace

bool multiply(const Product& product, std::span<Gpu* const> gpus) {
  const std::optional<Tiling> tiling = gpus.front()->choose_tiling(product);
  if (!tiling) return false;
  const int threads = host::num_threads();
  const auto workers =
      static_cast<int>(std::min<int64_t>(std::ssize(gpus), tiling->panels_that_stream()));
  TileShares shares(shares_of(product, *tiling, workers));
  if (workers > 1) host::prepare_threads(std::min(threads, workers * kMostCopyingThreads));
  std::vector<Work> works;
  for (int worker = 0; worker < workers; ++worker) {
    Gpu* const gpu = gpus[static_cast<size_t>(worker)];
    works.push_back({gpu, &product, &*tiling, &shares, worker, threads});
  }
  run_at_once(works);
  // Tiles may have been given back after other GPUs had ended.
  for (const Work& work : works) {
    if (!shares.all_are_taken()) work.run();
  }
  if (shares.none_is_taken()) return false;
  while (const std::optional<Rect> tile = shares.take(0)) multiply_on_host(product.part(*tile));
  return true;
}

}  // namespace mygemm::blas
