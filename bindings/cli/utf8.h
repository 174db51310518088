// UTF-8: its code points, and Latin-1 as UTF-8. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mygemm::cli {

struct CodePoint {
  char32_t value;
  size_t bytes;  // 0 where the text is empty or does not begin with a code point
};

// The first code point of the text.
CodePoint first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

// Each byte of Latin-1 is the code point of its number.
std::string from_latin1(std::string_view text);

}  // namespace mygemm::cli
