// The calls of cublasLtMatmul of the program cublas_answers: every epilogue, order and op, and what
// cuBLASLt refuses. Matrices hold small integers, so that results are exact; where they are not,
// D is left out of the digest.
#include <cublasLt.h>
#include <dlfcn.h>

#include <functional>

#include "answers.h"

namespace {

// Floats of C's memory: D from 0 on, then the others, each with room for a batch.
constexpr int kC = 8192, kVector = 16384, kAux = 24576;

void* library = nullptr;
cublasLtHandle_t handle = nullptr;

template <class Function>
Function find(const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  require(function, name);
  return function;
}

struct Case {
  std::string about;
  int epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int transa = 0, transb = 0;
  int a_order = CUBLASLT_ORDER_COL, b_order = CUBLASLT_ORDER_COL;
  int c_order = CUBLASLT_ORDER_COL, d_order = CUBLASLT_ORDER_COL;
  int m = 33, n = 20, k = 45, k_of_b = 45;
  int lda = 48, ldb = 50, ldc = 35, ldd = 35;
  int batches = 1, batches_of_c = 0;  // 0: as many
  int compute = CUBLAS_COMPUTE_32F;
  int type = CUDA_R_32F, d_type = CUDA_R_32F;  // of A and B; of C and D
  int pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int ldaux = 0;  // 0: a legal one
  float beta = 3;
  bool no_vector = false, no_aux = false, no_c = false, in_place = false, handle = true;
};

bool has_bits(const Case& c) { return (c.epilogue & (2 | 8)) != 0; }
// Results of 16 bits: cuBLASLt rounds them before it adds the bias or multiplies by DRELU's bits,
// and then once more; mygemm rounds once.
bool is_exact(const Case& c) {
  const bool rounds_twice = c.d_type != CUDA_R_32F && (c.epilogue & (4 | 8)) != 0;
  return (c.epilogue & (32 | 64)) == 0 && !rounds_twice;
}

struct Layout {
  cublasLtMatrixLayout_t layout = nullptr;

  Layout(int type, int rows, int columns, int order, int ld, int64_t stride, int batches) {
    find<decltype(&cublasLtMatrixLayoutCreate)>("cublasLtMatrixLayoutCreate")(
        &layout, static_cast<cudaDataType>(type), static_cast<uint64_t>(rows),
        static_cast<uint64_t>(columns), ld);
    const auto set =
        find<decltype(&cublasLtMatrixLayoutSetAttribute)>("cublasLtMatrixLayoutSetAttribute");
    set(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches);
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  }
  ~Layout() { find<decltype(&cublasLtMatrixLayoutDestroy)>("cublasLtMatrixLayoutDestroy")(layout); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
};

void ask(const Case& c) {
  reset(false);
  const auto set_attribute =
      find<decltype(&cublasLtMatmulDescSetAttribute)>("cublasLtMatmulDescSetAttribute");
  cublasLtMatmulDesc_t operation = nullptr;
  find<decltype(&cublasLtMatmulDescCreate)>("cublasLtMatmulDescCreate")(
      &operation, static_cast<cublasComputeType_t>(c.compute), CUDA_R_32F);
  const auto set = [&](cublasLtMatmulDescAttributes_t name, auto value) {
    set_attribute(operation, name, &value, sizeof value);
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, c.transa);
  set(CUBLASLT_MATMUL_DESC_TRANSB, c.transb);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, c.epilogue);
  set(CUBLASLT_MATMUL_DESC_POINTER_MODE, c.pointer_mode);
  if ((c.epilogue & (4 | 16 | 256 | 512)) != 0) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, c.no_vector ? nullptr : c_memory + kVector);
    set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, int64_t{c.batches > 1 ? 64 : 0});
  }
  if ((c.epilogue & 128) != 0) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, c.no_aux ? nullptr : c_memory + kAux);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{c.ldaux ? c.ldaux : has_bits(c) ? 128 : 40});
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, int64_t{c.batches > 1 ? 4096 : 0});
  }
  const int batches_of_c = c.batches_of_c ? c.batches_of_c : c.batches;
  const Layout a(c.type, c.transa ? c.k : c.m, c.transa ? c.m : c.k, c.a_order, c.lda, 2400,
                 c.batches);
  const Layout b(c.type, c.transb ? c.n : c.k_of_b, c.transb ? c.k_of_b : c.n, c.b_order, c.ldb,
                 2500, c.batches);
  const Layout old_c(c.d_type, c.m, c.n, c.c_order, c.ldc, 700, batches_of_c);
  const Layout d(c.d_type, c.m, c.n, c.d_order, c.ldd, 700, c.batches);
  const float alpha = 2;
  const bool on_host = c.pointer_mode == CUBLASLT_POINTER_MODE_HOST;
  const void* scalars[] = {on_host ? &alpha : a_memory + 1, on_host ? &c.beta : a_memory + 2};
  void* workspace = pointers + 1024;
  const int status = find<decltype(&cublasLtMatmul)>("cublasLtMatmul")(
      c.handle ? handle : nullptr, operation, scalars[0], a_memory, a.layout, b_memory, b.layout,
      scalars[1],
      c.no_c       ? nullptr
      : c.in_place ? c_memory
                   : c_memory + kC,
      old_c.layout, c_memory, d.layout, nullptr, workspace, size_t{1} << 20, nullptr);
  const int first = is_exact(c) ? 0 : kC;
  report("cublasLtMatmul", c.about, status,
         digest_of_c(first, is_exact(c) ? kElements : kVector) ^ digest_of_c(kAux, kElements));
  find<decltype(&cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy")(operation);
}

