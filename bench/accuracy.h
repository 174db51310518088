// Errors of matrix products against FP64: ours, the peers' and those of our kernels. sgemm.cpp
// measures speed, this measures errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "contest.h"
#include "distributions.h"
#include "session.h"

namespace bench {

// Errors of one computed C against the FP64 one. NaN where C holds a NaN.
struct Errors {
  double largest = 0;    // max over elements of |C - reference| / (|A| |B|)
  double frobenius = 0;  // ||C - reference|| / ||reference||
};

struct Contender {
  Author author;
  Errors errors;
};

struct Accuracy {
  std::string data, reference;
  SgemmCase problem;
  std::vector<Contender> contenders;  // the first: mygemm as a user gets it
  double tolerance = 0;  // bound of `largest` for FP32 sums in any order; 0 for integers
  std::string failure;   // why there is no measurement, or empty

  // The library that ours is compared with: the first that takes part, or null.
  const Contender* peer() const;
  bool wrong(const Contender& contender) const;
  bool wrong() const;  // of any kernel of ours
};

// `problem` is a single product, packed. Kernels `also` are measured whether or not the plan would
// choose them.
Accuracy measure_accuracy(Session* session, const SgemmCase& problem, const std::string& data,
                          uint32_t seed, const std::vector<std::string>& also);

}  // namespace bench
