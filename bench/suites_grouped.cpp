// Suites of grouped products: see suites.h.
#include <algorithm>
#include <stdexcept>

#include "suites.h"

namespace bench {

const std::vector<std::string>& grouped_suites() {
  static const std::vector<std::string> names = {"experts"};
  return names;
}

// Linear layers of mixtures of experts, of row-major matrices: products with the weights, then the
// gradients of the weights.
std::vector<GroupedCase> grouped_suite(const std::string& name, const SuiteOptions& options) {
  if (name != "experts") throw std::invalid_argument("no suite is called '" + name + "'");
  struct Layer {
    int64_t experts, tokens, outputs, inputs;
    const char* type;
  };
  constexpr Layer kLayers[] = {{64, 16384, 1536, 4096, "bf16"}, {64, 16384, 4096, 1536, "bf16"},
                               {8, 4096, 14336, 4096, "bf16"},  {8, 16384, 4096, 14336, "bf16"},
                               {128, 16384, 1536, 2048, "f16"}, {256, 32768, 2048, 7168, "bf16"},
                               {64, 64, 1536, 4096, "bf16"},    {8, 4096, 4096, 4096, "f32"}};
  const int64_t smaller = options.host ? 16 : 1;
  std::vector<GroupedCase> cases;
  for (const Layer& layer : kLayers) {
    for (const bool of_weights : {false, true}) {
      GroupedCase c;
      c.batch = layer.experts;
      c.total = std::max(layer.tokens / smaller, int64_t{64});
      c.atype = c.dtype = layer.type;
      const int64_t outputs = layer.outputs / smaller, inputs = layer.inputs / smaller;
      c.m = of_weights ? inputs : outputs;
      (of_weights ? c.n : c.k) = of_weights ? outputs : inputs;
      (of_weights ? c.transb : c.transa) = "T";
      c.sizes_of = {of_weights ? "k" : "n"};
      cases.push_back(complete(c));
    }
  }
  return cases;
}

}  // namespace bench
