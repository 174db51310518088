// See table.h.
#include "table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace bench {
namespace {

const Measurement* find(const Result& result, const std::string& peer) {
  const auto found = std::find_if(result.peers.begin(), result.peers.end(),
                                  [&](const Measurement& m) { return m.name == peer; });
  return found == result.peers.end() ? nullptr : &*found;
}

bool only_naive(const Result& result) {
  return std::all_of(result.kernels.begin(), result.kernels.end(),
                     [](const Measurement& kernel) { return kernel.naive; });
}

// Operations and, of each, peers, in the order they first appear.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<Result>& results) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Result& result : results) {
    for (const std::string& peer : result.peer_names) {
      const std::pair<std::string, std::string> pair(result.operation, peer);
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) {
        pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

struct Sums {
  int count = 0;
  int64_t calls = 0;
  double log_ratio = 0, our_ms = 0, their_ms = 0;
  double worst = HUGE_VAL;
  std::string worst_label;
};

Sums sums_over(const std::vector<Result>& results, const std::string& operation,
               const std::string& peer) {
  Sums sums;
  for (const Result& result : results) {
    const Measurement* measured = result.operation == operation ? find(result, peer) : nullptr;
    if (measured == nullptr) {
      continue;
    }
    const double repeats = static_cast<double>(result.repeats);
    ++sums.count;
    sums.calls += result.repeats;
    sums.log_ratio += std::log(measured->ratio);
    sums.our_ms += result.timing.median * 1e3 * repeats;
    sums.their_ms += measured->timing.median * 1e3 * repeats;
    if (measured->ratio < sums.worst) {
      sums.worst = measured->ratio;
      sums.worst_label = result.label;
    }
  }
  return sums;
}

// Where every kernel was measured: how often the plan should have chosen another one.
void print_better_kernels(const std::vector<Result>& results) {
  constexpr double kNoise = 0.97;
  int compared = 0, better = 0;
  for (const Result& result : results) {
    const auto fastest = std::min_element(
        result.kernels.begin(), result.kernels.end(),
        [](const Measurement& a, const Measurement& b) { return a.ratio < b.ratio; });
    if (only_naive(result)) {  // or no other kernel
      continue;
    }
    ++compared;
    if (fastest->ratio < kNoise) {
      ++better;
      std::printf("%s %s: %s is %.2f times as fast as %s, which the plan chose\n",
                  result.operation.c_str(), result.label.c_str(), fastest->name.c_str(),
                  1 / fastest->ratio, result.kernel.c_str());
    }
  }
  if (compared > 0) {
    std::printf("the plan chose a kernel that is slower than another: %d of %d\n", better,
                compared);
  }
}

// The kind of data of a result, and the label of its shape.
struct DataOfShape {
  std::string data, shape;
};

DataOfShape data_of(const Result& result) {
  for (const auto& [option, value] : result.fields) {
    if (option == "--data") {
      return {value, result.label.substr(0, result.label.rfind(", " + value))};
    }
  }
  return {kUsualData, result.label};
}

// Where shapes were measured with several kinds of data: times over those with the usual kind.
void print_times_by_data(const std::vector<Result>& results) {
  std::map<std::string, double> usual;  // by shape
  std::vector<std::string> kinds;
  for (const Result& result : results) {
    const DataOfShape of = data_of(result);
    if (!result.failure.empty() || result.operation != "sgemm") {
      continue;
    }
    if (of.data == kUsualData) {
      usual.emplace(of.shape, result.timing.median);
    } else if (std::find(kinds.begin(), kinds.end(), of.data) == kinds.end()) {
      kinds.push_back(of.data);
    }
  }
  if (usual.empty() || kinds.empty()) {
    return;
  }
  std::printf("times over those of %s data:\n", kUsualData);
  for (const std::string& kind : kinds) {
    std::printf("  %-16s", kind.c_str());
    for (const Result& result : results) {
      const DataOfShape of = data_of(result);
      const auto found = usual.find(of.shape);
      if (of.data == kind && found != usual.end() && result.failure.empty()) {
        std::printf("  %6.3f (%s)", result.timing.median / found->second, of.shape.c_str());
      }
    }
    std::printf("\n");
  }
}

// The last column of a line of errors: kernels of ours are compared with `peer`.
const char* verdict(const Accuracy& accuracy, const Contender& contender, const Contender* peer) {
  if (accuracy.wrong(contender)) {
    return "WRONG";
  }
  if (accuracy.tolerance == 0) {
    return "exact";
  }
  if (!contender.author.kernel || peer == nullptr) {
    return "-";
  }
  const bool largest = contender.errors.largest <= peer->errors.largest;
  const bool frobenius = contender.errors.frobenius <= peer->errors.frobenius;
  return largest && frobenius ? "both" : largest ? "max" : frobenius ? "Frobenius" : "neither";
}

}  // namespace

void print_header(const Result& result) {
  std::printf("\n%-38s %-21s %10s %9s", result.operation.c_str(), "kernel", "ms",
              result.unit.c_str());
  for (const std::string& peer : result.peer_names) {
    std::printf("  %9.16s %6s", peer.c_str(), "ratio");
  }
  std::printf("  %8s\n", "error");
}

void print_line(const Result& result) {
  if (!result.failure.empty()) {
    std::printf("%-38s FAILED: %s\n", result.label.c_str(), result.failure.c_str());
    return;
  }
  std::printf("%-38s %-21s %10.4f %9.4g", result.label.c_str(), result.kernel.c_str(),
              result.timing.median * 1e3, result.rate);
  for (const std::string& peer : result.peer_names) {
    if (const Measurement* measured = find(result, peer)) {
      std::printf("  %9.4g %6.2f", measured->rate, measured->ratio);
    } else {
      std::printf("  %9s %6s", "-", "-");
    }
  }
  if (result.error) {
    std::printf("  %8.1e%s\n", *result.error, result.wrong() ? " WRONG" : "");
  } else {
    std::printf("  %8s\n", "-");
  }
  for (const Measurement& kernel : result.kernels) {
    if (only_naive(result)) {
      continue;  // its column has the ratio
    }
    std::printf("%-38s %-21s %10.4f %9.4g  plan: %.1f us; chosen: %.1f us, %.2f times as fast\n",
                "", kernel.name.c_str(), kernel.timing.median * 1e3, kernel.rate,
                kernel.estimated_us.value_or(NAN), result.estimated_us.value_or(NAN), kernel.ratio);
  }
}

bool print_summary(const std::vector<Result>& results) {
  if (!results.empty()) {
    std::printf("\n");
  }
  const auto bad = [](const Result& result) { return !result.failure.empty() || result.wrong(); };
  const auto failed = std::count_if(results.begin(), results.end(), bad);
  if (failed > 0) {
    std::printf("%d of %zu results failed or are wrong\n", static_cast<int>(failed),
                results.size());
  }
  for (const auto& [operation, peer] : pairs_of(results)) {
    const Sums sums = sums_over(results, operation, peer);
    if (sums.count == 0) {
      continue;
    }
    std::printf("%s: %.3f times the speed of %s (geometric mean of %d), worst %.3f (%s)",
                operation.c_str(), std::exp(sums.log_ratio / sums.count), peer.c_str(), sums.count,
                sums.worst, sums.worst_label.c_str());
    if (sums.calls > sums.count) {
      std::printf("; all %lld calls: %.4g ms, %s %.4g ms", static_cast<long long>(sums.calls),
                  sums.our_ms, peer.c_str(), sums.their_ms);
    }
    std::printf("\n");
  }
  print_better_kernels(results);
  print_times_by_data(results);
  return failed == 0;
}

void print_accuracy_header() {
  std::printf("\n%-15s %-22s %-16s %-22s %10s %10s  %s\n", "data", "errors of products", "by",
              "kernel", "max/|A||B|", "Frobenius", "at most the library's");
}

void print_lines(const Accuracy& accuracy) {
  if (!accuracy.failure.empty()) {
    std::printf("%-15s %-22s FAILED: %s\n", accuracy.data.c_str(), label(accuracy.problem).c_str(),
                accuracy.failure.c_str());
    return;
  }
  const Contender* peer = accuracy.peer();
  const Contender* ours = &accuracy.contenders.front();
  for (const Contender& contender : accuracy.contenders) {
    const bool first = &contender == ours;
    const Author& author = contender.author;
    std::printf("%-15s %-22s %-16.16s %-22s %10.3e %10.3e  %s\n",
                first ? accuracy.data.c_str() : "", first ? label(accuracy.problem).c_str() : "",
                author.name.c_str(), author.kernel.value_or("-").c_str(), contender.errors.largest,
                contender.errors.frobenius, verdict(accuracy, contender, peer));
  }
}

bool print_summary(const std::vector<Accuracy>& results) {
  struct Count {
    std::string name;
    int compared = 0, largest = 0, frobenius = 0;
  };
  std::vector<Count> counts;  // one for each peer
  int failed = 0;
  for (const Accuracy& accuracy : results) {
    failed += !accuracy.failure.empty() || accuracy.wrong() ? 1 : 0;
    for (size_t i = 1; i < accuracy.contenders.size(); ++i) {
      const Contender &ours = accuracy.contenders.front(), &other = accuracy.contenders[i];
      auto count = std::find_if(counts.begin(), counts.end(), [&](const Count& known) {
        return known.name == other.author.name;
      });
      if (count == counts.end()) {
        count = counts.insert(count, {other.author.name});
      }
      ++count->compared;
      count->largest += ours.errors.largest <= other.errors.largest ? 1 : 0;
      count->frobenius += ours.errors.frobenius <= other.errors.frobenius ? 1 : 0;
    }
  }
  if (failed > 0) {
    std::printf("%d of %zu products failed or are wrong\n", failed, results.size());
  }
  for (const Count& count : counts) {
    std::printf("errors at most those of %s: largest in %d of %d, Frobenius in %d\n",
                count.name.c_str(), count.largest, count.compared, count.frobenius);
  }
  return failed == 0;
}

}  // namespace bench
