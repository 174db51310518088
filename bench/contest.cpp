// See contest.h.
#include "contest.h"

#include <algorithm>
#include <stdexcept>

#include "compare.h"

namespace bench {
namespace {

constexpr double kSlowestKernelSeconds = 0.1;  // estimated; slower kernels take minutes
constexpr size_t kWorkspaceAlignment = 256;

bool is_naive(const std::string& kernel) {
  return kernel == "naive" || kernel == "host_naive" || kernel == "grouped_naive";
}

// Sets a workspace on handles while a contest lasts.
class WorkspaceLoan {
 public:
  WorkspaceLoan(const Machine& machine, size_t bytes) : memory_(machine, bytes) {}
  ~WorkspaceLoan() {
    for (mygemmHandle_t handle : handles_) {
      mygemm_set_workspace(handle, nullptr, 0);
    }
  }
  WorkspaceLoan(const WorkspaceLoan&) = delete;  // handles would keep a freed address
  WorkspaceLoan& operator=(const WorkspaceLoan&) = delete;

  void lend(mygemmHandle_t handle) {
    check(mygemm_set_workspace(handle, memory_.data(), memory_.bytes()), "mygemm_set_workspace");
    handles_.push_back(handle);
  }

 private:
  Buffer memory_;
  std::vector<mygemmHandle_t> handles_;
};

Explanation explain_with(const Contest& contest, mygemmHandle_t handle) {
  return explain([&](char* text, size_t capacity, size_t* length) {
    return contest.explain(handle, text, capacity, length);
  });
}

// The kernel measured as "ours": a forced one, or where that is empty the plan's choice.
struct Ours {
  std::string force;
  mygemmMathMode_t math;
};

Ours ours_of(const Options& options) { return {options.force, options.math}; }

mygemmHandle_t handle_of(Session* session, const Contest& contest, const Ours& ours) {
  return session->library.handle(contest.family, ours.force, ours.math);
}

// The workspace that ours asks for; where every kernel is measured, the largest of theirs.
size_t workspace_wanted(Session* session, const Contest& contest, mygemmHandle_t ours) {
  if (session->options.workspace_mib) {
    return static_cast<size_t>(*session->options.workspace_mib) << 20;
  }
  size_t bytes = 0;
  check(contest.workspace_size(ours, &bytes), "mygemm workspace query");
  if (session->options.all_kernels) {
    for (const Explanation::Kernel& kernel : explain_with(contest, ours).kernels) {
      size_t kernel_bytes = 0;
      mygemmHandle_t forced = session->library.handle(contest.family, kernel.name);
      if (contest.workspace_size(forced, &kernel_bytes) == MYGEMM_STATUS_SUCCESS) {
        bytes = std::max(bytes, kernel_bytes);
      }
    }
  }
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// A contender that is timed: first ours, then the peers, then kernels of ours, the naive one last.
struct Entrant {
  std::string name;
  Call call;
  bool is_kernel;
  bool same_result;
  std::optional<double> estimated_us;
  std::string figures;
};

// Whether a kernel of ours takes part besides the one that the plan chose.
bool is_wanted(const Options& options, const Explanation& plan, const Explanation::Kernel& kernel) {
  if (kernel.name == plan.chosen || !kernel.microseconds ||
      *kernel.microseconds >= kSlowestKernelSeconds * 1e6) {
    return false;
  }
  if (options.naive && is_naive(kernel.name)) {
    return true;
  }
  return options.all_kernels &&
         std::none_of(plan.kernels.begin(), plan.kernels.end(), [&](const auto& other) {
           return options.near && other.microseconds &&
                  *kernel.microseconds > *options.near * *other.microseconds;
         });
}

// `workspace` is lent to every handle that takes part; `ours` has it.
std::vector<Entrant> entrants_of(Session* session, const Contest& contest, const Explanation& plan,
                                 mygemmHandle_t ours, WorkspaceLoan* workspace) {
  const Options& options = session->options;
  std::vector<Entrant> entrants = {{plan.chosen, contest.ours(ours), true, true, std::nullopt, ""}};
  for (const Peer& peer : contest.peers) {
    entrants.push_back({peer.name, peer.call, false, peer.same_result, std::nullopt, ""});
  }
  for (const Explanation::Kernel& kernel : plan.kernels) {
    if (kernel.name == plan.chosen) {
      entrants.front().estimated_us = kernel.microseconds;
      entrants.front().figures = kernel.figures;
    }
    if (is_wanted(options, plan, kernel)) {
      mygemmHandle_t forced = session->library.handle(contest.family, kernel.name);
      workspace->lend(forced);
      entrants.push_back(
          {kernel.name, contest.ours(forced), true, true, kernel.microseconds, kernel.figures});
    }
  }
  return entrants;
}

// All contenders, with a workspace for the lifetime of this object.
struct LineUp {
  LineUp(Session* session, const Contest& contest, const Ours& ours)
      : LineUp(session, contest, handle_of(session, contest, ours)) {}
  LineUp(Session* session, const Contest& contest, mygemmHandle_t ours)
      : workspace(session->machine, workspace_wanted(session, contest, ours)) {
    workspace.lend(ours);
    plan = explain_with(contest, ours);
    entrants = entrants_of(session, contest, plan, ours, &workspace);
  }

  WorkspaceLoan workspace;
  Explanation plan;
  std::vector<Entrant> entrants;
};

// The contender that ours is compared with: a library if there is one, else the last kernel of
// ours; null where no other computes the same.
const Entrant* reference_of(const std::vector<Entrant>& entrants) {
  const auto library = std::find_if(
      entrants.begin() + 1, entrants.end(),
      [](const Entrant& entrant) { return entrant.same_result && !entrant.is_kernel; });
  if (library != entrants.end()) {
    return &*library;
  }
  return entrants.size() > 1 && entrants.back().is_kernel ? &entrants.back() : nullptr;
}

std::vector<std::byte> output_of(const Session& session, const Contest& contest, const Call& call) {
  contest.prepare();
  call(0);
  return sample(session.machine, contest.output->first(), contest.output->bytes());
}

double error_of(const Session& session, const Contest& contest, const Call& ours,
                const Call& reference) {
  const std::vector<std::byte> a = output_of(session, contest, ours);
  const std::vector<std::byte> b = output_of(session, contest, reference);
  return contest.exact ? share_of_different_bytes(a, b)
                       : largest_difference(a, b, contest.output_type);
}

}  // namespace

CopyPeer::CopyPeer(const Machine& machine, double bytes, bool hot)
    : machine_(&machine),
      bytes_(static_cast<size_t>(bytes)),
      sets_(rotation_sets(machine, 2 * static_cast<int64_t>(bytes), hot)),
      from_(machine, MYGEMM_R_32F, static_cast<int64_t>(bytes_ + 3) / 4, 0, sets_, 1),
      to_(machine, MYGEMM_R_32F, static_cast<int64_t>(bytes_ + 3) / 4, 0, sets_, 2) {}

void CopyPeer::operator()(int64_t call) const {
  machine_->copy(to_.at(call), from_.at(call), bytes_);
}

Result run_contest(Session* session, const Contest& contest) {
  const Machine& machine = session->machine;
  const LineUp line_up(session, contest, ours_of(session->options));
  const std::vector<Entrant>& entrants = line_up.entrants;

  Result result;
  result.operation = contest.operation;
  result.label = contest.label;
  result.fields = contest.fields;
  result.peer_names = contest.peer_names;
  result.kernel = line_up.plan.chosen;
  result.estimated_us = entrants.front().estimated_us;
  result.figures = entrants.front().figures;
  result.tolerance = contest.tolerance;
  if (const Entrant* reference = reference_of(entrants)) {
    result.reference = reference->name;
    result.error = error_of(*session, contest, entrants.front().call, reference->call);
  }

  std::vector<Call> calls;
  for (const Entrant& entrant : entrants) {
    calls.push_back(entrant.call);
  }
  const std::vector<Timing> timings =
      time_alternating(machine, calls, contest.sets, session->options.timer);
  result.telemetry = session->telemetry.read();
  result.timing = timings.front();
  result.unit = !is_product(contest.family) ? "GB/s" : machine.cuda() ? "TFLOP/s" : "GFLOP/s";
  const double work_in_unit = contest.work * (result.unit == "TFLOP/s" ? 1e-12 : 1e-9);
  result.rate = work_in_unit / result.timing.median;
  for (size_t i = 1; i < entrants.size(); ++i) {
    Measurement measured = {entrants[i].name,
                            timings[i],
                            work_in_unit / timings[i].median,
                            timings[i].median / result.timing.median,
                            entrants[i].is_kernel && is_naive(entrants[i].name),
                            entrants[i].estimated_us,
                            entrants[i].figures};
    if (entrants[i].is_kernel) {
      result.kernels.push_back(measured);
    }
    if (!entrants[i].is_kernel || measured.naive) {
      measured.name = measured.naive ? kNaive : measured.name;
      result.peers.push_back(measured);
    }
  }
  result.working_set_bytes = contest.set_bytes * static_cast<double>(contest.sets);
  result.cold = result.working_set_bytes > 2.0 * static_cast<double>(machine.cache_bytes());
  return result;
}

void compute_in_turn(Session* session, const Contest& contest, const std::vector<std::string>& also,
                     const std::function<void(const Author& author)>& look) {
  const auto compute = [&](const Entrant& entrant, const Author& author) {
    contest.prepare();
    entrant.call(0);
    session->machine.wait();
    look(author);
  };
  const auto compute_ours = [&](const Ours& ours, const std::string& name) {
    const LineUp line_up(session, contest, ours);
    compute(line_up.entrants.front(), {name, line_up.plan.chosen});
  };
  const Options& options = session->options;
  const bool strict = options.math == MYGEMM_MATH_STRICT;
  constexpr const char* kModes[] = {"default", "strict", "fast"};
  compute_ours(ours_of(options), kModes[options.math]);
  if (!strict) {
    compute_ours({"", MYGEMM_MATH_STRICT}, "strict");
  }
  {
    const LineUp line_up(session, contest, ours_of(options));
    for (size_t i = 1; i < line_up.entrants.size(); ++i) {
      const Entrant& entrant = line_up.entrants[i];
      if (entrant.same_result) {
        const auto kernel = entrant.is_kernel ? std::optional(entrant.name) : std::nullopt;
        compute(entrant, {entrant.name, kernel});
      }
    }
  }
  for (const std::string& kernel : also) {
    compute_ours({kernel, MYGEMM_MATH_FAST}, kernel);
  }
}

}  // namespace bench
