// Text as numbers: paragraphs of files and the weights of their terms. Text is UTF-8, or Latin-1,
// which becomes UTF-8. Words are runs of letters and digits; each letter of Han and kana is one.
// For `mygemm demo`; knows nothing of the library.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes.h"

namespace mygemm::cli {

// Adjacent lines that are not blank.
struct Paragraph {
  std::string file;
  int line;  // of its first line, from 1
  std::string text;
};

// The paragraphs of a text file ("-": standard input) with at least `min_words` words. Code between
// ``` is left out, and so are blocks that a script writes, between <!-- NAME: begin --> and <!--
// NAME: end -->. Throws Error where the file cannot be read or is not text.
std::vector<Paragraph> read_paragraphs(const std::string& path, size_t min_words);

// A sparse row: (column, weight), ordered by column.
using SparseRow = std::vector<std::pair<int32_t, float>>;

// One row for each paragraph, one column for each term. A weight is
// (1 + ln tf) * (1 + ln((1 + paragraphs) / (1 + df))): it grows slowly with tf, how often the
// paragraph has the term, and falls with df, in how many paragraphs the term is. Rows have
// length 1.
struct TermMatrix {
  std::vector<SparseRow> rows;
  int64_t terms;

  // Row-major.
  Bytes dense() const;
};

// Keeps the `max_terms` terms with the largest df.
TermMatrix weigh_terms(const std::vector<Paragraph>& paragraphs, size_t max_terms);

// The paragraph on one line, cut after at most `length` bytes, never inside a character.
std::string snippet(const Paragraph& paragraph, size_t length);

}  // namespace mygemm::cli
