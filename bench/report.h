// The output of a run: a table on stdout, line by line, and a JSON file and a figure that are
// rewritten after every result, so that an interrupted run leaves its results.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "accuracy.h"
#include "contest.h"

namespace bench {

// A figure that is not a contest: creation of a handle, cost of a call on the host.
struct Overhead {
  std::string name, unit;
  double median, min, max;
};

class Report {
 public:
  Report(const Session& session, std::vector<std::string> command_line);

  void add(const Result& result);
  void add(const Overhead& overhead);
  void add(const Accuracy& accuracy);
  // Prints the summary, one line per operation and peer, and one of the errors. True where nothing
  // failed or was wrong.
  bool finish() const;

 private:
  void write_files() const;
  std::string json_text() const;

  const Session* session_;
  std::vector<std::string> command_line_;
  std::string date_;
  std::string table_;  // the operation whose header was printed last
  TelemetryReading at_start_;
  std::vector<Result> results_;
  std::vector<Overhead> overheads_;
  std::vector<Accuracy> accuracies_;
};

}  // namespace bench
