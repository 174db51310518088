// A kernel as an entry of its operation's table: two functions.
//   configure(kernel, facts, device, options, config)  fills the Config with all that the launch
//       needs and with the estimated time, or returns the reason why the kernel cannot run. The
//       facts are the problem, and what several kernels work out of it, worked out once
//   launch(problem, config, context)  launches exactly that Config
// configure() is pure host code that works for any GPU on any machine, without CUDA headers.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "device_traits.h"
#include "problem.h"
#include "status.h"

namespace mygemm {

// The part of a Config that all operations have: the grid, its resources, its estimated time. For
// kernels that launch several grids, those of the grid that does most of the work.
struct LaunchConfig {
  double seconds = 0;          // estimated
  int64_t blocks = 0;          // of the grid
  size_t workspace_bytes = 0;  // used of the handle's workspace
  size_t shared_bytes = 0;
  int threads = 0;         // of a block
  int cluster_blocks = 0;  // blocks of a cluster; 0: none
  // SM 90: may begin before the grid before it has ended; its kernel waits for that.
  bool may_overlap = false;
};

constexpr int64_t kMostGridBlocks = 2147483647;

struct PlanOptions {
  size_t workspace_bytes = 0;
  const char* forced = nullptr;  // a kernel's name, or nullptr
};

// The arguments of a launch besides problem and Config. The workspace has the Config's bytes.
struct LaunchContext {
  mygemmStream_t stream;
  void* workspace;
  const DeviceTraits* device;
};

template <class Problem>
struct Kernel {
  using Config = typename Problem::Config;
  using Figures = typename Problem::Figures;
  using Facts = typename Problem::Facts;  // made of a problem and a device

  const char* name;    // unique within the operation
  int min_cc, max_cc;  // compute capabilities, inclusive; 0, 0: the host
  const char* (*configure)(const Kernel&, const Facts&, const DeviceTraits&, const PlanOptions&,
                           Config*);
  Status (*launch)(const Problem&, const Config&, const LaunchContext&);  // nullptr: not built
  Figures figures;  // measured constants of the estimate

  bool on_host() const { return max_cc == 0; }
};

using GemmKernel = Kernel<GemmProblem>;
using GroupedKernel = Kernel<GroupedProblem>;
using SoftmaxKernel = Kernel<SoftmaxProblem>;
using CrossEntropyKernel = Kernel<CrossEntropyProblem>;
using TransposeKernel = Kernel<TransposeProblem>;

constexpr size_t kMostKernels = 104;  // of an operation

// The tables, each ending with the operation's naive kernels, which run any problem.
std::span<const GemmKernel> kernels_for(const GemmProblem&);
std::span<const GroupedKernel> kernels_for(const GroupedProblem&);
std::span<const SoftmaxKernel> kernels_for(const SoftmaxProblem&);
std::span<const CrossEntropyKernel> kernels_for(const CrossEntropyProblem&);
std::span<const TransposeKernel> kernels_for(const TransposeProblem&);

// Every operation has, in its config.h, least_seconds(kernel, facts): a lower bound of what
// configure() estimates, worked out in a fraction of its time. A plan asks it of every kernel, and
// configures those alone that may still be the fastest.

// The reason why the kernel is not made for such problems, of whatever size, or nullptr; products
// and softmax: their config.h.
inline const char* unfit_for(const CrossEntropyKernel&, const CrossEntropyFacts&) {
  return nullptr;
}
inline const char* unfit_for(const TransposeKernel&, const TransposeFacts&) { return nullptr; }

// A Config, and the measured figures behind its estimate, as text: what explain prints.
std::string describe(const GemmConfig&);
std::string describe(const SoftmaxConfig&);
std::string describe(const CrossEntropyConfig&);
std::string describe(const TransposeConfig&);
std::string describe(const GemmFigures&);
std::string describe(const SoftmaxFigures&);
std::string describe(const CrossEntropyFigures&);
std::string describe(const TransposeFigures&);

// The environment variable that forces a kernel of the operation, for messages.
constexpr const char* force_variable(const GemmProblem&) { return "MYGEMM_FORCE_GEMM"; }
constexpr const char* force_variable(const GroupedProblem&) { return "MYGEMM_FORCE_GROUPED"; }
constexpr const char* force_variable(const SoftmaxProblem&) { return "MYGEMM_FORCE_SOFTMAX"; }
constexpr const char* force_variable(const CrossEntropyProblem&) {
  return "MYGEMM_FORCE_CROSS_ENTROPY";
}
constexpr const char* force_variable(const TransposeProblem&) { return "MYGEMM_FORCE_TRANSPOSE"; }

// One more kernel in a stream costs at least this, or this where it begins before the one before it
// has ended; H200, graph replay.
constexpr double kLaunchSeconds = 1.3e-6, kOverlappedLaunchSeconds = 0.9e-6;

#if defined(MYGEMM_WITH_CUDA)
inline constexpr bool kWithCuda = true;
#else
inline constexpr bool kWithCuda = false;
#endif

// `launch` where this build has CUDA, else nullptr without a reference to it.
template <auto launch>
constexpr decltype(launch) cuda_launcher() {
  if constexpr (kWithCuda) return launch;
  return nullptr;
}

}  // namespace mygemm
