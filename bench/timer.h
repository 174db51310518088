// Timing of calls: contenders alternate, group by group, in one process. Above machine.h;
// independent of the operation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine.h"

namespace bench {

// Enqueues (GPU) or makes (host) call number `i`, which selects its copies of the operands.
using Call = std::function<void(int64_t i)>;

// How the calls of a group reach a GPU.
enum class Launches {
  kByLength,  // a graph if the fastest contender takes under about 20 us, else a stream
  kGraph,     // replays of a captured graph: the kernels alone
  kStream     // calls in a stream: short ones cost what the host takes to enqueue them
};

struct TimerOptions {
  int groups = 7;
  Launches launches = Launches::kByLength;
  double min_seconds = 1e-3;  // of a group
};

// Seconds per call over the groups.
struct Timing {
  double median = 0, min = 0, max = 0;
  int64_t calls_per_group = 0;
  const char* clock = "";  // "graph", "stream" or "host"
};

// One Timing per call, in order. Every call is warmed up; then each of `groups` rounds times one
// group of every contender. `sets`: copies of the operands, which a graph uses all.
std::vector<Timing> time_alternating(const Machine& machine, const std::vector<Call>& calls,
                                     int64_t sets, const TimerOptions& options);

// Median of a non-empty sample.
double median(std::vector<double> sample);

}  // namespace bench
