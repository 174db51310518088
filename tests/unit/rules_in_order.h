// Unit tests: the order in which the rules of an operation's arguments are checked, and that each
// has its sentence.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "unit/problems.h"
#include "unit/refusal.h"
#include "validate.h"

namespace mygemm_tests {

using mygemm::Check;
using mygemm::Verdict;

template <class T>
T* misaligned(int bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address<T>(0)) +
                              static_cast<uintptr_t>(bytes));
}

// One broken rule: what breaks it and the sentence that must follow.
template <class Problem>
struct Fault {
  const char* sentence;
  void (*make)(Problem&);
};

// A legal problem and its faults, in the order in which they must be found. Faults change
// different fields, so that any two can be made at once.
template <class Problem>
struct Rules {
  Problem legal;
  std::vector<Fault<Problem>> shapes, pointers;
};

template <class Problem>
void check_rules(const Rules<Problem>& rules) {
  EXPECT_EQ(validate(rules.legal, Check::kEverything), Verdict::kOk);
  EXPECT_EQ(validate(rules.legal, Check::kShapesOnly), Verdict::kOk);
  std::vector<Fault<Problem>> faults = rules.shapes;
  faults.insert(faults.end(), rules.pointers.begin(), rules.pointers.end());
  for (size_t i = 0; i < faults.size(); ++i) {
    const bool is_shape = i < rules.shapes.size();
    Problem one = rules.legal;
    faults[i].make(one);
    EXPECT_EQ(refusal(one), faults[i].sentence);
    EXPECT_EQ(refusal(one, Check::kShapesOnly), is_shape ? faults[i].sentence : "");
    for (size_t j = i + 1; j < faults.size(); ++j) {
      Problem two = one;
      faults[j].make(two);
      EXPECT_EQ(refusal(two), faults[i].sentence) << "before: " << faults[j].sentence;
    }
  }
}

// With nothing to do, shapes are checked and pointers are not.
template <class Problem>
void check_quick_return(const Rules<Problem>& rules, void (*empty)(Problem&)) {
  Problem nothing = rules.legal;
  empty(nothing);
  for (const auto& fault : rules.pointers) fault.make(nothing);
  EXPECT_EQ(validate(nothing, Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(nothing, Check::kShapesOnly), Verdict::kOk);
  for (const auto& fault : rules.shapes) {
    Problem broken = nothing;
    fault.make(broken);
    EXPECT_EQ(validate(broken, Check::kEverything), Verdict::kInvalid) << fault.sentence;
  }
}

}  // namespace mygemm_tests
