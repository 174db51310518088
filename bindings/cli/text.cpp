// Paragraphs and the weights of their terms, see text.h.
#include "text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "error.h"
#include "input_file.h"
#include "utf8.h"

namespace mygemm::cli {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

// Lines of letters need no blank between words in these scripts: Han and kana.
bool is_word_alone(char32_t c) {
  return (c >= 0x3041 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x4e00 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0x20000 && c <= 0x3ffff);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Letters, digits and marks, by what they are not: the punctuation of ASCII, of Latin-1, of all
// scripts, of Chinese and Japanese, and that of full width.
bool in_word(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool latin = c < 0xc0 && c != 0xaa && c != 0xb5 && c != 0xba;
  return !latin && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c <= 0x206f) &&
         !(c >= 0x3000 && c <= 0x3040) && !(c >= 0xff01 && c <= 0xff0f) &&
         !(c >= 0xff1a && c <= 0xff20) && !(c >= 0xff3b && c <= 0xff40) &&
         !(c >= 0xff5b && c <= 0xff65);
}

// Words of two bytes or more that are not numbers, ASCII capitals made small. The text is UTF-8.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.size() > 1 && !std::all_of(word.begin(), word.end(), is_digit)) words.push_back(word);
    word.clear();
  };
  while (!text.empty()) {
    const auto [c, bytes] = first_code_point(text);
    const bool alone = is_word_alone(c);
    if (alone || !in_word(c)) finish();
    if (c >= 'A' && c <= 'Z') {
      word += static_cast<char>(c - 'A' + 'a');
    } else if (in_word(c)) {
      word += text.substr(0, bytes);
    }
    if (alone) finish();
    text.remove_prefix(bytes);
  }
  finish();
  return words;
}

// The content of a file as UTF-8: what is no UTF-8 is taken as Latin-1, in which every byte is
// legal.
std::string utf8_text(const std::string& path) try {
  const std::vector<std::byte> content = InputFile(path).read_to_the_end();
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  if (text.find('\0') != std::string_view::npos) throw Error("is not text: it has NUL bytes");
  return is_utf8(text) ? std::string(text) : from_latin1(text);
} catch (const Error& error) {
  throw Error(input_name(path), ": ", error.what());
}

using Counts = std::map<std::string, int>;

// Columns by term, for the terms in the most paragraphs; ties in alphabetical order.
Counts choose_columns(const Counts& document_frequency, size_t max_terms) {
  std::vector<std::pair<std::string, int>> terms(document_frequency.begin(),
                                                 document_frequency.end());
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  terms.resize(std::min(terms.size(), max_terms));
  Counts columns;
  for (size_t i = 0; i < terms.size(); ++i) columns[terms[i].first] = static_cast<int>(i);
  return columns;
}

void normalize(SparseRow* row) {
  double squares = 0;
  for (const auto& [column, weight] : *row) squares += double{weight} * weight;
  if (squares == 0) return;  // none of the paragraph's terms was kept
  for (auto& [column, weight] : *row) weight = static_cast<float>(weight / std::sqrt(squares));
}

}  // namespace

std::vector<Paragraph> read_paragraphs(const std::string& path, size_t min_words) {
  std::istringstream file(utf8_text(path));
  std::vector<Paragraph> paragraphs;
  Paragraph current{input_name(path), 0, {}};
  const auto finish = [&] {
    if (words_of(current.text).size() >= min_words) paragraphs.push_back(current);
    current.text.clear();
  };
  bool in_code = false, in_block = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const bool fence = line.compare(0, 3, "```") == 0;
    if (fence) in_code = !in_code;
    const bool comment = line.compare(0, 4, "<!--") == 0;
    if (comment) in_block = line.find(": begin -->") != std::string::npos;
    if (fence || in_code || comment || in_block || is_blank(line)) {
      finish();
      continue;
    }
    if (current.text.empty()) current.line = number;
    current.text += line + '\n';
  }
  finish();
  return paragraphs;
}

TermMatrix weigh_terms(const std::vector<Paragraph>& paragraphs, size_t max_terms) {
  std::vector<Counts> counts;
  Counts document_frequency;
  for (const Paragraph& paragraph : paragraphs) {
    Counts& terms = counts.emplace_back();
    for (const std::string& word : words_of(paragraph.text)) ++terms[word];
    for (const auto& [term, count] : terms) ++document_frequency[term];
  }
  const Counts columns = choose_columns(document_frequency, max_terms);

  TermMatrix matrix{{}, static_cast<int64_t>(columns.size())};
  const double total = 1.0 + static_cast<double>(paragraphs.size());
  for (const Counts& terms : counts) {
    SparseRow& row = matrix.rows.emplace_back();
    for (const auto& [term, count] : terms) {
      const auto column = columns.find(term);
      if (column == columns.end()) continue;
      const double rarity = 1 + std::log(total / (1 + document_frequency[term]));
      row.emplace_back(column->second, static_cast<float>((1 + std::log(count)) * rarity));
    }
    std::sort(row.begin(), row.end());
    normalize(&row);
  }
  return matrix;
}

Bytes TermMatrix::dense() const {
  const auto width = static_cast<size_t>(terms);
  Bytes bytes(rows.size() * width * sizeof(float));
  const auto values = bytes.as<float>();
  std::fill(values.begin(), values.end(), 0.0f);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (const auto& [column, weight] : rows[r]) {
      values[r * width + static_cast<size_t>(column)] = weight;
    }
  }
  return bytes;
}

std::string snippet(const Paragraph& paragraph, size_t length) {
  std::string line;
  for (std::string_view rest = paragraph.text; !rest.empty();) {
    const auto [c, bytes] = first_code_point(rest);
    const bool visible = c > 0x20 && !(c >= 0x7f && c < 0xa0);  // else a blank or for terminals
    if (visible) {
      line += rest.substr(0, bytes);
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
    rest.remove_prefix(bytes);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() <= length) return line;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (length > 0 && continues(line[length])) --length;
  return line.substr(0, length) + "...";
}

}  // namespace mygemm::cli
