// See cublas_product.h.
#include "cublas_product.h"

namespace mygemm_tests {
namespace {

// Element (i, j) of matrix `batch` of C after the call.
float expected(int batch, int i, int j) {
  float sum = 0;
  for (int p = 0; p < kK; ++p) {
    sum += element(batch * kStrideA + p * kLda + i) * element(batch * kStrideB + p * kLdb + j);
  }
  return 2 * sum + 3 * element(batch * kStrideC + j * kLdc + i);
}

const void* untyped(const float* scalar) { return scalar; }

// A function object for a name that cublas_api.h overloads.
constexpr auto gemm_ex = [](auto... x) { return cublasGemmEx(x...); };
constexpr auto gemm_batched_ex = [](auto... x) { return cublasGemmBatchedEx(x...); };
constexpr auto gemm_strided_ex = [](auto... x) { return cublasGemmStridedBatchedEx(x...); };

// The calls with sizes of type Int.
template <class Int, class One, class Pointers, class Strided>
std::vector<Way> plain_ways(const char* const (&names)[3], One one, Pointers pointers,
                            Strided strided) {
  return {
      {names[0], 1, false,
       [=](Product& p, const char* name) {
         return p.call(name, one, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       p.alpha, p.a.as<const float>(), Int{p.lda}, p.b.as<const float>(), Int{kLdb},
                       p.beta, p.c.as<float>(), Int{kLdc});
       }},
      {names[1], kBatch, false,
       [=](Product& p, const char* name) {
         return p.call(name, pointers, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       p.alpha, p.array_a.as<const float* const>(), Int{p.lda},
                       p.array_b.as<const float* const>(), Int{kLdb}, p.beta,
                       p.array_c.as<float* const>(), Int{kLdc}, Int{kBatch});
       }},
      {names[2], kBatch, false,
       [=](Product& p, const char* name) {
         return p.call(name, strided, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       p.alpha, p.a.as<const float>(), Int{p.lda}, kStrideA, p.b.as<const float>(),
                       Int{kLdb}, kStrideB, p.beta, p.c.as<float>(), Int{kLdc}, kStrideC,
                       Int{kBatch});
       }},
  };
}

template <class Int, class One, class Pointers, class Strided>
std::vector<Way> typed_ways(const char* const (&names)[3], One one, Pointers pointers,
                            Strided strided) {
  return {
      {names[0], 1, true,
       [=](Product& p, const char* name) {
         return p.call(name, one, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       untyped(p.alpha), p.a.as<const void>(), p.type, Int{p.lda},
                       p.b.as<const void>(), p.type, Int{kLdb}, untyped(p.beta), p.c.as<void>(),
                       p.c_type, Int{kLdc}, p.compute, p.algorithm);
       }},
      {names[1], kBatch, true,
       [=](Product& p, const char* name) {
         return p.call(name, pointers, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       untyped(p.alpha), p.array_a.as<const void* const>(), p.type, Int{p.lda},
                       p.array_b.as<const void* const>(), p.type, Int{kLdb}, untyped(p.beta),
                       p.array_c.as<void* const>(), p.c_type, Int{kLdc}, Int{kBatch}, p.compute,
                       p.algorithm);
       }},
      {names[2], kBatch, true,
       [=](Product& p, const char* name) {
         return p.call(name, strided, p.handle, CUBLAS_OP_N, p.transb, Int{p.m}, Int{kN}, Int{kK},
                       untyped(p.alpha), p.a.as<const void>(), p.type, Int{p.lda}, kStrideA,
                       p.b.as<const void>(), p.type, Int{kLdb}, kStrideB, untyped(p.beta),
                       p.c.as<void>(), p.c_type, Int{kLdc}, kStrideC, Int{kBatch}, p.compute,
                       p.algorithm);
       }},
  };
}

}  // namespace

DeviceBuffer upload_elements(int count, cudaDataType type) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(element(i));
  return upload_as(type, values);
}

DeviceBuffer addresses(const DeviceBuffer& matrices, size_t stride) {
  const char* both[] = {matrices.as<char>(), matrices.as<char>() + stride};
  return {both, sizeof both, 0};
}

::testing::AssertionResult is_right(const Product& product, int batches) {
  const std::vector<float> c = download_as(product.c_type, product.c);
  for (int index = 0; index < kBatch * kStrideC; ++index) {
    const int batch = index / kStrideC, i = index % kStrideC % kLdc, j = index % kStrideC / kLdc;
    const float right = batch < batches && i < kM ? expected(batch, i, j) : element(index);
    if (c[static_cast<size_t>(index)] != right) {
      return ::testing::AssertionFailure()
             << "C(" << i << ", " << j << ") of matrix " << batch << " is "
             << c[static_cast<size_t>(index)] << ", not " << right;
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const auto& some :
       {plain_ways<int>({"cublasSgemm_v2", "cublasSgemmBatched", "cublasSgemmStridedBatched"},
                        cublasSgemm_v2, cublasSgemmBatched, cublasSgemmStridedBatched),
        plain_ways<int64_t>(
            {"cublasSgemm_v2_64", "cublasSgemmBatched_64", "cublasSgemmStridedBatched_64"},
            cublasSgemm_v2_64, cublasSgemmBatched_64, cublasSgemmStridedBatched_64),
        typed_ways<int>({"cublasGemmEx", "cublasGemmBatchedEx", "cublasGemmStridedBatchedEx"},
                        gemm_ex, gemm_batched_ex, gemm_strided_ex),
        typed_ways<int64_t>(
            {"cublasGemmEx_64", "cublasGemmBatchedEx_64", "cublasGemmStridedBatchedEx_64"},
            cublasGemmEx_64, cublasGemmBatchedEx_64, cublasGemmStridedBatchedEx_64)}) {
    ways.insert(ways.end(), some.begin(), some.end());
  }
  return ways;
}

}  // namespace mygemm_tests
