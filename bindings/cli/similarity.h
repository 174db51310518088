// The computation of `mygemm demo`: rows of a sparse matrix compared with one another by the
// library's three operations, each timed and held to an FP64 computation.
#pragma once

#include <string>
#include <vector>

#include "session.h"
#include "text.h"

namespace mygemm::cli {

// One operation as it was carried out.
struct Measurement {
  std::string operation;  // "sgemm"
  std::string size;       // "20 x 20 x 3000"
  std::string kernel;     // the kernel that the plan chose
  double seconds;         // median of one call
  double work;            // floating-point operations, or bytes read and written
  bool counts_flops;      // what work counts
  double max_error;       // against FP64; exact where 0
};

struct Similarity {
  Bytes cosines;  // rows x rows, row-major; -inf on the diagonal
  Bytes shares;   // softmax of each row of cosines / temperature
  std::vector<Measurement> measurements;
};

// X' by transpose, S = X X' by sgemm, softmax of each row of S / temperature. A row is not
// compared with itself. Throws Error where a result differs from FP64 by more than the bound.
Similarity compare_rows(const Session& session, const TermMatrix& matrix, double temperature);

}  // namespace mygemm::cli
