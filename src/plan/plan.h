// Third stage of a call: problem + device traits + options -> the row (kernel) that runs it.
// Pure: no CUDA headers, the same answer for any GPU on any machine.
//
// A family (gemm, softmax, transpose) is a table of rows and two pure functions:
//   unsupported(row, problem, device, options)  why the row cannot run this, or nullptr
//   cost(row, problem, device, options)         estimated seconds
// The plan is the cheapest supported row, or the forced one.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "problem.h"
#include "status.h"

namespace mygemm {

// What a launch gets besides its problem.
struct LaunchContext {
  mygemmStream_t stream;
  void* workspace;
  size_t workspace_bytes;
  const DeviceTraits* device;
};

// What a row needs of a problem, as bits of Row::needs.
enum Needs : unsigned {
  kNeedsNothing = 0,
  kNeedsCblas = 1u << 0,         // a CBLAS on the host
  kNeedsWorkspace = 1u << 1,     // as many bytes as workspace_bytes(row, problem, device) says
  kNeedsInPlace = 1u << 2,       // transposes: out = in
  kNeedsSquare = 1u << 3,        // transposes: rows = cols and ldin = ldout
  kNeedsOutOfPlace = 1u << 4,    // transposes: out != in
  kNeedsPieces = 1u << 5,        // gemm: workspace for pieces of tiles, in place of splits
  kNeedsPacks = 1u << 6,         // transposes: all rows begin at multiples of 16 bytes
  kNeedsTensorMap = 1u << 7,     // transpose: inputs that tensor maps can describe; gemm: TMA-fed
  kNeedsNarrow = 1u << 8,        // transposes: narrow_grid() has one for the problem
  kNeedsWarpRow = 1u << 9,       // softmax: a matrix row that a warp's registers hold
  kNeedsBlockRow = 1u << 10,     // softmax: one that a block's registers hold
  kNeedsWideRow = 1u << 11,      // softmax: one that they do not hold
  kNeedsClusters = 1u << 12,     // softmax: one that a cluster's shared memory holds
  kNeedsThin = 1u << 13,         // gemm: m or n is at most block_n
  kNeedsTensorCores = 1u << 14,  // gemm: a math mode and a k that allow them
};

struct PatchKernel;  // kernels/transpose/tiles.h

// Transposes: the rows (of which side) that do not begin with a sector of memory.
enum RowCut { kCutNone = 0, kCutInput = 1, kCutOutput = 2, kCutBoth = 3, kRowCuts = 4 };

// One row: one compiled kernel and what the plan knows of it. A field that says nothing of a kernel
// is left at 0.
template <class Problem>
struct Row {
  const char* name;            // unique within the family
  int min_cc = 0, max_cc = 0;  // inclusive; 0, 0 is the host
  int threads = 0;             // per block; where the launcher chooses, the most
  int shared_bytes = 0;        // sizeof(SharedStorage); softmax: without the ring of tiles
  int blocks_per_sm = 0;       // that registers and shared memory let reside at once
  unsigned needs = kNeedsNothing;

  // gemm: block tile, where m or n is thin along the longer side and the thin one; transpose: its
  // rows and columns.
  int block_m = 0, block_n = 0, block_k = 0;
  int tiles_per_block = 1;  // gemm: that warps of a block compute at once
  double fill_steps = 0;    // gemm: what a block takes besides its k steps, as so many of them
  int64_t least_k = 0;      // gemm: tensor cores: of a smaller one multiply-adds are more accurate
  int most_slices = 0;  // gemm: blocks that may share the k of a tile; 0: k comes in whole steps
  double transposing = 1.0;  // gemm: tensor cores: a k step's factor where B must be transposed
  double misaligned = 1.0;   // gemm: a k step's factor where columns of A or B are not aligned
  int reads = 0;             // softmax: how often the input is read
  PatchKernel (*patches)(const TransposeProblem&) = nullptr;  // transpose: in tiles of patches

  // transpose: the share of the copy bandwidth by [log2(element_size)] and [RowCut].
  const double (*shares)[kRowCuts] = nullptr;
  // Share of the limiting peak (FFMA, or the copy bandwidth) at large sizes.
  double efficiency = 0;
  // Seconds that a block with a multiprocessor to itself takes. gemm: a k step. softmax: a matrix
  // row, besides its bytes. transpose: a tile.
  double step_seconds = 0;
  Status (*launch)(const Row&, const Problem&, const LaunchContext&);  // nullptr: not in this build
};

using GemmRow = Row<GemmProblem>;
using SoftmaxRow = Row<SoftmaxProblem>;
using TransposeRow = Row<TransposeProblem>;

struct PlanOptions {
  size_t workspace_bytes = 0;
  const char* forced = nullptr;  // a row's name, or nullptr
};

template <class Problem>
struct Plan {
  const Row<Problem>* row = nullptr;
  size_t workspace_bytes = 0;  // what the row will use
  double seconds = 0;          // estimated
};

// The tables, each ending with the family's naive rows.
std::span<const GemmRow> rows_for(const GemmProblem&);
std::span<const SoftmaxRow> rows_for(const SoftmaxProblem&);
std::span<const TransposeRow> rows_for(const TransposeProblem&);

// Legality and preference, family by family (gemm.cpp, softmax.cpp, transpose.cpp).
const char* unsupported(const GemmRow&, const GemmProblem&, const DeviceTraits&,
                        const PlanOptions&);
const char* unsupported(const SoftmaxRow&, const SoftmaxProblem&, const DeviceTraits&,
                        const PlanOptions&);
const char* unsupported(const TransposeRow&, const TransposeProblem&, const DeviceTraits&,
                        const PlanOptions&);
double cost(const GemmRow&, const GemmProblem&, const DeviceTraits&, const PlanOptions&);
double cost(const SoftmaxRow&, const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&);
double cost(const TransposeRow&, const TransposeProblem&, const DeviceTraits&, const PlanOptions&);

// Bytes of workspace the row would like for the problem; 0 for rows that use none.
size_t workspace_bytes(const GemmRow&, const GemmProblem&, const DeviceTraits&);
size_t workspace_bytes(const SoftmaxRow&, const SoftmaxProblem&, const DeviceTraits&);
size_t workspace_bytes(const TransposeRow&, const TransposeProblem&, const DeviceTraits&);

// The environment variable that forces a row of the family, for messages.
const char* force_variable(const GemmProblem&);
const char* force_variable(const SoftmaxProblem&);
const char* force_variable(const TransposeProblem&);

// What one more kernel in a stream costs at least; H200, graph replay.
constexpr double kLaunchSeconds = 1.3e-6;

// Chooses. Fails (NOT_SUPPORTED with a sentence) only where a row is forced that cannot run.
template <class Problem>
Status make_plan(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                 Plan<Problem>* plan);

// The plan as text: what was chosen, and every row with its cost or why it cannot run.
template <class Problem>
std::string explain(const Problem& problem, const DeviceTraits& device, const PlanOptions& options);

// Traits of a GPU by name ("H200", "rtx 4090", case and blanks ignored) or architecture ("sm_86");
// nullptr where unknown. devices.cpp has the table.
const DeviceTraits* find_device(const char* name);
std::span<const DeviceTraits> known_devices();

}  // namespace mygemm
