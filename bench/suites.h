// Named lists of problems. On the host the large ones are left out or made smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "grouped_case.h"

namespace bench {

struct SuiteOptions {
  bool host = false;
  uint32_t seed = 1;  // of "random", and of the data whose errors are measured
  int count = 40;     // of "random"
};

const std::vector<std::string>& sgemm_suites();
const std::vector<std::string>& gemm_suites();
const std::vector<std::string>& grouped_suites();
const std::vector<std::string>& softmax_suites();
const std::vector<std::string>& cross_entropy_suites();
const std::vector<std::string>& transpose_suites();

// The products whose errors are measured: of all depths, by all operations.
struct AccuracySweep {
  int64_t m = 0, n = 0;                          // 0: the usual ones
  std::vector<int64_t> depths;                   // none: the usual ones
  std::vector<std::string> operations = {"NN"};  // op(A) and op(B): N, T or C
};
std::vector<SgemmCase> accuracy_products(const AccuracySweep& sweep, const SuiteOptions& options);

// The problems of one of the names above; all complete().
std::vector<SgemmCase> sgemm_suite(const std::string& name, const SuiteOptions& options);
std::vector<GemmCase> gemm_suite(const std::string& name, const SuiteOptions& options);
std::vector<GroupedCase> grouped_suite(const std::string& name, const SuiteOptions& options);
std::vector<SoftmaxCase> softmax_suite(const std::string& name, const SuiteOptions& options);
std::vector<CrossEntropyCase> cross_entropy_suite(const std::string& name,
                                                  const SuiteOptions& options);
std::vector<TransposeCase> transpose_suite(const std::string& name, const SuiteOptions& options);

}  // namespace bench
