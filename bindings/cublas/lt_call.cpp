// From cublasLtMatmul's descriptors to mygemm_gemm's. Attributes are read through cuBLASLt's own
// getters, those first that decide most calls which are not taken. Calls that cuBLASLt is known to
// refuse are left to it, so that its status is the call's.
#include "lt_call.h"

#include <cstdint>

#include "real_cublas.h"
#include "session.h"
#include "sixteen_bit.h"

namespace mygemm::cublas {
namespace {

// Attributes that early versions do not have keep `value`.
template <class Value>
void read(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value* value) {
  Value found{};
  size_t written = 0;
  if (forward(kLtMatmulDescGetAttribute, operation, attribute, static_cast<void*>(&found),
              sizeof found, &written) == CUBLAS_STATUS_SUCCESS) {
    *value = found;
  }
}

template <class Value>
bool read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, Value* value) {
  size_t written = 0;
  return forward(kLtMatrixLayoutGetAttribute, layout, attribute, static_cast<void*>(value),
                 sizeof *value, &written) == CUBLAS_STATUS_SUCCESS;
}

struct Layout {
  int32_t order = CUBLASLT_ORDER_COL, batch_count = 1;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0, stride = 0, plane = 0;
  uint32_t batch_mode = 0;  // of versions that have it; 0: strided

  bool by_rows() const { return order == CUBLASLT_ORDER_ROW; }
  bool is_plain() const {
    return (by_rows() || order == CUBLASLT_ORDER_COL) && plane == 0 && batch_mode == 0 &&
           rows <= INT32_MAX && columns <= INT32_MAX;
  }
  bool is_like(const Layout& other) const {
    return order == other.order && rows == other.rows && columns == other.columns;
  }
};

bool read_layout(cublasLtMatrixLayout_t from, Layout* layout) {
  constexpr auto kBatchMode = static_cast<cublasLtMatrixLayoutAttribute_t>(8);
  if (!from || !read(from, CUBLASLT_MATRIX_LAYOUT_ORDER, &layout->order) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_ROWS, &layout->rows) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_COLS, &layout->columns) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_LD, &layout->ld) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &layout->batch_count) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &layout->stride) ||
      !read(from, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &layout->plane)) {
    return false;
  }
  if (!read(from, kBatchMode, &layout->batch_mode)) layout->batch_mode = 0;
  return true;
}

bool read_type(cublasLtMatrixLayout_t layout, cudaDataType* type) {
  uint32_t found = 0;
  if (!layout || !read(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &found)) return false;
  *type = static_cast<cudaDataType>(found);
  return true;
}

// Whether any pointer or mode says that matrices are scaled, or results looked at.
bool is_scaled(cublasLtMatmulDesc_t operation) {
  constexpr int kPointers[] = {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
                               CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
                               36 /* CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER */,
                               38 /* CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR */};
  for (const int attribute : kPointers) {
    void* pointer = nullptr;
    read(operation, static_cast<cublasLtMatmulDescAttributes_t>(attribute), &pointer);
    if (pointer) return true;
  }
  return false;
}

// An epilogue of cuBLASLt in the terms of mygemm_gemm.
struct LtEpilogue {
  cublasLtEpilogue_t name;
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  bool bias = false, aux = false;
  mygemmSums_t sums = MYGEMM_SUMS_NONE;
};
constexpr LtEpilogue kEpilogues[] = {
    {CUBLASLT_EPILOGUE_DEFAULT},
    {CUBLASLT_EPILOGUE_BIAS, MYGEMM_ACTIVATION_NONE, true},
    {CUBLASLT_EPILOGUE_RELU, MYGEMM_ACTIVATION_RELU},
    {CUBLASLT_EPILOGUE_RELU_BIAS, MYGEMM_ACTIVATION_RELU, true},
    {CUBLASLT_EPILOGUE_RELU_AUX, MYGEMM_ACTIVATION_RELU, false, true},
    {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, MYGEMM_ACTIVATION_RELU, true, true},
    {CUBLASLT_EPILOGUE_GELU, MYGEMM_ACTIVATION_GELU},
    {CUBLASLT_EPILOGUE_GELU_BIAS, MYGEMM_ACTIVATION_GELU, true},
    {CUBLASLT_EPILOGUE_GELU_AUX, MYGEMM_ACTIVATION_GELU, false, true},
    {CUBLASLT_EPILOGUE_GELU_AUX_BIAS, MYGEMM_ACTIVATION_GELU, true, true},
    {CUBLASLT_EPILOGUE_DRELU, MYGEMM_ACTIVATION_RELU_GRADIENT, false, true},
    {CUBLASLT_EPILOGUE_DRELU_BGRAD, MYGEMM_ACTIVATION_RELU_GRADIENT, false, true, MYGEMM_SUMS_OF_D},
    {CUBLASLT_EPILOGUE_DGELU, MYGEMM_ACTIVATION_GELU_GRADIENT, false, true},
    {CUBLASLT_EPILOGUE_DGELU_BGRAD, MYGEMM_ACTIVATION_GELU_GRADIENT, false, true, MYGEMM_SUMS_OF_D},
    {CUBLASLT_EPILOGUE_BGRADA, MYGEMM_ACTIVATION_NONE, false, false, MYGEMM_SUMS_OF_A},
    {CUBLASLT_EPILOGUE_BGRADB, MYGEMM_ACTIVATION_NONE, false, false, MYGEMM_SUMS_OF_B},
};

