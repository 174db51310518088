// Grouped products, a batch whose products differ in size, as a problem that is measured: see
// cases.h. A log line does not have the sizes; here they are made up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"

namespace bench {

// m, n and k are the largest of any product. Matrices with the stacked size have no strides, and
// leading dimensions for all of it.
struct GroupedCase : GemmCase {
  std::vector<std::string> sizes_of;  // of "m", "n", "k": those that each product has of its own
  std::optional<int64_t> total;       // of the one of sizes_of along which matrices are stacked
  std::string sizes_on = "device";    // or "host"

  bool stacks(const char* size) const { return total && sizes_of.front() == size; }
};

// Where matrices are stacked, the largest of the stacked size is its total by default.
GroupedCase complete(GroupedCase problem);
// The batch whose matrices, of strides 0 where they are stacked, are those of all products.
GemmCase with_total(const GroupedCase& problem);

// One of the products, and how much of the stacked size belongs to those before it.
struct ProductSizes {
  int64_t m, n, k;
  int64_t before;
};

// Where matrices are stacked, as even as possible; else the largest of all.
ProductSizes sizes_of_product(const GroupedCase& problem, int64_t i);

inline const char* operation_name(const GroupedCase&) { return "gemm_grouped"; }
Fields fields(const GroupedCase& problem);
std::string label(const GroupedCase& problem);
double flops(const GroupedCase& problem);

}  // namespace bench
