// The mygemm command: the library's operations on NumPy files, its plans, and a demonstration.
// Turns failures into one line and an exit code: 0 done, 1 failed, CLI11's own codes (100 and up)
// for an invalid command line.
#include <cstdio>
#include <exception>
#include <new>

#include "command_line.h"
#include "commands.h"
#include "error.h"

namespace mygemm::cli {
namespace {

int run(int argc, char** argv) {
  CLI::App app(
      "FP32 matrix products, softmax and transposes of NumPy arrays, on a GPU or without "
      "one.",
      "mygemm");
  app.require_subcommand(1);
  add_descriptions(&app, concat("mygemm ", MYGEMM_VERSION_MAJOR, ".", MYGEMM_VERSION_MINOR, ".",
                                MYGEMM_VERSION_PATCH));
  add_info(app);
  add_sgemm(app);
  add_softmax(app);
  add_transpose(app);
  add_explain(app);
  add_demo(app);
  if (const std::optional<int> status = parse(&app, argc, argv)) return *status;
  // A full disk behind stdout shows no sooner than here.
  if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
  return 0;
}

int fail(const char* sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "mygemm: error: %s\n", sentence);
  return 1;
}

}  // namespace
}  // namespace mygemm::cli

int main(int argc, char** argv) {
  try {
    return mygemm::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return mygemm::cli::fail("out of memory");
  } catch (const std::exception& error) {
    return mygemm::cli::fail(error.what());
  }
}