const LtEpilogue* find_epilogue(cublasLtMatmulDesc_t operation) {
  uint32_t name = CUBLASLT_EPILOGUE_DEFAULT;
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &name);
  for (const LtEpilogue& epilogue : kEpilogues) {
    if (epilogue.name == name) return &epilogue;
  }
  return nullptr;
}

// The bias, or the sums in its place. The type of either is -1 where it is D's.
Outcome read_bias(cublasLtMatmulDesc_t operation, const LtEpilogue& epilogue,
                  mygemmGemm_t* product) {
  if (!epilogue.bias && epilogue.sums == MYGEMM_SUMS_NONE) return kTaken;
  int32_t type = -1;
  void* pointer = nullptr;
  int64_t stride = 0;
  read(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type);
  read(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer);
  read(operation, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &stride);
  if (type != -1 && type != product->dtype) return kOtherTypes;
  if (!pointer) return kLeftToCublas;
  if (epilogue.bias) {
    product->bias = pointer;
    product->stride_bias = stride;
  } else {
    product->sums = pointer;
    product->stride_sums = stride;
    product->sums_of = epilogue.sums;
  }
  return kTaken;
}

Outcome read_aux(cublasLtMatmulDesc_t operation, const LtEpilogue& epilogue,
                 mygemmGemm_t* product) {
  if (!epilogue.aux) return kTaken;
  int32_t type = -1;
  void *scale = nullptr, *largest = nullptr;
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, &type);
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, &scale);
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, &largest);
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &product->aux);
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &product->ldaux);
  read(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &product->stride_aux);
  const bool bits = epilogue.activation == MYGEMM_ACTIVATION_RELU ||
                    epilogue.activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  if (type != -1 && (bits || type != CUDA_R_32F)) return kOtherTypes;
  if (scale || largest) return kScaled;
  // cuBLASLt's rule, which is stricter than mygemm's.
  return product->aux && product->ldaux % (bits ? 128 : 8) == 0 ? kTaken : kLeftToCublas;
}

bool read_trans(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                bool* trans) {
  int32_t value = CUBLAS_OP_N;
  read(operation, attribute, &value);
  *trans = value != CUBLAS_OP_N;
  return value == CUBLAS_OP_N || value == CUBLAS_OP_T || value == CUBLAS_OP_C;
}

// One of A and B as a column-major matrix: a row-major one is its transpose's.
struct Input {
  const void* data;
  const Layout& layout;
  bool trans;

  int32_t op() const { return trans != layout.by_rows() ? MYGEMM_OP_T : MYGEMM_OP_N; }
  // Rows and columns of op(X).
  uint64_t rows() const { return trans ? layout.columns : layout.rows; }
  uint64_t columns() const { return trans ? layout.rows : layout.columns; }
};

