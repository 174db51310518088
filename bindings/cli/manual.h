// The manual page of a program, in roff, made of its commands.
#pragma once

#include <string>

#include "command_tree.h"

namespace mygemm::cli {

// version: "mygemm 0.1.0".
std::string manual_page(const Command& program, const std::string& version);

}  // namespace mygemm::cli
