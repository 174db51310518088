// How many threads the host kernels use: OpenMP's answer, so OMP_NUM_THREADS and
// omp_set_num_threads() are honoured; nothing else of OpenMP is used. Host backend; below the plan.
#include "host/parallel.h"

#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace mygemm::host {
namespace {
constinit std::atomic<int> most_of_a_process{0};  // 0: no limit
}

int num_processors() {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

int num_threads() {
#ifdef _OPENMP
  // In a loop of the program's own that OpenMP would not divide once more.
  if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  const int threads = std::min(omp_get_max_threads(), omp_get_thread_limit());
  // As many as there are processors: nobody has asked for that number.
  const int most = most_of_a_process.load(std::memory_order_relaxed);
  return most > 0 && threads == num_processors() ? std::min(threads, most) : threads;
#else
  return 1;
#endif
}

void set_num_threads([[maybe_unused]] int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

void share_node(int processes, int processors) {
  if (processors <= 0) processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int each = processes > 1 ? std::max(1, processors / processes) : 0;
  most_of_a_process.store(each, std::memory_order_relaxed);
}

}  // namespace mygemm::host