// Where D is row-major, what is computed is D^T = op(B)^T op(A)^T.
void set_operands(Input a, Input b, const LtArguments& arguments, const Layout& c, const Layout& d,
                  mygemmGemm_t* product) {
  const auto signed_size = [](uint64_t size) { return static_cast<int64_t>(size); };
  const bool by_rows = d.by_rows();
  const auto set = [by_rows](const Input& x, int32_t* trans, const void** data, int64_t* ld,
                             int64_t* stride) {
    *trans = by_rows ? (x.op() == MYGEMM_OP_T ? MYGEMM_OP_N : MYGEMM_OP_T) : x.op();
    *data = x.data;
    *ld = x.layout.ld;
    *stride = x.layout.stride;
  };
  product->m = signed_size(by_rows ? d.columns : d.rows);
  product->n = signed_size(by_rows ? d.rows : d.columns);
  product->k = signed_size(a.columns());
  product->batch_count = d.batch_count;
  set(by_rows ? b : a, &product->transa, &product->A, &product->lda, &product->stride_a);
  set(by_rows ? a : b, &product->transb, &product->B, &product->ldb, &product->stride_b);
  product->C = arguments.c, product->ldc = c.ld, product->stride_c = c.stride;
  product->D = arguments.d, product->ldd = d.ld, product->stride_d = d.stride;
}

ProductSizes sizes_of(const mygemmGemm_t& product) {
  return {product.m, product.n, product.k, product.batch_count};
}

ProductForm form_of(const mygemmGemm_t& product, bool plain, size_t workspace_bytes) {
  const auto aligned = [&](int32_t type, const void* matrix, int64_t ld, int64_t stride) {
    return is_aligned(static_cast<cudaDataType>(type), matrix, ld, stride, product.batch_count);
  };
  return {.strided = true,
          .aligned = aligned(product.atype, product.A, product.lda, product.stride_a) &&
                     aligned(product.btype, product.B, product.ldb, product.stride_b) &&
                     aligned(product.dtype, product.D, product.ldd, product.stride_d),
          .plain = plain,
          .workspace_bytes = workspace_bytes};
}

// Sizes of the product, whatever its types; false where the layouts cannot be read.
bool read_sizes(const LtArguments& arguments, ProductSizes* sizes) {
  bool transa;
  uint64_t m = 0, n = 0, k = 0;
  int32_t batch_count = 1;
  if (!arguments.a_layout || !arguments.d_layout ||
      !read_trans(arguments.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transa) ||
      !read(arguments.d_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &m) ||
      !read(arguments.d_layout, CUBLASLT_MATRIX_LAYOUT_COLS, &n) ||
      !read(arguments.a_layout, transa ? CUBLASLT_MATRIX_LAYOUT_ROWS : CUBLASLT_MATRIX_LAYOUT_COLS,
            &k) ||
      !read(arguments.d_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch_count)) {
    return false;
  }
  *sizes = {static_cast<int64_t>(m), static_cast<int64_t>(n), static_cast<int64_t>(k), batch_count};
  return true;
}

// Whether the call's types and arithmetic are those of calls that are taken. Most calls that are
// not taken are told by this.
Outcome read_types(const LtArguments& arguments, LtCall* call) {
  int32_t compute = -1, scale = -1;
  read(arguments.operation, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute);
  call->pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  const Outcome arithmetic = judge_arithmetic(static_cast<cublasComputeType_t>(compute));
  if (arithmetic != kTaken) return arithmetic;
  cudaDataType a, b, c, d;
  if (!read_type(arguments.a_layout, &a) || !read_type(arguments.b_layout, &b) ||
      !read_type(arguments.c_layout, &c) || !read_type(arguments.d_layout, &d) || c != d) {
    return kOtherTypes;
  }
  const Outcome types = judge_types(a, b, d);
  if (types != kTaken) return types;
  read(arguments.operation, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &scale);
  if (scale != CUDA_R_32F) return kOtherTypes;
  call->of_16bit = is_16bit(a);
  call->product = MYGEMM_GEMM_INIT;
  call->product.atype = call->product.btype = static_cast<int32_t>(a);
  call->product.ctype = call->product.dtype = static_cast<int32_t>(d);
  if (!call->of_16bit) {
    const bool emulated = compute == CUBLAS_COMPUTE_32F && emulation_is_wanted();
    return emulated ? kReducedPrecision : kTaken;
  }
  ProductSizes sizes;
  return read_sizes(arguments, &sizes) ? judge_16bit(sizes) : kLeftToCublas;
}

}  // namespace

