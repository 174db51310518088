// Completion of a program's command line in shells, made of its commands.
#pragma once

#include <string>
#include <vector>

#include "command_tree.h"

namespace mygemm::cli {

inline const std::vector<std::string> kShells = {"bash", "fish", "zsh"};

// The script of one of kShells.
std::string completion(const Command& program, const std::string& shell);

}  // namespace mygemm::cli
