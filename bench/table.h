// The text of a run: aligned columns, one line a result, and the summary.
#pragma once

#include <vector>

#include "accuracy.h"
#include "contest.h"

namespace bench {

// The columns of the results that follow: those of `result`'s operation.
void print_header(const Result& result);
void print_line(const Result& result);
// Geometric mean and worst of our speed over each peer's; sums over a replayed log. Returns false
// where a result failed or is wrong.
bool print_summary(const std::vector<Result>& results);

// Errors: a line for each contender that computed the product.
void print_accuracy_header();
void print_lines(const Accuracy& accuracy);
// The number of results in which the errors of ours are at most the peer's. Returns false where one
// failed or is wrong.
bool print_summary(const std::vector<Accuracy>& results);

}  // namespace bench
