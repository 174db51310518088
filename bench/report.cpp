// See report.h. Tables are in table.cpp.
#include "report.h"

#include <cctype>
#include <ctime>
#include <stdexcept>

#include "json.h"
#include "plot.h"
#include "table.h"

namespace bench {
namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// "--stride-a" becomes "stride_a".
std::string key_of(const std::string& option) {
  std::string key = option.substr(option.find_first_not_of('-'));
  for (char& c : key) {
    c = c == '-' ? '_' : c;
  }
  return key;
}

bool is_number(const std::string& value) {
  return value.find_first_not_of("-0123456789") == std::string::npos;
}

void add_timing(Json* json, const Timing& timing) {
  json->begin_object("ms");
  json->add("median", timing.median * 1e3);
  json->add("min", timing.min * 1e3);
  json->add("max", timing.max * 1e3);
  json->end_object();
  json->add("calls_per_group", timing.calls_per_group);
  json->add("clock", timing.clock);
}

void add_measurements(Json* json, const char* key, const std::vector<Measurement>& list) {
  json->begin_array(key);
  for (const Measurement& measured : list) {
    json->begin_object();
    json->add("name", measured.name);
    add_timing(json, measured.timing);
    json->add("rate", measured.rate);
    json->add("ratio", measured.ratio);
    json->add("estimated_us", measured.estimated_us);
    json->add("figures", measured.figures);
    json->end_object();
  }
  json->end_array();
}

void add_telemetry(Json* json, const char* key, const TelemetryReading& reading) {
  json->begin_object(key);
  json->add("sm_clock_mhz", reading.sm_clock_mhz);
  json->add("memory_clock_mhz", reading.memory_clock_mhz);
  json->add("temperature_c", reading.temperature_c);
  json->add("power_w", reading.power_w);
  json->end_object();
}

void add_shape(Json* json, const Fields& fields) {
  json->begin_object("shape");
  for (const auto& [option, value] : fields) {
    if (is_number(value)) {
      json->add(key_of(option), static_cast<int64_t>(std::stoll(value)));
    } else {
      json->add(key_of(option), value);
    }
  }
  json->end_object();
}

void add_result(Json* json, const Result& result) {
  json->begin_object();
  json->add("operation", result.operation);
  json->add("label", result.label);
  add_shape(json, result.fields);
  std::string command = "mygemm " + result.operation;
  for (const auto& [option, value] : result.fields) {
    command += " " + option + " " + value;
  }
  json->add("command", command);
  json->add("repeats", result.repeats);
  if (!result.failure.empty()) {
    json->add("failure", result.failure);
    json->end_object();
    return;
  }
  json->add("kernel", result.kernel);
  json->add("estimated_us", result.estimated_us);
  json->add("figures", result.figures);
  add_timing(json, result.timing);
  json->add("rate", result.rate);
  json->add("unit", result.unit);
  json->add("working_set_bytes", result.working_set_bytes);
  json->add("cold", result.cold);
  json->add("reference", result.reference);
  json->add("error", result.error);
  json->add("tolerance", result.tolerance);
  json->add("wrong", result.wrong());
  add_telemetry(json, "gpu", result.telemetry);
  add_measurements(json, "peers", result.peers);
  add_measurements(json, "kernels", result.kernels);
  json->end_object();
}

void add_accuracy(Json* json, const Accuracy& accuracy) {
  json->begin_object();
  const SgemmCase& problem = accuracy.problem;
  json->add("data", accuracy.data);
  json->add("op", problem.transa + problem.transb);
  json->add("m", problem.m);
  json->add("n", problem.n);
  json->add("k", problem.k);
  if (!accuracy.failure.empty()) {
    json->add("failure", accuracy.failure);
    json->end_object();
    return;
  }
  const Contender* peer = accuracy.peer();
  json->add("reference", accuracy.reference);
  json->add("tolerance", accuracy.tolerance);
  json->add("peer", peer == nullptr ? std::nullopt : std::optional(peer->author.name));
  json->begin_array("errors");
  for (const Contender& contender : accuracy.contenders) {
    json->begin_object();
    json->add("name", contender.author.name);
    json->add("kernel", contender.author.kernel);
    json->add("max", contender.errors.largest);
    json->add("frobenius", contender.errors.frobenius);
    json->add("wrong", accuracy.wrong(contender));
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

void add_machine(Json* json, const Session& session) {
  const Machine& machine = session.machine;
  json->begin_object("machine");
  json->add("backend", machine.cuda() ? "cuda" : "host");
  json->add("name", machine.name());
  json->add("compute_capability", machine.compute_capability());
  json->add("processors", machine.processors());
  json->add("cache_bytes", machine.cache_bytes());
  json->add("driver", session.telemetry.driver());
  json->add("cuda_driver_version", machine.driver_version());
  json->add("cuda_runtime_version", machine.runtime_version());
  json->add("max_sm_clock_mhz", session.telemetry.max_sm_clock_mhz());
  json->end_object();
}

void add_versions(Json* json, const Session& session) {
  json->add("mygemm", version_text(mygemm_version()));
  json->add("commit", MYGEMM_BENCH_COMMIT);
  if (session.cublas != nullptr) {
    json->add("cublas", session.cublas->version());
  }
  if (session.cblas != nullptr) {
    json->add("cblas", session.cblas->name());
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if ((file != nullptr && std::fclose(file) != 0) || !written) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace

Report::Report(const Session& session, std::vector<std::string> command_line)
    : session_(&session),
      command_line_(std::move(command_line)),
      date_(now_utc()),
      at_start_(session.telemetry.read()) {
  const Machine& machine = session.machine;
  std::printf("%s", machine.name().c_str());
  if (machine.cuda()) {
    std::printf(
        " (sm_%d, %d SMs, %.0f MB L2, driver %s)", machine.compute_capability(),
        machine.processors(), static_cast<double>(machine.cache_bytes()) / 1e6,
        session.telemetry.driver().empty() ? "unknown" : session.telemetry.driver().c_str());
  } else {
    std::printf(" (host, %d thread%s)", machine.processors(), machine.processors() == 1 ? "" : "s");
  }
  std::printf("; mygemm %s, commit %s; %s\n", version_text(mygemm_version()).c_str(),
              MYGEMM_BENCH_COMMIT, date_.c_str());
  if (!session.no_peer.empty()) {
    std::printf("%s\n", session.no_peer.c_str());
  }
  write_files();  // fails now if one cannot be written
}

void Report::add(const Result& result) {
  if (result.failure.empty() && result.operation != table_) {
    print_header(result);
    table_ = result.operation;
  }
  print_line(result);
  std::fflush(stdout);
  results_.push_back(result);
  write_files();
}

void Report::add(const Overhead& overhead) {
  std::printf("%-46s %10.4g %s  (%.4g to %.4g)\n", overhead.name.c_str(), overhead.median,
              overhead.unit.c_str(), overhead.min, overhead.max);
  std::fflush(stdout);
  overheads_.push_back(overhead);
  write_files();
}

void Report::add(const Accuracy& accuracy) {
  if (accuracies_.empty()) {
    print_accuracy_header();
  }
  print_lines(accuracy);
  std::fflush(stdout);
  accuracies_.push_back(accuracy);
  write_files();
}

bool Report::finish() const {
  const bool results_good = print_summary(results_);
  return print_summary(accuracies_) && results_good;
}

void Report::write_files() const {
  const Options& options = session_->options;
  if (!options.json.empty()) {
    write_file(options.json, json_text());
  }
  if (!options.plot.empty()) {
    write_file(options.plot,
               speed_plot(results_, session_->machine.name() + ", " + date_.substr(0, 10) +
                                        ", commit " + MYGEMM_BENCH_COMMIT));
  }
}

std::string Report::json_text() const {
  Json json;
  json.begin_object();
  json.begin_array("command_line");
  for (const std::string& argument : command_line_) {
    json.add({}, argument);
  }
  json.end_array();
  json.add("date", date_);
  add_versions(&json, *session_);
  add_machine(&json, *session_);
  add_telemetry(&json, "gpu_at_start", at_start_);
  json.begin_array("results");
  for (const Result& result : results_) {
    add_result(&json, result);
  }
  json.end_array();
  json.begin_array("overhead");
  for (const Overhead& overhead : overheads_) {
    json.begin_object();
    json.add("name", overhead.name);
    json.add("unit", overhead.unit);
    json.add("median", overhead.median);
    json.add("min", overhead.min);
    json.add("max", overhead.max);
    json.end_object();
  }
  json.end_array();
  json.begin_array("accuracy");
  for (const Accuracy& accuracy : accuracies_) {
    add_accuracy(&json, accuracy);
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace bench
