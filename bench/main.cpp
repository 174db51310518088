// mygemm-bench: measures mygemm beside its peers, alternating in one process. This file reads the
// command line and walks through the problems; contest.cpp measures one.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accuracy.h"
#include "command_line.h"
#include "contest.h"
#include "distributions.h"
#include "library_words.h"
#include "overhead.h"
#include "progress.h"
#include "replay.h"
#include "report.h"
#include "session.h"
#include "suites.h"

namespace bench {
namespace {

using mygemm::cli::add_choice;
using mygemm::cli::Progress;

struct Request {
  Options options;
  std::optional<double> min_time_ms;
  std::vector<std::string> suites;
  SuiteOptions suite_options;
  SgemmCase sgemm;
  GemmCase gemm;
  GroupedCase grouped;
  SoftmaxCase softmax;
  CrossEntropyCase cross_entropy;
  TransposeCase transpose;
  std::string log;
  AccuracySweep accuracy;
  std::vector<std::string> data = documented_names();
  std::vector<std::string> also;  // kernels
};

void add_common_options(CLI::App* app, Request* request) {
  Options& o = request->options;
  add_choice(app, "--backend", &o.backend, mygemm::cli::kBackends, "where to measure");
  add_choice(app, "--math", &o.math, mygemm::cli::kMathModes, "math mode of mygemm");
  app->add_option("--json", o.json, "write results to this file, after every one")
      ->type_name("FILE");
  app->add_option("--plot", o.plot, "draw the results to this file, in SVG, after every one")
      ->type_name("FILE");
  app->add_option("--groups", o.timer.groups, "groups of calls timed; the median counts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app->add_option("--min-time", request->min_time_ms,
                  "milliseconds of a group, at least; 1 on a GPU, 10 on the host")
      ->check(CLI::NonNegativeNumber);
  static const std::vector<std::pair<std::string, Launches>> launches = {
      {"by_length", Launches::kByLength},
      {"graph", Launches::kGraph},
      {"stream", Launches::kStream}};
  add_choice(app, "--launches", &o.timer.launches, launches,
             "how calls reach a GPU; by_length: short ones by graphs, long ones in a stream");
  app->add_flag("--hot", o.hot, "one copy of the operands, found in cache if they fit");
  app->add_option("--force", o.force, "a kernel to use, by name");
  CLI::Option* all_kernels =
      app->add_flag("--all-kernels", o.all_kernels, "measure every kernel that can run");
  app->add_option("--near", o.near, "of those, estimated to take at most this times the least")
      ->check(CLI::Range(1.0, 1e9))
      ->needs(all_kernels);
  app->add_flag("!--no-naive", o.naive, "leave the naive kernel out");
  app->add_flag("--pedantic", o.pedantic, "cuBLAS in pedantic math mode too");
  app->add_option("--workspace", o.workspace_mib, "MiB for mygemm; what each call asks for")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--cublas-workspace", o.cublas_workspace_mib, "MiB for cuBLAS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--seed", request->suite_options.seed,
                  "of the suite 'random' and of the data of 'accuracy'")
      ->capture_default_str();
  app->add_option("--count", request->suite_options.count, "problems of the suite 'random'")
      ->capture_default_str();
}

void add_accuracy_options(CLI::App* command, Request* request) {
  AccuracySweep& sweep = request->accuracy;
  command->add_option("-m", sweep.m, "rows of op(A) and C; 1024, or 128 on the host");
  command->add_option("-n", sweep.n, "columns of op(B) and C; 1024, or 128 on the host");
  command->add_option("-k", sweep.depths, "one or several; 32 to 16384, or to 2048 on the host")
      ->delimiter(',');
  command->add_option("--ops", sweep.operations, "of A and B, one or several; NN by default")
      ->delimiter(',')
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT", "NC", "CN", "CC", "CT", "TC"}));
  command
      ->add_option("--data", request->data,
                   "kinds of matrices; those of docs/accuracy.md by default")
      ->delimiter(',')
      ->check(CLI::IsMember(bounded_names()));
  command->add_option("--also", request->also, "kernels to measure besides, whatever the plan says")
      ->delimiter(',');
}

void add_suite_options(CLI::App* command, Request* request, std::vector<std::string> names) {
  names.push_back("all");
  command->fallthrough();
  command->add_option("--suite", request->suites, "named lists of problems, or all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
}

// A problem that cannot be measured is reported, and the run goes on with the next one.
template <class Case>
void measure_one(Session* session, Report* report, Progress* progress, const Case& problem,
                 int64_t repeats = 1) {
  Result result;
  try {
    result = measure(session, problem);
  } catch (const std::exception& error) {
    result = {};
    result.label = label(problem);
    result.fields = fields(problem);
    result.failure = error.what();
  }
  result.operation = operation_name(problem);
  result.repeats = repeats;
  progress->advance();
  const auto hidden = progress->hidden();
  report->add(result);
}

template <class Case>
void measure_suites(Session* session, Report* report, const std::vector<std::string>& suites,
                    std::vector<Case> (*suite)(const std::string&, const SuiteOptions&),
                    const SuiteOptions& options, const Case& problem_of_options) {
  std::vector<Case> problems;
  for (const std::string& name : suites) {
    const std::vector<Case> more = suite(name, options);
    problems.insert(problems.end(), more.begin(), more.end());
  }
  if constexpr (std::derived_from<Case, SgemmCase>) {
    for (Case& problem : problems) problem.invariance = problem_of_options.invariance;
  }
  Progress progress("measuring", static_cast<int64_t>(problems.size()));
  for (const Case& problem : problems) {
    measure_one(session, report, &progress, problem);
  }
}

bool sized(const SgemmCase& problem) { return problem.m != 0 || problem.n != 0 || problem.k != 0; }

// The suites of the given names; "all" means all but "tiny", which tests the program, and "data",
// which has the same shapes over and over.
std::vector<std::string> chosen_suites(const std::vector<std::string>& asked,
                                       std::vector<std::string> names) {
  if (std::find(asked.begin(), asked.end(), "all") == asked.end()) {
    return asked;
  }
  std::erase(names, "tiny");
  std::erase(names, "data");
  return names;
}

// One problem where its sizes are given, else suites, whose products have its invariance.
template <class Case>
void run_operation(Session* session, Report* report, const Request& request, const Case& problem,
                   bool sized, const std::vector<std::string>& names,
                   std::vector<Case> (*suite)(const std::string&, const SuiteOptions&)) {
  if (sized) {
    Progress progress("measuring");
    measure_one(session, report, &progress, complete(problem));
    return;
  }
  const std::vector<std::string> asked =
      request.suites.empty() ? std::vector<std::string>{names.front()} : request.suites;
  measure_suites(session, report, chosen_suites(asked, names), suite, request.suite_options,
                 problem);
}

void measure_errors(Session* session, Report* report, const Request& request) {
  const std::vector<SgemmCase> products =
      accuracy_products(request.accuracy, request.suite_options);
  Progress progress("measuring", static_cast<int64_t>(products.size() * request.data.size()));
  for (const SgemmCase& product : products) {
    for (const std::string& data : request.data) {
      Accuracy accuracy;
      try {
        accuracy =
            measure_accuracy(session, product, data, request.suite_options.seed, request.also);
      } catch (const std::exception& error) {
        accuracy = {};
        accuracy.data = data;
        accuracy.problem = product;
        accuracy.failure = error.what();
      }
      progress.advance();
      const auto hidden = progress.hidden();
      report->add(accuracy);
    }
  }
}

void measure_log(Session* session, Report* report, const std::vector<LoggedCase>& log) {
  Progress progress("measuring", static_cast<int64_t>(log.size()));
  for (const LoggedCase& logged : log) {
    std::visit(
        [&](const auto& problem) {
          measure_one(session, report, &progress, problem, logged.repeats);
        },
        logged.problem);
  }
}

int run(int argc, char** argv) {
  Request request;
  CLI::App app("Measures mygemm beside cuBLAS (GPU), a CBLAS (host), copies and its naive kernels.",
               "mygemm-bench");
  app.require_subcommand(1);
  mygemm::cli::add_descriptions(&app, "mygemm-bench of mygemm " MYGEMM_BENCH_VERSION);
  add_common_options(&app, &request);
  CLI::App* sgemm = app.add_subcommand("sgemm", "matrix products: one (-m -n -k) or suites");
  CLI::App* gemm =
      app.add_subcommand("gemm", "products with an epilogue, or triangles: one or suites");
  CLI::App* grouped = app.add_subcommand(
      "gemm_grouped", "products of different sizes in one call: one (-m -n -k) or suites");
  CLI::App* softmax = app.add_subcommand("softmax", "softmax: one (--rows --cols) or suites");
  CLI::App* loss =
      app.add_subcommand("cross_entropy", "losses of logits: one (--rows --cols) or suites");
  CLI::App* transpose = app.add_subcommand("transpose", "transposes: one or suites");
  CLI::App* overhead = app.add_subcommand("overhead", "cost of handles and of calls on the host");
  CLI::App* replay = app.add_subcommand("replay", "the calls of a MYGEMM_LOG file");
  CLI::App* accuracy = app.add_subcommand(
      "accuracy", "errors of products against FP64, by k and by what the matrices hold");
  CLI::App* all = app.add_subcommand("all", "every suite and the overhead");
  add_suite_options(sgemm, &request, sgemm_suites());
  add_options(sgemm, &request.sgemm);
  add_suite_options(gemm, &request, gemm_suites());
  add_options(gemm, &request.gemm);
  add_suite_options(grouped, &request, grouped_suites());
  add_options(grouped, &request.grouped);
  add_suite_options(softmax, &request, softmax_suites());
  add_options(softmax, &request.softmax);
  add_suite_options(loss, &request, cross_entropy_suites());
  add_options(loss, &request.cross_entropy);
  add_suite_options(transpose, &request, transpose_suites());
  add_options(transpose, &request.transpose);
  replay->add_option("file", request.log, "the log; - is standard input")
      ->required()
      ->type_name("FILE");
  add_accuracy_options(accuracy, &request);
  for (CLI::App* command : {overhead, replay, accuracy, all}) {
    command->fallthrough();
  }
  if (const std::optional<int> status = mygemm::cli::parse(&app, argc, argv)) return *status;

  const std::vector<LoggedCase> log =
      replay->parsed() ? read_log(request.log) : std::vector<LoggedCase>{};
  request.options.pedantic |= accuracy->parsed();  // costs nothing where nothing is timed
  Session session(request.options);
  request.suite_options.host = !session.machine.cuda();
  session.options.timer.min_seconds =
      request.min_time_ms.value_or(session.machine.cuda() ? 1.0 : 10.0) * 1e-3;
  if (all->parsed()) {
    request.suites = {"all"};
  }
  Report report(session, std::vector<std::string>(argv, argv + argc));
  if (overhead->parsed() || all->parsed()) {
    measure_overhead(&session, &report);
  }
  if (sgemm->parsed() || all->parsed()) {
    run_operation(&session, &report, request, request.sgemm, sized(request.sgemm), sgemm_suites(),
                  sgemm_suite);
  }
  if (gemm->parsed()) {
    run_operation(&session, &report, request, request.gemm, sized(request.gemm), gemm_suites(),
                  gemm_suite);
  }
  if (grouped->parsed()) {
    run_operation(&session, &report, request, request.grouped, sized(request.grouped),
                  grouped_suites(), grouped_suite);
  }
  if (accuracy->parsed()) {
    measure_errors(&session, &report, request);
  }
  if (softmax->parsed() || all->parsed()) {
    const bool sized = request.softmax.rows != 0 || request.softmax.cols != 0;
    run_operation(&session, &report, request, request.softmax, sized, softmax_suites(),
                  softmax_suite);
  }
  if (loss->parsed() || all->parsed()) {
    const bool sized = request.cross_entropy.rows != 0 || request.cross_entropy.cols != 0;
    run_operation(&session, &report, request, request.cross_entropy, sized, cross_entropy_suites(),
                  cross_entropy_suite);
  }
  if (transpose->parsed() || all->parsed()) {
    const bool sized = request.transpose.rows != 0 || request.transpose.cols != 0;
    run_operation(&session, &report, request, request.transpose, sized, transpose_suites(),
                  transpose_suite);
  }
  if (replay->parsed()) {
    measure_log(&session, &report, log);
  }
  return report.finish() ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mygemm-bench: %s\n", error.what());
    return 2;
  }
}
