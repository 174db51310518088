// cublasLtMatmul of the drop-in: calls that it takes are computed right, others are forwarded with
// the same arguments. Runs with the emulated kernels and on a GPU, before a cuBLASLt that only
// records calls.
#include <functional>
#include <thread>

#include "lt_product.h"

namespace {

using namespace mygemm_tests;

constexpr cublasLtEpilogue_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,       CUBLASLT_EPILOGUE_RELU,          CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_GELU,          CUBLASLT_EPILOGUE_RELU_BIAS,     CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_RELU_AUX,      CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU,         CUBLASLT_EPILOGUE_DRELU_BGRAD,
    CUBLASLT_EPILOGUE_DGELU,         CUBLASLT_EPILOGUE_DGELU_BGRAD};

TEST_F(LtDropIn, TakesEveryEpilogue) {
  for (const cublasLtEpilogue_t epilogue : kEpilogues) {
    for (const bool transa : {false, true}) {
      expect_taken({.transa = transa, .transb = !transa, .epilogue = epilogue});
    }
    expect_taken({.m = 40, .n = 20, .k = 70, .epilogue = epilogue});
  }
}

TEST_F(LtDropIn, TakesSumsOfOperandsAsCublasLtDoes) {
  for (const bool other : {false, true}) {
    expect_taken({.transb = other, .epilogue = CUBLASLT_EPILOGUE_BGRADA});
    expect_taken({.transa = other, .transb = true, .epilogue = CUBLASLT_EPILOGUE_BGRADB});
    expect_forwarded({.transa = true, .transb = other, .epilogue = CUBLASLT_EPILOGUE_BGRADA});
    expect_forwarded({.transa = other, .epilogue = CUBLASLT_EPILOGUE_BGRADB});
  }
}

TEST_F(LtDropIn, TakesBatchesWithVectorsOfTheirOwn) {
  for (const cublasLtEpilogue_t epilogue : kEpilogues) {
    expect_taken({.batches = 2, .epilogue = epilogue});
  }
}

TEST_F(LtDropIn, TakesEitherOrder) {
  constexpr int kRow = CUBLASLT_ORDER_ROW, kColumn = CUBLASLT_ORDER_COL;
  for (const int a_order : {kColumn, kRow}) {
    for (const int b_order : {kColumn, kRow}) {
      for (const bool transa : {false, true}) {
        LtShape shape{.transa = transa, .a_order = a_order, .b_order = b_order};
        expect_taken(shape);
        shape.epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
        expect_taken(shape);
        shape.d_order = kRow;
        expect_forwarded(shape);
        for (const auto epilogue :
             {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU}) {
          shape.epilogue = epilogue;
          shape.batches = 2;
          expect_taken(shape);
        }
      }
    }
  }
}

TEST_F(LtDropIn, ForwardsVectorsOfARowMajorD) {
  for (const cublasLtEpilogue_t epilogue : kEpilogues) {
    const bool has_vector = (epilogue & ~(CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU |
                                          CUBLASLT_EPILOGUE_GELU)) != 0;
    if (has_vector) expect_forwarded({.d_order = CUBLASLT_ORDER_ROW, .epilogue = epilogue});
  }
}

TEST_F(LtDropIn, TakesProductsOfNothing) {
  expect_taken({.k = 0});
  expect_taken({.k = 0, .epilogue = CUBLASLT_EPILOGUE_RELU_BIAS});
}

TEST_F(LtDropIn, TakesOneMatrixForABatch) {
  expect_taken({.batches = 2}, [](LtProduct& p) {
    p.a.stride = 0;
    p.a.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t{0});
  });
}

TEST_F(LtDropIn, FollowsThePointerMode) {
  const float scalars[] = {2, 3};
  const DeviceBuffer on_device(scalars, sizeof scalars, 0);
  expect_taken({.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS}, [&](LtProduct& p) {
    p.alpha = on_device.as<const float>();
    p.beta = on_device.as<const float>() + 1;
    p.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
  });
  // Whether C is read is not known before the product runs.
  expect_forwarded({}, [&](LtProduct& p) {
    p.alpha = p.beta = on_device.as<const float>();
    p.c_data = nullptr;
    p.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
  });
}

TEST_F(LtDropIn, TakesCInTheOutputsPlaceAndNoneWhereItIsNotRead) {
  expect_taken({}, [](LtProduct& p) {
    p.c_data = p.d_data;
    p.c.values = p.d.values;
  });
  expect_taken({}, [](LtProduct& p) {
    p.host_beta = 0;
    p.c_data = nullptr;
  });
  expect_forwarded({}, [](LtProduct& p) { p.c_data = nullptr; });
}

TEST_F(LtDropIn, TakesPedanticArithmetic) {
  expect_taken({.compute = CUBLAS_COMPUTE_32F_PEDANTIC, .epilogue = CUBLASLT_EPILOGUE_BIAS});
}

