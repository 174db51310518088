// mygemm as the benchmark uses it: handles (one for ours, one for every forced kernel) and plans
// parsed from mygemm_explain_*. Uses the public ABI only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "library_words.h"
#include "machine.h"
#include "mygemm/mygemm.h"

namespace bench {

// Throws with mygemm's own sentence unless `status` is success.
void check(mygemmStatus_t status, const char* function);

// A parsed answer of mygemm_explain_*.
struct Explanation {
  struct Kernel {
    std::string name;
    std::optional<double> microseconds;  // estimated; none where it cannot run
    std::string figures;  // measured constants of the estimate, as text; empty where it cannot run
  };
  std::string chosen;
  std::vector<Kernel> kernels;
};

// Calls an mygemm_explain_* function twice: for the length, then for the text.
using ExplainCall = std::function<mygemmStatus_t(char* text, size_t capacity, size_t* length)>;
Explanation explain(const ExplainCall& call);

using mygemm::cli::Family;
using mygemm::cli::is_product;

// Handles of one machine, made when first asked for, all on the machine's stream.
class Library {
 public:
  Library(const Machine& machine, mygemmMathMode_t math) : machine_(&machine), math_(math) {}
  ~Library();
  Library(const Library&) = delete;  // owns handles

  // "none" or "batch": that of handles which handle() returns from now on.
  void set_invariance(const std::string& name);
  Library& operator=(const Library&) = delete;

  // `kernel`: the one to force. Empty: as the environment says, as for any user; in another math
  // mode than that of the run always the plan's choice, since a forced kernel may not be allowed
  // there.
  mygemmHandle_t handle(Family family, const std::string& kernel, mygemmMathMode_t math);
  mygemmHandle_t handle(Family family, const std::string& kernel) {  // in the math mode of the run
    return handle(family, kernel, math_);
  }

 private:
  const Machine* machine_;
  mygemmMathMode_t math_;
  mygemmInvariance_t invariance_ = MYGEMM_INVARIANCE_NONE;
  std::map<std::tuple<Family, std::string, mygemmMathMode_t>, mygemmHandle_t> handles_;
};

// A handle on the machine's backend, owned by the caller.
mygemmHandle_t create_handle(const Machine& machine);

}  // namespace bench
