// The rules that the validations of all operations are made of: each refuses an argument with a
// sentence that names it, its value and the rule.
#pragma once

#include "overlap.h"
#include "validate.h"

namespace mygemm {

// fail() as an operand of || and &&.
[[gnu::format(printf, 1, 2)]] bool refuse(const char* format, ...);

inline long long number(int64_t value) { return static_cast<long long>(value); }

constexpr int64_t kAddressSpace = INT64_MAX;  // bytes

bool not_negative(const char* argument, int64_t value);
bool finite(const char* argument, float value);

// `rule` is the sentence's right-hand side, e.g. "max(1, m)"; `why` an addition in parentheses.
bool ld_ok(const char* argument, int64_t ld, int64_t extent, const char* rule, const char* why);

bool pointer_ok(const char* argument, const void* pointer, int64_t alignment);

// From the first element of a matrix to its last.
Wide elements_of(int64_t runs, int64_t run_length, int64_t ld);

// A batch of strided matrices in bytes, or a refusal where its extent does not fit 63 bits or
// runs past the end of the address space.
bool make_footprint(const char* argument, const void* data, int64_t runs, int64_t run_length,
                    int64_t ld, int64_t batch, int64_t batch_stride, int64_t element_size,
                    BatchedFootprint* footprint);

// The matrices of an output batch must not overlap one another.
bool distinct_outputs(const char* argument, const BatchedFootprint& out, int64_t stride);

// Checks that `in` is exactly where the output is, or shares no byte with it.
bool in_place_or_distinct(const char* in_name, const TypedMatrix& in, const BatchedFootprint& x,
                          const char* out_name, const TypedMatrix& out, const BatchedFootprint& y);

// The verdict on a problem whose shapes and pointers have rules.
template <class Problem>
Verdict verdict(const Problem& problem, Check check, bool nothing_to_do,
                bool (*shapes_ok)(const Problem&), bool (*pointers_ok)(const Problem&)) {
  if (!shapes_ok(problem)) return Verdict::kInvalid;
  if (check == Check::kShapesOnly) return Verdict::kOk;
  if (nothing_to_do) return Verdict::kDone;
  return pointers_ok(problem) ? Verdict::kOk : Verdict::kInvalid;
}

}  // namespace mygemm
