// The options of the operations, which are also the words of a MYGEMM_LOG line: a pasted log
// line is a bench command.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cases.h"
#include "grouped_case.h"

namespace bench {

using AnyCase =
    std::variant<SgemmCase, GemmCase, GroupedCase, SoftmaxCase, CrossEntropyCase, TransposeCase>;

void add_options(CLI::App* command, SgemmCase* problem);
void add_options(CLI::App* command, GemmCase* problem);
void add_options(CLI::App* command, GroupedCase* problem);
void add_options(CLI::App* command, SoftmaxCase* problem);
void add_options(CLI::App* command, CrossEntropyCase* problem);
void add_options(CLI::App* command, TransposeCase* problem);

struct LoggedCase {
  AnyCase problem;
  int64_t repeats;  // number of equal lines
};

// Reads a log; "-" is standard input. Text from '#' on, empty lines and calls that failed or ran no
// kernel are left out. Throws where nothing is left, and, with its number, at a line that is no log
// line.
std::vector<LoggedCase> read_log(const std::string& path);

}  // namespace bench
