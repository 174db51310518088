// ABI tests: the last stages of the rules, about memory: byte counts, and overlap by visiting every
// byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules.h"

namespace mygemm_tests {

// The arguments at fault of the stage that is being checked.
class Stage {
 public:
  void refuse_if(bool broken, const char* argument) {
    if (broken) culprits_.push_back(argument);
  }
  bool broken() const { return !culprits_.empty(); }
  Verdict verdict() const {
    Verdict verdict;
    verdict.status = MYGEMM_STATUS_INVALID_VALUE;
    verdict.culprits = culprits_;
    return verdict;
  }

 private:
  std::vector<std::string> culprits_;
};

struct Input {
  Operand operand;
  bool in_place;
};

// The last stages: byte counts, then overlap. An input in place is so with the first output.
Verdict memory_rules(const std::vector<Input>& inputs, const std::vector<Operand>& outs,
                     const Arena& arena);

// Number of matrices to check: all, or two where all are the same.
int64_t distinct_matrices(const Operand& operand);

// Calls visit(byte of the arena) for every byte of matrix i.
template <class F>
void visit_matrix(const Arena& arena, const Operand& operand, int64_t i, F visit) {
  const int64_t start = static_cast<int64_t>(reinterpret_cast<uintptr_t>(operand.data) -
                                             reinterpret_cast<uintptr_t>(arena.begin));
  for (int64_t run = 0; run < operand.runs; ++run) {
    const int64_t first = start + (i * operand.stride + run * operand.ld) * operand.element_bytes;
    for (int64_t b = 0; b < operand.run * operand.element_bytes; ++b) visit(first + b);
  }
}

}  // namespace mygemm_tests