Outcome read_call(const LtArguments& arguments, LtCall* call) {
  const cublasLtMatmulDesc_t operation = arguments.operation;
  if (!operation || !arguments.alpha || !arguments.beta || !arguments.a || !arguments.b ||
      !arguments.d) {
    return kLeftToCublas;
  }
  if (const Outcome outcome = read_types(arguments, call); outcome != kTaken) return outcome;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST, sm_count = 0, fill = CUBLAS_FILL_MODE_FULL;
  read(operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, &pointer_mode);
  read(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &sm_count);
  read(operation, CUBLASLT_MATMUL_DESC_FILL_MODE, &fill);
  if (sm_count != 0) return kFewerSms;
  if ((pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
       pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) ||
      is_scaled(operation)) {
    return kScaled;
  }
  call->scalars_on_device = pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  Layout a, b, c, d;
  if (!read_layout(arguments.a_layout, &a) || !read_layout(arguments.b_layout, &b) ||
      !read_layout(arguments.c_layout, &c) || !read_layout(arguments.d_layout, &d)) {
    return kLeftToCublas;
  }
  if (!a.is_plain() || !b.is_plain() || !c.is_plain() || !d.is_plain()) return kScaled;
  bool transa, transb, transc;
  const LtEpilogue* epilogue = find_epilogue(operation);
  if (!read_trans(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transa) ||
      !read_trans(operation, CUBLASLT_MATMUL_DESC_TRANSB, &transb) ||
      !read_trans(operation, CUBLASLT_MATMUL_DESC_TRANSC, &transc) || transc || !epilogue ||
      fill != CUBLAS_FILL_MODE_FULL || !c.is_like(d)) {
    return kLeftToCublas;
  }
  const Input of_a{arguments.a, a, transa}, of_b{arguments.b, b, transb};
  const int32_t batch = d.batch_count;
  if (of_a.rows() != d.rows || of_b.columns() != d.columns || of_a.columns() != of_b.rows() ||
      d.rows == 0 || d.columns == 0 || batch <= 0 || a.batch_count != batch ||
      b.batch_count != batch || c.batch_count != batch) {
    return kLeftToCublas;
  }
  // Such elements and sums are of D's type in cuBLASLt and FP32 in mygemm, and where D is FP32,
  // they have not been compared.
  const bool bits_only = epilogue->activation == MYGEMM_ACTIVATION_RELU ||
                         epilogue->activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  if (call->of_16bit && ((epilogue->aux && !bits_only) || epilogue->sums != MYGEMM_SUMS_NONE)) {
    return kKeeps16Bit;
  }
  // Vectors belong to rows of a column-major D, and sums to operands that are added up as they lie.
  const bool any_row = d.by_rows() || a.by_rows() || b.by_rows();
  if ((d.by_rows() && (epilogue->bias || epilogue->aux)) ||
      (epilogue->sums != MYGEMM_SUMS_NONE && any_row) ||
      (epilogue->sums == MYGEMM_SUMS_OF_A && transa) ||
      (epilogue->sums == MYGEMM_SUMS_OF_B && !transb)) {
    return kLeftToCublas;
  }
  call->product.alpha = arguments.alpha;
  call->product.beta = arguments.beta;
  call->product.activation = epilogue->activation;
  set_operands(of_a, of_b, arguments, c, d, &call->product);
  const bool c_unused = !call->scalars_on_device && *static_cast<const float*>(arguments.beta) == 0;
  if (!arguments.c && !c_unused) return kLeftToCublas;
  if (c_unused) call->product.C = nullptr;  // a C of the same bits costs an epilogue
  if (call->of_16bit) {
    const bool plain = c_unused && epilogue->name == CUBLASLT_EPILOGUE_DEFAULT;
    const Outcome outcome = judge_16bit(sizes_of(call->product),
                                        form_of(call->product, plain, arguments.workspace_bytes));
    if (outcome != kTaken) return outcome;
  }
  if (const Outcome outcome = read_bias(operation, *epilogue, &call->product); outcome != kTaken) {
    return outcome;
  }
  return read_aux(operation, *epilogue, &call->product);
}

double flop_of(const LtArguments& arguments) {
  ProductSizes sizes;
  return read_sizes(arguments, &sizes) ? flop_of(sizes) : 0;
}

}  // namespace mygemm::cublas
