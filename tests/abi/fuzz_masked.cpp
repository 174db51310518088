// ABI tests: random argument lists for mygemm_softmax_ex, and these lists as text.
#include <limits>
#include <sstream>

#include "fuzz_calls.h"

namespace mygemm_tests {

MaskedCall CallGenerator::masked_softmax(bool backward) {
  MaskedCall call{};
  static_cast<SoftmaxCall&>(call) = softmax(backward);
  call.backward_flag = backward ? 1 : 0;
  call.causal = chance(50) ? 1 : 0;
  call.causal_offset = random_.integer(-3, 3);
  call.empty_rows = chance(50) ? 1 : 0;
  call.softcap = chance(40) ? 2.0f : 0.0f;
  call.group_rows = random_.integer(0, 3);
  call.batch_groups = random_.integer(0, 3);
  const bool sized = call.rows > 0 && call.rows < 7 && call.cols > 0 && call.cols < 7;
  if (!sized) return call;
  call.x_type = chance(50) ? call.out_type : static_cast<int>(MYGEMM_R_16F);
  call.x_ld = ld(call.cols);
  call.x = place(0, 0, call.x_ld * call.rows, call.x_type == MYGEMM_R_32F ? 4 : 2);
  if (chance(30)) {  // in place, or nearly so
    call.x = call.out;
    if (chance(80)) call.x_ld = call.out_ld;
  }
  // Strides that lead nowhere far, backwards too.
  if (chance(50)) {
    call.mask_type = chance(50) ? MYGEMM_R_32F : MYGEMM_R_16BF;
    int64_t below = 0, above = 1;
    for (int64_t& stride : call.mask_strides) {
      stride = random_.integer(-2, 6);
      (stride < 0 ? below : above) += stride < 0 ? -5 * stride : 5 * stride;
    }
    call.mask = place(1, below, above, call.mask_type == MYGEMM_R_32F ? 4 : 2);
  }
  if (chance(40)) {
    call.lengths_type = chance(50) ? MYGEMM_INDEX_32I : MYGEMM_INDEX_64I;
    int64_t above = 1;
    for (int64_t& stride : call.lengths_strides) above += 5 * (stride = random_.integer(0, 3));
    call.lengths = place(1, 0, above, call.lengths_type == MYGEMM_INDEX_32I ? 4 : 8);
  }
  if (!chance(25)) return call;
  switch (random_.integer(0, 14)) {
    case 0: break_enum(&call.causal); break;
    case 1: break_enum(&call.empty_rows); break;
    case 2: break_enum(&call.x_type); break;
    case 3: break_enum(&call.mask_type); break;
    case 4: break_enum(&call.lengths_type); break;
    case 5: break_integer(&call.group_rows); break;
    case 6: break_integer(&call.batch_groups); break;
    case 7: break_integer(&call.x_ld); break;
    case 8: break_integer(&call.mask_strides[random_.integer(0, 3)]); break;
    case 9: break_integer(&call.lengths_strides[random_.integer(0, 2)]); break;
    case 10: break_pointer(&call.x); break;
    case 11: break_pointer(&call.mask); break;
    case 12: break_pointer(&call.lengths); break;
    case 13: break_integer(&call.causal_offset); break;
    default: call.softcap = chance(50) ? -1.0f : std::numeric_limits<float>::infinity(); break;
  }
  return call;
}

std::string text(const MaskedCall& call) {
  std::ostringstream out;
  out << text(static_cast<const SoftmaxCall&>(call)) << " group_rows=" << call.group_rows
      << " batch_groups=" << call.batch_groups << " softcap=" << call.softcap << " x=" << call.x
      << " type=" << call.x_type << " ld=" << call.x_ld << " mask=" << call.mask
      << " type=" << call.mask_type << " strides=";
  for (const int64_t stride : call.mask_strides) out << stride << ",";
  out << " lengths=" << call.lengths << " type=" << call.lengths_type << " strides=";
  for (const int64_t stride : call.lengths_strides) out << stride << ",";
  out << " causal=" << call.causal << "," << call.causal_offset
      << " empty_rows=" << call.empty_rows;
  return out.str();
}

}  // namespace mygemm_tests