// A forced kernel that needs a workspace shows which workspace the call had: without enough of it
// the call is forwarded.
TEST_F(LtDropIn, WorksInTheWorkspaceOfTheCall) {
  const DeviceBuffer workspace(1 << 20, 0, 256);
  const auto with = [&](size_t offset, size_t bytes) {
    return [&workspace, offset, bytes](LtProduct& p) {
      p.workspace = workspace.as<char>() + offset;
      p.workspace_bytes = bytes;
    };
  };
  const LtShape shape{.k = 512};
  std::thread([&] {  // with a handle of its own
    const ScopedEnv forced("MYGEMM_FORCE_GEMM", "splitk_64x64");
    expect_taken(shape, with(0, workspace.bytes()));
    expect_forwarded(shape, with(0, 64));
    expect_forwarded(shape);
    expect_forwarded(shape, with(16, workspace.bytes() - 16));  // misaligned: none
  })
      .join();
  expect_taken(shape, with(16, workspace.bytes() - 16));
  EXPECT_TRUE(workspace.bands_intact());
}

TEST_F(LtDropIn, ForwardsOtherArithmeticAndTypes) {
  for (const auto compute :
       {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF,
        CUBLAS_COMPUTE_32F_EMULATED_16BFX9, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_32I}) {
    expect_forwarded({.compute = compute});
  }
  for (LtMatrix LtProduct::*matrix : {&LtProduct::a, &LtProduct::b, &LtProduct::c, &LtProduct::d}) {
    expect_forwarded({}, [&](LtProduct& p) {
      (p.*matrix).set(CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t{CUDA_R_16BF});
    });
  }
  expect_forwarded_with(CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_64F);
}

TEST_F(LtDropIn, ForwardsWhatMygemmHasNot) {
  float scale = 1;
  for (const auto pointer :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER}) {
    expect_forwarded_with(pointer, static_cast<void*>(&scale));
  }
  for (const auto mode :
       {CUBLASLT_POINTER_MODE_DEVICE_VECTOR, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO,
        CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST}) {
    expect_forwarded_with(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
  }
  expect_forwarded_with(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, int32_t{16});
  expect_forwarded_with(CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_LOWER);
  expect_forwarded_with(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_T);
  expect_forwarded({}, [](LtProduct& p) {
    p.a.set(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_COL32});
  });
  expect_forwarded(
      {}, [](LtProduct& p) { p.b.set(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, int64_t{4096}); });
}

TEST_F(LtDropIn, LeavesIllegalArgumentsToCublasLt) {
  const auto change_of = [](uint64_t rows) {
    return [rows](LtProduct& p) { p.a.set(CUBLASLT_MATRIX_LAYOUT_ROWS, rows); };
  };
  expect_forwarded({}, change_of(36));
  expect_forwarded({}, [](LtProduct& p) { p.b.set(CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t{8}); });
  expect_forwarded({}, [](LtProduct& p) { p.c.set(CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{4}); });
  expect_forwarded({}, [](LtProduct& p) { p.d.set(CUBLASLT_MATRIX_LAYOUT_LD, int64_t{36}); });
  for (LtMatrix LtProduct::*matrix : {&LtProduct::a, &LtProduct::b, &LtProduct::c, &LtProduct::d}) {
    expect_forwarded(
        {}, [&](LtProduct& p) { (p.*matrix).set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2}); });
  }
  expect_forwarded({.m = 0});
  expect_forwarded({.n = 0});
  expect_forwarded(
      {}, [](LtProduct& p) { p.c.set(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_ROW}); });
  expect_forwarded({}, [](LtProduct& p) { p.alpha = nullptr; });
  expect_forwarded({}, [](LtProduct& p) { p.beta = nullptr; });
  for (const int epilogue : {14, 24, 64, 260}) {
    expect_forwarded_with(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  }
}

TEST_F(LtDropIn, LeavesIllegalVectorsToCublasLt) {
  const void* const null = nullptr;
  for (const auto epilogue : {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_DRELU_BGRAD}) {
    expect_forwarded({.epilogue = epilogue},
                     [&](LtProduct& p) { p.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, null); });
    expect_forwarded({.epilogue = epilogue}, [&](LtProduct& p) {
      p.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
    });
  }
  for (const auto epilogue : {CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX,
                              CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DGELU}) {
    expect_forwarded({.epilogue = epilogue},
                     [&](LtProduct& p) { p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, null); });
    expect_forwarded({.epilogue = epilogue}, [&](LtProduct& p) {
      p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{44});
    });
    expect_forwarded({.epilogue = epilogue}, [&](LtProduct& p) {
      p.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, CUDA_R_16BF);
    });
  }
}

TEST_F(LtDropIn, ForwardsANullHandle) {
  LtProduct product({});
  EXPECT_EQ(product.run(nullptr), CUBLAS_STATUS_SUCCESS);  // the stand-in's answer
  EXPECT_EQ(fake_cublas_last_call(), product.as_said);
}

}  // namespace
