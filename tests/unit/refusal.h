// Unit tests: what validate() says of a problem.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "validate.h"

namespace mygemm_tests {

// The sentence that refuses the problem; "" where it is accepted, which must leave none.
template <class Problem>
std::string refusal(const Problem& problem, mygemm::Check check = mygemm::Check::kEverything) {
  mygemm::fail(MYGEMM_STATUS_SUCCESS, "untouched");
  const mygemm::Verdict verdict = mygemm::validate(problem, check);
  const std::string sentence = mygemm::last_error_text();
  if (verdict == mygemm::Verdict::kInvalid) return sentence;
  EXPECT_EQ(sentence, "untouched") << "accepted, but with a sentence";
  return "";
}

}  // namespace mygemm_tests
