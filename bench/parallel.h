// A loop on all threads of the host. Lowest layer of mygemm-bench.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

inline void in_parallel(int64_t count, const std::function<void(int64_t)>& work) {
  const int64_t threads =
      std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, std::max<int64_t>(count, 1));
  std::vector<std::jthread> running;
  for (int64_t first = 0; first < threads; ++first) {
    running.emplace_back([=, &work] {
      for (int64_t i = first; i < count; i += threads) {
        work(i);
      }
    });
  }
}

}  // namespace bench
