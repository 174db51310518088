// See grouped_case.h.
#include "grouped_case.h"

#include <algorithm>
#include <climits>
#include <stdexcept>

namespace bench {
namespace {

constexpr const char* kSizes[] = {"m", "n", "k"};

// In the order of a log line, each once.
std::vector<std::string> in_order(const std::vector<std::string>& sizes) {
  std::vector<std::string> result;
  for (const char* size : kSizes) {
    if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) result.emplace_back(size);
  }
  return result;
}

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ",") + word;
  return result;
}

// The case's m, n or k of this name.
int64_t& size_of(GemmCase* p, const std::string& name) {
  return name == "m" ? p->m : name == "n" ? p->n : p->k;
}

// All products' share of the stacked size.
int64_t stacked_sum(const GroupedCase& p, int64_t most) {
  return p.batch > *p.total / most ? *p.total : most * p.batch;
}

// Logged in the words of mygemm_sgemm, which has no D; with nothing of C to tell.
bool is_plain(const GroupedCase& p) {
  return p.fp32_operands() && !p.bias && p.activation == "none" && p.c_is_d && !p.reads_c;
}

}  // namespace

GemmCase with_total(const GroupedCase& p) {
  GemmCase whole = p;
  if (p.total) size_of(&whole, p.sizes_of.front()) = *p.total;
  return whole;
}

GroupedCase complete(GroupedCase p) {
  p.sizes_of = in_order(p.sizes_of);
  if (!p.total) {
    static_cast<GemmCase&>(p) = complete(static_cast<const GemmCase&>(p));
  } else {
    if (p.sizes_of.size() != 1) {
      throw std::invalid_argument("--total: matrices are stacked along one size of --sizes-of");
    }
    require_positive("--total", *p.total);
    const std::string stacked = p.sizes_of.front();
    if (size_of(&p, stacked) == 0) size_of(&p, stacked) = *p.total;
    const int64_t most = size_of(&p, stacked);
    require_positive(("-" + stacked).c_str(), most);
    if (!p.stride_bias) p.stride_bias = p.m;
    GemmCase whole = complete(with_total(p));
    if (stacked != "n") whole.stride_a = 0;
    if (stacked != "m") whole.stride_b = 0;
    if (stacked != "k") whole.stride_c = whole.stride_d = 0;
    size_of(&whole, stacked) = most;
    static_cast<GemmCase&>(p) = whole;
  }
  for (const std::string& size : p.sizes_of) {
    if (size_of(&p, size) > INT_MAX) {
      throw std::invalid_argument("-" + size + ": sizes of products are measured with 32 bits");
    }
  }
  return p;
}

ProductSizes sizes_of_product(const GroupedCase& p, int64_t i) {
  GemmCase sizes = p;
  int64_t before = 0;
  if (p.total) {
    int64_t& size = size_of(&sizes, p.sizes_of.front());
    const int64_t sum = stacked_sum(p, size), share = sum / p.batch, longer = sum % p.batch;
    size = share + (i < longer ? 1 : 0);
    before = i * share + std::min(i, longer);
  }
  return {sizes.m, sizes.n, sizes.k, before};
}

Fields fields(const GroupedCase& p) {
  Fields result = is_plain(p) ? fields(static_cast<const SgemmCase&>(p))
                              : fields(static_cast<const GemmCase&>(p));
  if (!p.sizes_of.empty()) result.emplace_back("--sizes-of", joined(p.sizes_of));
  if (p.total) result.emplace_back("--total", std::to_string(*p.total));
  result.emplace_back("--sizes-on", p.sizes_on);
  return result;
}

std::string label(const GroupedCase& p) {
  std::string result = label(static_cast<const GemmCase&>(p));
  if (p.total) {
    result += ", " + p.sizes_of.front() + " of " + std::to_string(*p.total);
  } else if (!p.sizes_of.empty()) {
    result += ", own " + joined(p.sizes_of);
  }
  return p.sizes_on == "host" ? result + ", sizes on host" : result;
}

double flops(const GroupedCase& p) {
  if (!p.total) return flops(static_cast<const SgemmCase&>(p));
  GemmCase all = p;
  int64_t& size = size_of(&all, p.sizes_of.front());
  size = stacked_sum(p, size);
  all.batch = 1;
  return flops(static_cast<const SgemmCase&>(all));
}

}  // namespace bench
