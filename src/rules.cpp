// The rules of rules.h.
#include "rules.h"

#include <algorithm>
#include <cmath>

namespace mygemm {

bool refuse(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  fail_with(MYGEMM_STATUS_INVALID_VALUE, format, arguments);
  va_end(arguments);
  return false;
}

bool not_negative(const char* argument, int64_t value) {
  return value >= 0 || refuse("%s = %lld is negative", argument, number(value));
}

bool finite(const char* argument, float value) {
  return std::isfinite(value) || refuse("%s = %g is not finite", argument, value);
}

bool ld_ok(const char* argument, int64_t ld, int64_t extent, const char* rule, const char* why) {
  const int64_t smallest = std::max<int64_t>(1, extent);
  return ld >= smallest || refuse("%s = %lld is smaller than %s = %lld%s", argument, number(ld),
                                  rule, number(smallest), why);
}

bool pointer_ok(const char* argument, const void* pointer, int64_t alignment) {
  if (!pointer) return refuse("%s is NULL", argument);
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) == 0 ||
         refuse("%s = %p is not a multiple of %lld bytes", argument, pointer, number(alignment));
}

Wide elements_of(int64_t runs, int64_t run_length, int64_t ld) {
  return (Wide{runs} - 1) * ld + run_length;
}

bool make_footprint(const char* argument, const void* data, int64_t runs, int64_t run_length,
                    int64_t ld, int64_t batch, int64_t batch_stride, int64_t element_size,
                    BatchedFootprint* footprint) {
  if (runs == 1) ld = run_length;  // a single run goes nowhere, whatever its ld
  const Wide one = elements_of(runs, run_length, ld);
  const Wide shift = batch > 1 ? (Wide{batch} - 1) * batch_stride : 0;
  const Wide elements = one + (shift < 0 ? -shift : shift);
  // In elements first: 127 bits do not hold the bytes of every element count.
  bool fits = std::max(elements, Wide{ld}) <= kAddressSpace / element_size;
  if (fits) {
    const Wide base = static_cast<Wide>(reinterpret_cast<uintptr_t>(data));
    fits = base + std::min<Wide>(shift, 0) * element_size >= 0 &&
           base + (std::max<Wide>(shift, 0) + one) * element_size <= kAddressSpace;
  }
  if (!fits) {
    return refuse(
        "%s spans %.3g bytes, which does not fit the address space (ld = %lld, "
        "stride = %lld, batch_count = %lld)",
        argument, static_cast<double>(elements) * static_cast<double>(element_size), number(ld),
        number(batch_stride), number(batch));
  }
  *footprint = {
      {reinterpret_cast<uintptr_t>(data), runs, run_length * element_size, ld * element_size},
      batch,
      batch > 1 ? batch_stride * element_size : 0};
  return true;
}

bool in_place_or_distinct(const char* in_name, const TypedMatrix& in, const BatchedFootprint& x,
                          const char* out_name, const TypedMatrix& out, const BatchedFootprint& y) {
  const bool in_place =
      in.data == out.data && in.ld == out.ld && element_bytes(in.type) == element_bytes(out.type);
  return in_place || !overlap(x, y) ||
         refuse(
             "%s overlaps %s (in place needs the same pointer, the same ld and types of one "
             "width)",
             out_name, in_name);
}

bool distinct_outputs(const char* argument, const BatchedFootprint& out, int64_t stride) {
  return !overlaps_itself(out) || refuse("stride of %s = %lld makes matrices of the batch overlap",
                                         argument, number(stride));
}

}  // namespace mygemm
