// Second stage of a call: is the problem legal, and is there anything to do? Pure: looks at
// argument values, and not through pointers but for arrays of matrix pointers in host memory. No
// CUDA headers.
#pragma once

#include "problem.h"
#include "status.h"

namespace mygemm {

enum class Verdict {
  kOk,      // plan and launch it
  kDone,    // legal, and nothing would be read or written
  kInvalid  // fail() has been called with the sentence; the status is INVALID_VALUE
};

// What a validation looks at. Explain and workspace queries leave out pointers and quick returns.
enum class Check { kEverything, kShapesOnly };

Verdict validate(const GemmProblem& problem, Check check);
Verdict validate(const SoftmaxProblem& problem, Check check);
Verdict validate(const TransposeProblem& problem, Check check);

// Enumerations as they come through the ABI; each calls fail() where false.
bool valid_operation(const char* argument, int value);
bool valid_data_type(const char* argument, int value);
bool valid_softmax_mode(int value);

}  // namespace mygemm
