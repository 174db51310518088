// MYGEMM_LOG: one line per compute call, also of those that are refused, in the words of
// mygemm-bench, so that a line pasted after `mygemm-bench` (or a file given to `mygemm-bench
// replay`) repeats the call.
#pragma once

#include <string>

#include "problem.h"
#include "status.h"

namespace mygemm {

// The call as a command line, without the kernel and the status.
std::string describe(const GemmProblem& problem);
std::string describe(const GroupedProblem& problem);
std::string describe(const SoftmaxProblem& problem);
std::string describe(const CrossEntropyProblem& problem);
std::string describe(const TransposeProblem& problem);

// Where the lines go. Off unless opened; each line is one write, so threads do not mix theirs.
class CallLog {
 public:
  CallLog() = default;
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;
  ~CallLog();

  // destination: a file to append to, or "stderr". Without the file there is no log, which must not
  // keep a program from computing: a process says it once on stderr.
  void open(const std::string& destination);
  // The process's rank in its job, -1 where it has none, and the device of the handle, -1: the
  // host.
  void set_place(int rank, int device);
  bool is_open() const { return descriptor_ >= 0; }
  // kernel: nullptr for calls that launched none, as they were refused or had nothing to do.
  void write(const std::string& call, const char* kernel, Status status) const;

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::string place_;
};

}  // namespace mygemm
