// See timer.h.
#include "timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "gpu.h"

namespace bench {
namespace {

// Shorter calls would measure the launch, not the kernel. Estimates hold launches, hence not 20 us.
constexpr double kGraphBelowSeconds = 30e-6;
constexpr double kLongestGraph = 20;  // in minimal times of a group, where there are many copies
constexpr double kLeadInBelowSeconds = 1e-3;  // longer calls hide the launch by themselves
constexpr double kWarmUpSeconds = 5e-3;
constexpr int64_t kMaxGraphCalls = 4096;
constexpr int64_t kMaxGroupCalls = 1 << 20;
// Worker threads of a host library spin for a while after a call and would slow the next contender.
constexpr auto kHostPause = std::chrono::milliseconds(2);

double host_seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// One contender: how a group of its calls is run and timed.
class Group {
 public:
  // `next` numbers the calls of all contenders, so that each call uses the least recently used copy
  // of the operands.
  Group(const Machine& machine, const Call& call, int64_t* next)
      : machine_(&machine), call_(&call), next_(next) {}

  // Warms up and estimates the seconds of a call (with launch cost on a GPU).
  void warm_up() {
    run(1);
    machine_->wait();
    seconds_ = time_calls(1);
    for (double spent = seconds_; spent < kWarmUpSeconds;) {
      const double seconds = time_calls(8);
      seconds_ = std::min(seconds_, seconds / 8);
      spent += std::max(seconds, 1e-5);
    }
  }
  double estimate() const { return seconds_; }

  void set_size(double min_seconds) { calls_ = calls_for(min_seconds, kMaxGroupCalls); }
  // The estimate includes launches, which a graph has not, so the graph is made twice as long.
  void capture(double min_seconds, int64_t sets) {
    calls_ = std::max(calls_for(2 * min_seconds, kMaxGraphCalls),
                      std::min(sets, calls_for(kLongestGraph * min_seconds, kMaxGraphCalls)));
    graph_ = std::make_unique<gpu::Graph>([this] { run(calls_); });
    graph_->launch();
    machine_->wait();
  }

  // Seconds per call of one group.
  double sample() {
    if (graph_ == nullptr) {
      return time_calls(calls_) / static_cast<double>(calls_);
    }
    const auto replay = [this] { graph_->launch(); };
    return gpu::time_stream(replay, replay) / static_cast<double>(calls_);
  }
  int64_t calls() const { return calls_; }
  const char* clock() const {
    return graph_ != nullptr ? "graph" : machine_->cuda() ? "stream" : "host";
  }

 private:
  void run(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      (*call_)((*next_)++);
    }
  }

  double time_calls(int64_t count) {
    if (machine_->cuda()) {
      const int64_t lead_in = seconds_ < kLeadInBelowSeconds ? 1 : 0;
      return gpu::time_stream([&] { run(lead_in); }, [&] { run(count); });
    }
    const double start = host_seconds();
    run(count);
    return host_seconds() - start;
  }

  int64_t calls_for(double seconds, int64_t most) const {
    const double calls = std::ceil(seconds / std::max(seconds_, 1e-9));
    return std::clamp<int64_t>(static_cast<int64_t>(calls), 1, most);
  }

  const Machine* machine_;
  const Call* call_;
  double seconds_ = 0;
  int64_t calls_ = 1;
  int64_t* next_;
  std::unique_ptr<gpu::Graph> graph_;
};

}  // namespace

double median(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const size_t half = sample.size() / 2;
  return sample.size() % 2 == 1 ? sample[half] : (sample[half - 1] + sample[half]) / 2;
}

std::vector<Timing> time_alternating(const Machine& machine, const std::vector<Call>& calls,
                                     int64_t sets, const TimerOptions& options) {
  std::vector<Group> groups;
  int64_t next = 0;
  double fastest = HUGE_VAL;
  for (const Call& call : calls) {
    groups.emplace_back(machine, call, &next);
    groups.back().warm_up();
    fastest = std::min(fastest, groups.back().estimate());
  }
  const bool graphs = options.launches == Launches::kByLength
                          ? fastest < kGraphBelowSeconds
                          : options.launches == Launches::kGraph;
  for (Group& group : groups) {
    if (machine.cuda() && graphs) {
      group.capture(options.min_seconds, sets);
    } else {
      group.set_size(options.min_seconds);
    }
  }
  std::vector<std::vector<double>> samples(groups.size());
  for (int round = 0; round < options.groups; ++round) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!machine.cuda() && groups.size() > 1) {
        std::this_thread::sleep_for(kHostPause);
      }
      samples[i].push_back(groups[i].sample());
    }
  }
  std::vector<Timing> timings;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [least, most] = std::minmax_element(samples[i].begin(), samples[i].end());
    timings.push_back({median(samples[i]), *least, *most, groups[i].calls(), groups[i].clock()});
  }
  return timings;
}

}  // namespace bench
