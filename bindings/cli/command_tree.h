// The commands of a program as plain data, read from its CLI::App: manual pages and completion are
// made of it, so that nothing of a command line is described twice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mygemm::cli {

struct OptionText {
  std::vector<std::string> names;  // with their hyphens; none: a positional argument
  std::string argument;            // the name of its value; empty: a flag
  std::vector<std::string> words;  // values, where they are words of a list
  bool file = false;               // whether the value is a file's name
  bool required = false;
  bool many = false;
  std::string description;
};

struct Command {
  std::string path;  // "mygemm explain sgemm"
  std::string name, description;
  std::vector<OptionText> options, positionals;
  std::vector<Command> subcommands;
  bool options_of_parent = false;  // whether it takes those, too
};

Command command_tree(const CLI::App* app);

// A command and all below it, from top to bottom.
std::vector<const Command*> all_commands(const Command& top);

// The options that a line may have behind a command's name: its own and, where it takes them, those
// of the program.
std::vector<OptionText> options_at(const Command& top, const Command& command);

}  // namespace mygemm::cli
