// Paragraphs and the weights of their terms, see text.h. Words are runs of ASCII letters, digits
// and bytes of UTF-8 sequences; ASCII capitals are made small.
#include "text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "error.h"

namespace mygemm::cli {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool in_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Words of two bytes or more that are not numbers.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.size() > 1 && !std::all_of(word.begin(), word.end(), is_digit)) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (in_word(c)) {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      finish();
    }
  }
  finish();
  return words;
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
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw Error(path, ": is a directory, not a text file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, ": cannot be opened: ", std::strerror(errno));

  std::vector<Paragraph> paragraphs;
  Paragraph current{path, 0, {}};
  const auto finish = [&] {
    if (words_of(current.text).size() >= min_words) paragraphs.push_back(current);
    current.text.clear();
  };
  bool in_code = false, in_block = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find('\0') != std::string::npos) throw Error(path, ": is not text: it has NUL bytes");
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
  if (file.bad()) throw Error(path, ": cannot be read: ", std::strerror(errno));
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
  for (const char c : paragraph.text) {
    const bool visible = static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
    if (visible) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() <= length) return line;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (length > 0 && continues(line[length])) --length;
  return line.substr(0, length) + "...";
}

}  // namespace mygemm::cli
