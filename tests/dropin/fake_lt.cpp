// A stand-in for cuBLASLt that computes nothing: descriptors and layouts keep their attributes as
// cuBLASLt's do, and calls of cublasLtMatmul are recorded as those of products are.
#include <cublasLt.h>

#include <cstring>
#include <map>
#include <vector>

#include "fake_cublas.h"

namespace {

using Bytes = std::vector<unsigned char>;

struct Attribute {
  int name;
  size_t bytes;
  int64_t value;  // the default
};

class Attributes {
 public:
  template <size_t kCount>
  explicit Attributes(const Attribute (&known)[kCount]) {
    for (const Attribute& attribute : known) {
      Bytes& value = values_[attribute.name];
      value.resize(attribute.bytes);
      std::memcpy(value.data(), &attribute.value, attribute.bytes);
    }
  }
  cublasStatus_t set(int name, const void* from, size_t bytes) {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.size() != bytes) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(found->second.data(), from, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  cublasStatus_t get(int name, void* to, size_t bytes, size_t* written) const {
    const auto found = values_.find(name);
    if (found == values_.end() || found->second.size() != bytes) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, found->second.data(), bytes);
    if (written) *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
  }

 private:
  std::map<int, Bytes> values_;
};

// Numbers and sizes of cublasLt.h; attributes that only new versions have are left out.
constexpr Attribute kOfOperations[] = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4, 0},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4, 0},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, 4, CUBLASLT_POINTER_MODE_HOST},
    {CUBLASLT_MATMUL_DESC_TRANSA, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_TRANSB, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_TRANSC, 4, CUBLAS_OP_N},
    {CUBLASLT_MATMUL_DESC_FILL_MODE, 4, CUBLAS_FILL_MODE_FULL},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, 4, CUBLASLT_EPILOGUE_DEFAULT},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8, 0},
    {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 4, 0},
    {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 4, -1},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, 8, 0},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 4, -1}};
constexpr Attribute kOfLayouts[] = {{CUBLASLT_MATRIX_LAYOUT_TYPE, 4, 0},
                                    {CUBLASLT_MATRIX_LAYOUT_ORDER, 4, CUBLASLT_ORDER_COL},
                                    {CUBLASLT_MATRIX_LAYOUT_ROWS, 8, 0},
                                    {CUBLASLT_MATRIX_LAYOUT_COLS, 8, 0},
                                    {CUBLASLT_MATRIX_LAYOUT_LD, 8, 0},
                                    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4, 1},
                                    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8, 0},
                                    {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8, 0}};

// Descriptors are opaque: these are ours.
template <class Handle>
Attributes& of(Handle handle) {
  return *reinterpret_cast<Attributes*>(handle);
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? FAKE_MAJOR : 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  auto* made = new Attributes(kOfOperations);
  made->set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute, sizeof compute);
  made->set(CUBLASLT_MATMUL_DESC_SCALE_TYPE, &scale, sizeof scale);
  *operation = reinterpret_cast<cublasLtMatmulDesc_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete &of(operation);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t name, const void* from,
                                              size_t bytes) {
  return of(operation).set(name, from, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t name, void* to,
                                              size_t bytes, size_t* written) {
  return of(operation).get(name, to, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  auto* made = new Attributes(kOfLayouts);
  made->set(CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type);
  made->set(CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows);
  made->set(CUBLASLT_MATRIX_LAYOUT_COLS, &columns, sizeof columns);
  made->set(CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void* from, size_t bytes) {
  return of(layout).set(name, from, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t name, void* to,
                                                size_t bytes, size_t* written) {
  return of(layout).get(name, to, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t a_layout,
                              const void* B, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c_layout, void* D,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  return fake_cublas_record(fake_cublas::said("cublasLtMatmul", handle, operation, alpha, A,
                                              a_layout, B, b_layout, beta, C, c_layout, D, d_layout,
                                              algorithm, workspace, workspace_bytes, stream)
                                .c_str());
}

}  // extern "C"
