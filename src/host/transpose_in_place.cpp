// Transposes in place of any shape and any leading dimensions, without memory, by following the
// permutation. Host backend; used where no other transpose in place can run.
//
// Positions are offsets in elements. The source's element (r, c) lies at r * ldin + c and belongs
// at c * ldout + r. Following "comes from", every position of the two layouts is on one
//   path: from a target that is no source, to a source that is no target, or a
//   cycle: of positions that are both.
// A path is moved from its first position on. A cycle is moved by its leader, the smallest
// position; finding out whether a position is one costs a walk, on average log(cycle) long.
#include <cstdint>

#include "host/transpose_element.h"

namespace mygemm::host {
namespace {

struct Permutation {
  int64_t rows, cols, ldin, ldout;

  bool is_source(int64_t position) const {
    return position / ldin < rows && position % ldin < cols;
  }
  bool is_target(int64_t position) const {
    return position / ldout < cols && position % ldout < rows;
  }
  // The source of the element that belongs at a target.
  int64_t origin(int64_t target) const { return target % ldout * ldin + target / ldout; }

  bool leads_cycle(int64_t position) const {
    int64_t next = origin(position);
    while (next > position && is_target(next)) next = origin(next);
    return next == position;
  }
};

template <class T>
void move_path(const Permutation& permutation, int64_t position, T* data) {
  do {
    const int64_t from = permutation.origin(position);
    data[position] = data[from];
    position = from;
  } while (permutation.is_target(position));
}

template <class T>
void move_cycle(const Permutation& permutation, int64_t leader, T* data) {
  const T first = data[leader];
  int64_t position = leader;
  for (int64_t from = permutation.origin(position); from != leader;
       from = permutation.origin(position)) {
    data[position] = data[from];
    position = from;
  }
  data[position] = first;
}

template <class T>
void follow_cycles(const Permutation& permutation, T* data) {
  for (int64_t c = 0; c < permutation.cols; ++c) {
    for (int64_t r = 0; r < permutation.rows; ++r) {
      const int64_t target = c * permutation.ldout + r;
      if (!permutation.is_source(target)) {
        move_path(permutation, target, data);
      } else if (permutation.leads_cycle(target)) {
        move_cycle(permutation, target, data);
      }
    }
  }
}

}  // namespace

void follow_cycles(const TransposeProblem& problem) {
  const Permutation permutation{problem.rows, problem.cols, problem.ldin, problem.ldout};
  with_element(problem.element_size, [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0; i < problem.batch_count; ++i) {
      follow_cycles(permutation, static_cast<T*>(problem.out) + i * problem.stride_out);
    }
  });
}

}  // namespace mygemm::host
