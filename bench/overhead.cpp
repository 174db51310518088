// See overhead.h. The workspace queries build a problem, validate and plan it exactly as calls do,
// and stop before the launch: their time is that of this path.
#include "overhead.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace bench {
namespace {

constexpr int kQueuedCalls = 256;  // fewer than a launch queue holds, so none waits
constexpr int kHandles = 20;

double now_seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double seconds_of(const std::function<void()>& work) {
  const double start = now_seconds();
  work();
  return now_seconds() - start;
}

Overhead overhead(const std::string& name, const std::string& unit,
                  const std::vector<double>& sample) {
  const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
  return {name, unit, median(sample), *least, *most};
}

// Nanoseconds of one call on the host. `calls` calls are made back to back, then waited for
// outside the measure.
Overhead host_cost(const Session& session, const std::string& name, int calls, const Call& call) {
  std::vector<double> sample;
  for (int group = -1; group < session.options.timer.groups; ++group) {  // the first warms up
    const double seconds = seconds_of([&] {
      for (int i = 0; i < calls; ++i) {
        call(i);
      }
    });
    session.machine.wait();
    if (group >= 0) {
      sample.push_back(seconds / calls * 1e9);
    }
  }
  return overhead(name, "ns a call", sample);
}

void measure_handles(const Session& session, Report* report) {
  std::vector<double> create, destroy;
  for (int i = 0; i < kHandles; ++i) {
    mygemmHandle_t handle = nullptr;
    const double milliseconds = seconds_of([&] { handle = create_handle(session.machine); }) * 1e3;
    if (i == 0) {
      report->add(overhead("the first handle of the process", "ms", {milliseconds}));
    }
    create.push_back(milliseconds);
    destroy.push_back(seconds_of([&] { mygemm_destroy(handle); }) * 1e3);
  }
  report->add(overhead("a handle", "ms", create));
  report->add(overhead("destroying a handle", "ms", destroy));
}

// A few shapes in turn: a branch predictor would learn a single one.
int64_t size_of(int64_t i) {
  constexpr int64_t kSizes[] = {17, 4096, 128, 1000, 64, 2048, 333, 8192};
  return kSizes[i % 8];
}

void measure_plans(Session* session, Report* report) {
  const int calls = std::max(1000, static_cast<int>(session->options.timer.min_seconds / 100e-9));
  mygemmHandle_t gemm = session->library.handle(Family::kGemm, "");
  size_t bytes = 0;
  report->add(host_cost(*session, "validate + plan, sgemm", calls, [&](int64_t i) {
    check(mygemm_sgemm_workspace_size(gemm, MYGEMM_OP_N, MYGEMM_OP_T, size_of(i), size_of(i + 1),
                                      size_of(i + 3), 1, &bytes),
          "mygemm_sgemm_workspace_size");
  }));
  report->add(host_cost(*session, "validate + plan, softmax", calls, [&](int64_t i) {
    check(mygemm_softmax_workspace_size(gemm, MYGEMM_SOFTMAX, size_of(i), size_of(i + 1),
                                        MYGEMM_R_32F, MYGEMM_R_16F, &bytes),
          "mygemm_softmax_workspace_size");
  }));
  report->add(host_cost(*session, "validate + plan, transpose", calls, [&](int64_t i) {
    check(mygemm_transpose_workspace_size(gemm, 4, size_of(i), size_of(i + 1), 1,
                                          static_cast<int>(i % 2), &bytes),
          "mygemm_transpose_workspace_size");
  }));
  const float one = 1.0f;
  report->add(host_cost(*session, "a call with nothing to do (sgemm, m = 0)", calls, [&](int64_t) {
    check(mygemm_sgemm(gemm, MYGEMM_OP_N, MYGEMM_OP_N, 0, 4, 4, &one, nullptr, 4, nullptr, 4, &one,
                       nullptr, 4),
          "mygemm_sgemm");
  }));
}

// Whole calls with negligible kernel time: on a GPU the host's cost of enqueueing one, on the host
// the whole call.
void measure_tiny_calls(Session* session, Report* report) {
  constexpr int kSize = 8;
  constexpr int64_t kCount = kSize * kSize;
  const float one = 1.0f, zero = 0.0f;
  const Machine& machine = session->machine;
  const RotatedOperand a(machine, MYGEMM_R_32F, kCount, 0, 1, 1);
  const RotatedOperand b(machine, MYGEMM_R_32F, kCount, 0, 1, 2);
  const RotatedOperand c(machine, MYGEMM_R_32F, kCount, 0, 1, 3);
  const float* in = static_cast<const float*>(a.at(0));
  const float* other = static_cast<const float*>(b.at(0));
  float* out = static_cast<float*>(c.at(0));
  mygemmHandle_t handle = session->library.handle(Family::kGemm, "");
  const std::string verb = machine.cuda() ? "enqueueing " : "";
  report->add(host_cost(*session, verb + "sgemm 8 x 8 x 8", kQueuedCalls, [&](int64_t) {
    check(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, kSize, kSize, kSize, &one, in, kSize,
                       other, kSize, &zero, out, kSize),
          "mygemm_sgemm");
  }));
  report->add(host_cost(*session, verb + "softmax 8 x 8", kQueuedCalls, [&](int64_t) {
    check(mygemm_softmax(handle, MYGEMM_SOFTMAX, kSize, kSize, one, in, MYGEMM_R_32F, kSize, out,
                         MYGEMM_R_32F, kSize),
          "mygemm_softmax");
  }));
  report->add(host_cost(*session, verb + "transpose 8 x 8", kQueuedCalls, [&](int64_t) {
    check(mygemm_transpose(handle, sizeof(float), kSize, kSize, in, kSize, out, kSize),
          "mygemm_transpose");
  }));
  const BlasGemm gemm = {false, false, kSize, kSize, kSize, one, zero,
                         kSize, kSize, kSize, 0,     0,     0,   1};
  if (session->cublas != nullptr) {
    report->add(host_cost(*session, verb + "cublasSgemm 8 x 8 x 8", kQueuedCalls,
                          [&](int64_t) { session->cublas->sgemm(gemm, in, other, out); }));
  }
  if (session->cblas != nullptr) {
    report->add(host_cost(*session, "cblas_sgemm 8 x 8 x 8", kQueuedCalls,
                          [&](int64_t) { session->cblas->sgemm(gemm, in, other, out); }));
  }
}

}  // namespace

void measure_overhead(Session* session, Report* report) {
  measure_handles(*session, report);
  measure_plans(session, report);
  measure_tiny_calls(session, report);
}

}  // namespace bench
