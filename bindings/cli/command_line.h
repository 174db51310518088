// The parts of a command line that mygemm and mygemm-bench share: choices among words, numbers that
// are checked before they are converted, descriptions of the program, and one sentence for a line
// that cannot be parsed. Knows
// nothing of the library.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mygemm::cli {

// "N, T or C".
std::string alternatives(const std::vector<std::string>& words, const char* last_joint = " or ");

// An option that takes one of some words, in any case, and stores the value of the word.
template <class Value, class Variable>
CLI::Option* add_choice(CLI::App* command, const std::string& name, Variable* variable,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const std::string& description) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  const auto index_of = [words](const std::string& word) {
    size_t i = 0;
    while (i < words.size() && CLI::detail::to_lower(words[i]) != CLI::detail::to_lower(word)) ++i;
    return i;
  };
  const auto refuse_others = [words, index_of](const std::string& word) {
    if (index_of(word) < words.size()) return std::string();
    return word + " is none of " + alternatives(words, " and ");
  };
  const auto store = [variable, choices, index_of](const std::string& word) {
    *variable = choices[index_of(word)].second;
  };
  return command->add_option_function<std::string>(name, store, description)
      ->check(CLI::Validator(refuse_others, "", ""))
      ->type_name(alternatives(words));
}

// Makes all numbers of a line be checked before CLI11 converts them, which clamps those of more
// than 64 bits and makes infinities of those beyond FP32.
void check_numbers(CLI::App* app);

// Adds what describes the program: its version ("mygemm 0.1.0"), its manual page, the completion of
// its command lines by shells.
void add_descriptions(CLI::App* app, const std::string& version);

// Parses the line, with numbers checked. Where the program is to end then, for help, for the
// descriptions above or for an invalid line, prints what there is to say and returns the exit
// status: 0, or CLI11's own, 100 and up.
std::optional<int> parse(CLI::App* app, int argc, char** argv);

}  // namespace mygemm::cli
