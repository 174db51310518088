// ABI tests: the argument lists of fuzz_calls.h as text, for failures.
#include <sstream>

#include "fuzz_calls.h"

namespace mygemm_tests {

std::string text(const GemmCall& call) {
  std::ostringstream out;
  out << "transa=" << call.transa << " transb=" << call.transb << " m=" << call.m << " n=" << call.n
      << " k=" << call.k << " alpha=" << static_cast<const void*>(call.alpha)
      << " A=" << static_cast<const void*>(call.a) << " lda=" << call.lda
      << " stride_a=" << call.stride_a << " B=" << static_cast<const void*>(call.b)
      << " ldb=" << call.ldb << " stride_b=" << call.stride_b
      << " beta=" << static_cast<const void*>(call.beta)
      << " C=" << static_cast<const void*>(call.c) << " ldc=" << call.ldc
      << " stride_c=" << call.stride_c << " batch_count=" << call.batch;
  if (call.general) {
    out << " (general: the output is D) C=" << static_cast<const void*>(call.old_c)
        << " ldc=" << call.ld_old_c << " stride_c=" << call.stride_old_c
        << " bias=" << static_cast<const void*>(call.bias) << " stride_bias=" << call.stride_bias
        << " types=" << call.types[0] << "," << call.types[1] << "," << call.types[2] << ","
        << call.types[3] << " math=" << call.math << " activation=" << call.activation
        << " aux=" << call.aux << " ldaux=" << call.ldaux << " stride_aux=" << call.stride_aux
        << " sums=" << static_cast<const void*>(call.sums) << " stride_sums=" << call.stride_sums
        << " sums_of=" << call.sums_of << " fill=" << call.fill
        << " invariance=" << call.invariance;
  }
  return out.str();
}

std::string text(const SoftmaxCall& call) {
  std::ostringstream out;
  out << (call.backward ? "backward" : "forward") << " mode=" << call.mode << " rows=" << call.rows
      << " cols=" << call.cols << " scale=" << call.scale << " in=" << call.in
      << " type=" << call.in_type << " ld=" << call.in_ld << " dy=" << call.dy
      << " type=" << call.dy_type << " ld=" << call.dy_ld << " out=" << call.out
      << " type=" << call.out_type << " ld=" << call.out_ld;
  return out.str();
}

std::string text(const LossCall& call) {
  std::ostringstream out;
  out << "rows=" << call.rows << " cols=" << call.cols << " x=" << call.x << " xtype=" << call.xtype
      << " ldx=" << call.ldx << " targets=" << call.targets << " target_type=" << call.target_type
      << " dx=" << call.dx << " dxtype=" << call.dxtype << " lddx=" << call.lddx
      << " dloss=" << static_cast<const void*>(call.dloss) << " stride_dloss=" << call.stride_dloss
      << " loss=" << static_cast<const void*>(call.loss)
      << " lse=" << static_cast<const void*>(call.lse) << " label_smoothing=" << call.smoothing
      << " z_loss=" << call.z_loss << " gradient_scale=" << call.scale;
  return out.str();
}

std::string text(const TransposeCall& call) {
  std::ostringstream out;
  out << "element_size=" << call.element_size << " rows=" << call.rows << " cols=" << call.cols
      << " in=" << call.in << " ldin=" << call.ldin << " stride_in=" << call.stride_in
      << " out=" << call.out << " ldout=" << call.ldout << " stride_out=" << call.stride_out
      << " batch_count=" << call.batch;
  return out.str();
}

}  // namespace mygemm_tests
