// One problem, measured: ours, the peers and kernels of ours, alternating; outputs compared first.
// Above timer.h and library.h; the operations describe a Contest and get a Result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"
#include "grouped_case.h"
#include "library.h"
#include "session.h"

namespace bench {

struct Peer {
  std::string name;
  Call call;
  bool same_result;  // false: moves as many bytes, e.g. a copy
};

// The peer of a memory-bound operation: copies `bytes` bytes, from and to rotated memory.
class CopyPeer {
 public:
  CopyPeer(const Machine& machine, double bytes, bool hot);
  void operator()(int64_t call) const;

 private:
  const Machine* machine_;
  size_t bytes_;
  int64_t sets_;
  RotatedOperand from_, to_;
};

struct Contest {
  std::string operation;  // the subcommand: "sgemm", ...
  std::string label;
  Fields fields;
  Family family;
  double work;                   // per call: FLOP or bytes
  int64_t sets;                  // copies of the operands
  double set_bytes;              // of one copy
  const RotatedOperand* output;  // its copy 0 is compared
  mygemmDataType_t output_type;
  bool exact;                           // outputs must be equal bit by bit
  double tolerance;                     // else: of max |ours - peer| / max |peer|
  std::function<void()> prepare;        // makes copy 0 of the output as it is before a call
  std::vector<std::string> peer_names;  // peers that this operation can have, for the table
  std::vector<Peer> peers;
  std::function<Call(mygemmHandle_t)> ours;
  std::function<mygemmStatus_t(mygemmHandle_t, size_t*)> workspace_size;
  std::function<mygemmStatus_t(mygemmHandle_t, char*, size_t, size_t*)> explain;
};

// The measurement of a peer or of a kernel of ours, beside ours.
struct Measurement {
  std::string name;
  Timing timing;
  double rate;   // in the result's unit
  double ratio;  // our speed / its speed
  bool naive;
  std::optional<double> estimated_us;  // by the plan; kernels of ours only
  std::string figures;                 // of the estimate; kernels of ours only
};

struct Result {
  std::string operation, label, kernel, unit, reference;
  Fields fields;
  std::vector<std::string> peer_names;
  Timing timing;
  double rate = 0;
  std::optional<double> estimated_us;
  std::string figures;
  std::vector<Measurement> peers, kernels;
  std::optional<double> error;  // absent without a contender to compare with; NaN is an error
  double tolerance = 0;
  double working_set_bytes = 0;
  bool cold = false;  // the working set exceeds twice the last-level cache
  TelemetryReading telemetry;
  int64_t repeats = 1;  // lines of a replayed log
  std::string failure;  // why there is no measurement, or empty

  bool wrong() const { return error.has_value() && !(*error <= tolerance); }
};

// The name of the naive kernel in the table and the JSON, on both backends.
inline const char* const kNaive = "naive";

Result run_contest(Session* session, const Contest& contest);

// The origin of a result: a library, or a kernel of ours.
struct Author {
  std::string name;  // ours: the math mode; other kernels: the kernel
  std::optional<std::string> kernel;
};

// Computes results without timing: ours, in default math mode also ours in strict mode, then every
// peer and kernel that a contest would time, then the kernels `also`, forced. `look` is called with
// the author of each; copy 0 of the output then holds the result.
void compute_in_turn(Session* session, const Contest& contest, const std::vector<std::string>& also,
                     const std::function<void(const Author& author)>& look);

// The operations: each describes its Contest and runs it.
Result measure(Session* session, const SgemmCase& problem);
Result measure(Session* session, const GemmCase& problem);
Result measure(Session* session, const GroupedCase& problem);
Result measure(Session* session, const SoftmaxCase& problem);
Result measure(Session* session, const CrossEntropyCase& problem);
Result measure(Session* session, const TransposeCase& problem);

}  // namespace bench
