// The context of a run of mygemm-bench: options, machine, handles, peers. Passed to the operations
// (sgemm.cpp, ...); nothing here measures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "library.h"
#include "machine.h"
#include "peers.h"
#include "telemetry.h"
#include "timer.h"

namespace bench {

struct Options {
  mygemmBackend_t backend = MYGEMM_BACKEND_AUTO;
  mygemmMathMode_t math = MYGEMM_MATH_DEFAULT;
  TimerOptions timer;
  bool hot = false;                      // one copy of the operands
  bool all_kernels = false;              // measure every kernel that can run
  std::optional<double> near;            // of those, estimated within this factor of the least
  bool naive = true;                     // measure the naive kernel
  bool pedantic = false;                 // cuBLAS in pedantic math too
  std::string force;                     // a kernel, or empty
  std::optional<int64_t> workspace_mib;  // absent: as much as each call asks for
  int64_t cublas_workspace_mib = 32;
  std::string json, plot;  // files, or empty
};

struct Session {
  explicit Session(const Options& wanted);

  Options options;
  Machine machine;
  Library library;
  Telemetry telemetry;
  std::unique_ptr<Cublas> cublas, cublas_pedantic;
  std::unique_ptr<Cblas> cblas;
  std::string no_peer;  // the reason why there is no BLAS to compare with, or empty
};

}  // namespace bench