struct Epilogue {
  const char* name;
  int number;
};
constexpr Epilogue kEpilogues[] = {{"DEFAULT", 1},    {"RELU", 2},
                                   {"BIAS", 4},       {"RELU_BIAS", 6},
                                   {"GELU", 32},      {"GELU_BIAS", 36},
                                   {"RELU_AUX", 130}, {"RELU_AUX_BIAS", 134},
                                   {"GELU_AUX", 160}, {"GELU_AUX_BIAS", 164},
                                   {"DRELU", 136},    {"DRELU_BGRAD", 152},
                                   {"DGELU", 192},    {"DGELU_BGRAD", 208},
                                   {"BGRADA", 256},   {"BGRADB", 512},
                                   {"3", 3},          {"14", 14},
                                   {"24", 24},        {"64", 64},
                                   {"260", 260}};

struct Types {
  const char* name;
  int a_and_b, c_and_d;
};
constexpr Types kTypes[] = {{"", CUDA_R_32F, CUDA_R_32F},
                            {"FP16 ", CUDA_R_16F, CUDA_R_16F},
                            {"FP16 to FP32 ", CUDA_R_16F, CUDA_R_32F},
                            {"BF16 ", CUDA_R_16BF, CUDA_R_16BF},
                            {"BF16 to FP32 ", CUDA_R_16BF, CUDA_R_32F},
                            {"BF16 to FP16 ", CUDA_R_16BF, CUDA_R_16F}};

void ask_epilogue(const Epilogue& epilogue, const Types& types) {
  Case usual;
  usual.epilogue = epilogue.number;
  usual.type = types.a_and_b, usual.d_type = types.c_and_d;
  const auto with = [&](const std::string& about, const std::function<void(Case&)>& change) {
    Case c = usual;
    c.about = std::string(types.name) + epilogue.name + ", " + about;
    change(c);
    ask(c);
  };
  for (int ops = 0; ops < 4; ++ops) {
    const auto set_ops = [ops](Case& c) { c.transa = ops % 2, c.transb = ops / 2; };
    const std::string name = std::string() + "NT"[ops % 2] + "NT"[ops / 2];
    with(name, set_ops);
    with(name + ", two", [&](Case& c) { set_ops(c), c.batches = 2; });
    with(name + ", pedantic",
         [&](Case& c) { set_ops(c), c.compute = CUBLAS_COMPUTE_32F_PEDANTIC; });
    // One is enough for other types than FP32: which matrices are of rows is no matter of types.
    for (int rows = types.a_and_b == CUDA_R_32F ? 1 : 7; rows < 8; ++rows) {
      const std::string orders =
          std::string() + "CR"[rows % 2] + "CR"[rows / 2 % 2] + "CR"[rows / 4];
      with(name + ", orders " + orders, [&](Case& c) {
        set_ops(c);
        c.a_order = rows % 2, c.b_order = rows / 2 % 2, c.c_order = c.d_order = rows / 4;
      });
    }
  }
  with("in place", [](Case& c) { c.in_place = true; });
  with("beta 0", [](Case& c) { c.beta = 0; });
  with("m 0", [](Case& c) { c.m = 0; });
  with("n 0", [](Case& c) { c.n = 0; });
  with("k 0", [](Case& c) { c.k = c.k_of_b = 0; });
  with("no vector", [](Case& c) { c.no_vector = true; });
  with("no aux", [](Case& c) { c.no_aux = true; });
  with("ldaux 96", [](Case& c) { c.ldaux = 96; });
  with("ldaux 36", [](Case& c) { c.ldaux = 36; });
  with("ldaux 32", [](Case& c) { c.ldaux = 32; });
  with("lda 32", [](Case& c) { c.lda = 32; });
  with("ldb 44", [](Case& c) { c.ldb = 44; });
  with("ldc 32", [](Case& c) { c.ldc = 32; });
  with("ldd 32", [](Case& c) { c.ldd = 32; });
  with("k of B 44", [](Case& c) { c.k_of_b = 44; });
  with("C of rows", [](Case& c) { c.c_order = CUBLASLT_ORDER_ROW; });
  with("two, one C", [](Case& c) { c.batches = 2, c.batches_of_c = 1; });
  with("TF32", [](Case& c) { c.compute = CUBLAS_COMPUTE_32F_FAST_TF32; });
  with("64F", [](Case& c) { c.compute = CUBLAS_COMPUTE_64F; });
  for (const int mode : {CUBLASLT_POINTER_MODE_DEVICE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR,
                         CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO}) {
    with("pointer mode " + std::to_string(mode), [mode](Case& c) { c.pointer_mode = mode; });
  }
  with("handle NULL", [](Case& c) { c.handle = false; });
}

}  // namespace

void ask_lt() {
  library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
  require(library, "dlopen of libcublasLt.so.13");
  require(find<decltype(&cublasLtCreate)>("cublasLtCreate")(&handle) == CUBLAS_STATUS_SUCCESS,
          "cublasLtCreate");
  for (const Types& types : kTypes) {
    for (const Epilogue& epilogue : kEpilogues) ask_epilogue(epilogue, types);
  }
  find<decltype(&cublasLtDestroy)>("cublasLtDestroy")(handle);
}
