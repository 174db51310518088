// Makes the tensor maps of operands: see operand_maps.cuh.
#include "kernels/gemm/operand_maps.cuh"

#include "kernels/tensor_map.h"

namespace mygemm {

Status make_operand_maps(OperandMaps* maps, const GemmOperand<const float>& x,
                         const BoxShape& shape, int64_t batch_count) {
  const int classes = shape.by_class ? kColumnClasses : 1;
  const bool batched = batch_count > 1 && x.stride > 0;
  const int64_t pitch = classes * x.ld * int64_t{sizeof(float)};
  *maps = {};
  maps->batch_step = batched ? 1 : 0;
  maps->shifted = !columns_aligned(x, batch_count);
  const int wider = shape.by_class && maps->shifted ? kMostShift : 0;
  for (int c = 0; c < classes; ++c) {
    const float* first = x.data + c * x.ld;
    const auto shift = static_cast<int>(reinterpret_cast<uintptr_t>(first) % 16 / sizeof(float));
    maps->shifts[c] = shift;
    RETURN_IF_ERROR(encode_tensor_map(
        &maps->maps[c], {.address = first - shift,
                         .element_bytes = sizeof(float),
                         .extents = {shape.rows + shift, ceil_div(shape.cols - c, classes),
                                     batched ? batch_count : 1},
                         .strides = {pitch, batched ? x.stride * int64_t{sizeof(float)} : pitch},
                         .box = {shape.box_rows + wider, shape.box_cols, 1},
                         .swizzled = false}));
  }
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
