// The subcommands of mygemm. Each function below adds one to the command line; its callback does
// the work when the line has been parsed, and throws Error where it cannot.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "mygemm/mygemm.h"

namespace mygemm::cli {

void add_info(CLI::App& app);
void add_sgemm(CLI::App& app);
void add_softmax(CLI::App& app);
void add_transpose(CLI::App& app);
void add_explain(CLI::App& app);
void add_demo(CLI::App& app);

// How op(X) is written on the command line.
inline const std::vector<std::pair<std::string, mygemmDataType_t>> kElementTypes = {
    {"f32", MYGEMM_R_32F}, {"f16", MYGEMM_R_16F}, {"bf16", MYGEMM_R_16BF}};
inline const std::vector<std::pair<std::string, mygemmOperation_t>> kOperations = {
    {"N", MYGEMM_OP_N}, {"T", MYGEMM_OP_T}, {"C", MYGEMM_OP_C}};

}  // namespace mygemm::cli
