// Errors of matrix products against FP64: ours, the peers' and those of our rows. Where sgemm.cpp
// measures how fast they are, this measures how far off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "contest.h"
#include "distributions.h"
#include "session.h"

namespace bench {

// Of one computed C against the FP64 one. NaN where C holds a NaN.
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
  std::vector<Contender> contenders;  // the first is what a user of mygemm gets
  double tolerance = 0;  // of `largest`: what no order of FP32 sums exceeds; 0 for integers
  std::string failure;   // why there is no measurement, or empty

  // The library that ours is held to, or null: the first that takes part.
  const Contender* peer() const;
  bool wrong(const Contender& contender) const;
  bool wrong() const;  // any row of ours
};

// `problem` is a single product, packed. Rows `also` are measured whether or not the plan would
// take them.
Accuracy measure_accuracy(Session* session, const SgemmCase& problem, const std::string& data,
                          uint32_t seed, const std::vector<std::string>& also);

}  // namespace bench
