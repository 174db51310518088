// Second stage of a call: whether the problem is legal, and whether there is anything to do. Pure:
// looks at argument values; the only pointers that it dereferences are arrays of matrix pointers,
// sizes and leading dimensions in host memory. No CUDA headers.
#pragma once

#include "problem.h"
#include "status.h"

namespace mygemm {

enum class Verdict {
  kOk,      // plan and launch it
  kDone,    // legal, and nothing would be read or written
  kInvalid  // fail() has been called with the sentence; the status is INVALID_VALUE
};

// The extent of a validation. Explain and workspace queries skip pointers and quick returns.
enum class Check { kEverything, kShapesOnly };

Verdict validate(const GemmProblem& problem, Check check);
Verdict validate(const GroupedProblem& problem, Check check);
Verdict validate(const SoftmaxProblem& problem, Check check);
Verdict validate(const CrossEntropyProblem& problem, Check check);
Verdict validate(const TransposeProblem& problem, Check check);

// Enumerations as they come through the ABI; each calls fail() where false.
bool valid_operation(const char* argument, int value);
bool valid_data_type(const char* argument, int value);
bool valid_index_type(const char* argument, int value);
bool valid_softmax_mode(int value);
bool valid_empty_rows(int value);
bool valid_product_math(int value);        // of mygemmGemm_t: MYGEMM_MATH_OF_HANDLE too
bool valid_product_invariance(int value);  // MYGEMM_INVARIANCE_OF_HANDLE too
bool valid_activation(int value);
bool valid_sums(int value);
bool valid_fill(int value);
bool valid_pointer_mode(const char* argument, int value);
bool valid_flag(const char* argument, int value);

// NOT_SUPPORTED where no kernel takes these element types together.
Status supported_types(const GemmProblem& problem);

// A struct of the ABI that grows with versions, of which this library knows `known_bytes`; its
// first field is its size as the caller knows it. INVALID_VALUE where that is too small,
// NOT_SUPPORTED where the caller uses a field that this library does not know.
Status check_struct(const char* argument, const char* initialiser, const void* given,
                    size_t known_bytes);

}  // namespace mygemm
