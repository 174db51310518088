// The one exception type of the mygemm command and the one way to build its text. The bottom of
// the command: includes nothing of the project. main() prints the text after "mygemm: error: ".
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace mygemm::cli {

// Parts written one after the other, as by operator<<.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// A failure to report to the user: a sentence that names the file, the value and the rule.
class Error : public std::runtime_error {
 public:
  template <class... Parts>
  explicit Error(const Parts&... parts) : std::runtime_error(concat(parts...)) {}
};

}  // namespace mygemm::cli
