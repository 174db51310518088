// How many threads the host kernels use: OpenMP's answer, so OMP_NUM_THREADS and
// omp_set_num_threads() are honoured. Host backend; below the plan.
#include "host/parallel.h"

namespace mygemm::host {

int num_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

}  // namespace mygemm::host
