// Named lists of problems. On the host the large ones are left out or made smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"

namespace bench {

struct SuiteOptions {
  bool host = false;
  uint32_t seed = 1;  // of "random", and of the data whose errors are measured
  int count = 40;     // of "random"
};

const std::vector<std::string>& sgemm_suites();
const std::vector<std::string>& softmax_suites();
const std::vector<std::string>& transpose_suites();

// The products whose errors are measured where none is named: a square and a deep one.
std::vector<SgemmCase> accuracy_products(const SuiteOptions& options);

// The problems of one of the names above; all complete().
std::vector<SgemmCase> sgemm_suite(const std::string& name, const SuiteOptions& options);
std::vector<SoftmaxCase> softmax_suite(const std::string& name, const SuiteOptions& options);
std::vector<TransposeCase> transpose_suite(const std::string& name, const SuiteOptions& options);

}  // namespace bench
