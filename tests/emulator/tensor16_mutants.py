"""The mutants of the kernels tensor16_*: see mutants.py."""

from mutant_list import Mutant

SHAPES = "Rows/Gemm16BitRow.ShapesOperationsAndLayouts/"
LONG_K = "Rows/Gemm16BitRow.LongK/"
INTEGERS_16 = "Rows/Gemm16BitRow.IntegersAreRoundedOnce/"
FEED = "kernels/gemm/tensor16/feed.cuh"
LINES = "kernels/gemm/tensor16/lines.cuh"
MULTIPLY = "kernels/gemm/tensor16/multiply.cuh"
STORE = "kernels/gemm/tensor16/store.cuh"
MACHINE = "kernels/gemm/tensor16/tensor16.cuh"
SPLIT = "kernels/gemm/tensor16/split.cuh"


def tile(name):
    return {"compiled": "kernels/gemm/tensor16/tensor16.cu", "instance": name}


SPLIT_TILE = {"compiled": "kernels/gemm/tensor16/split.cu", "instance": "Tensor16Split_128x64"}


TENSOR16_MUTANTS = [
    Mutant("gemm tensor16: a stage is not awaited", MULTIPLY,
           "ptx::mbarrier_wait(&s.full[place.slot], place.parity);", "",
           LONG_K + "tensor16_64x128", **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: a stage is given back before it is read", MULTIPLY,
           "ptx::wgmma_wait_for_operands<1>();", "",
           LONG_K + "tensor16_256x128", **tile("Tensor16_256x128")),
    Mutant("gemm tensor16: the last products are not awaited", MULTIPLY,
           "  ptx::wgmma_wait(sum);\n", "", SHAPES + "tensor16_64x128", **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: the partner's copy of a stage is not given back", MULTIPLY,
           "if (lane < Tile::kCluster)", "if (lane == 0)",
           LONG_K + "tensor16_128x256", **tile("Tensor16_128x256")),
    Mutant("gemm tensor16: both warpgroups multiply the first rows", MULTIPLY,
           "warp / 4 * (64 * Tile::kLineBytes)", "warp / 8 * (64 * Tile::kLineBytes)",
           SHAPES + "tensor16_64x128", **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: FP16 is taken for BF16", MULTIPLY,
           "p.a.type == MYGEMM_R_16BF ?", "p.a.type != MYGEMM_R_32F ?",
           SHAPES + "tensor16_64x128", **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: sums of the tile before stay", MACHINE,
           "for (float& x : sum) x = 0.0f;", "",
           SHAPES + "tensor16_64x128", few_blocks=True, **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: a partial tile is announced before all of it is there", MACHINE,
           "ptx::meet_at_barrier(kConsumersBarrier, kThreads);\n      if (thread == 0)",
           "if (thread == 0)", LONG_K + "tensor16_streamk_128x128", few_resident=True,
           **tile("Tensor16_128x128")),
    Mutant("gemm tensor16: partial tiles are not added", MACHINE,
           "add_partial<Tile>(sum, partial_tiles[other], thread);", "",
           LONG_K + "tensor16_streamk_160x128", few_resident=True, **tile("Tensor16_160x128")),
    Mutant("gemm tensor16: the second block of a pair stores over the first", MACHINE,
           "static_cast<int>(ptx::cluster_rank()) * Tile::kRows", "0",
           SHAPES + "tensor16_192x256", **tile("Tensor16_192x256")),
    Mutant("gemm tensor16: both blocks of a pair bring the first rows", FEED,
           "return load(stage + rank * kPart * 128, k, origin + rank * kPart);",
           "return load(stage + rank * kPart * 128, k, origin);",
           SHAPES + "tensor16_160x256", **tile("Tensor16_160x256")),
    Mutant("gemm tensor16: both blocks of a pair bring the first k", FEED,
           "origin + first, k + rank * kPartOfK", "origin + first, k",
           SHAPES + "tensor16_160x256", **tile("Tensor16_160x256")),
    Mutant("gemm tensor16: a stage is filled before it is free", FEED,
           "work.await_stage();\n    work.announce();\n    const int slot = work.place.slot, k",
           "work.announce();\n    const int slot = work.place.slot, k",
           LONG_K + "tensor16_256x128", **tile("Tensor16_256x128")),
    Mutant("gemm tensor16: a box is written while the accelerator reads it", STORE,
           "if (lane == 0) ptx::tma_wait_for_reads_of_stores<kSameBox ? 0 : Tile::kBoxes - 1>();",
           "", SHAPES + "tensor16_256x128", **tile("Tensor16_256x128")),
    Mutant("gemm tensor16: a box is written while that of the tile before is read", STORE,
           "<kSameBox ? 0 : Tile::kBoxes - 1>", "<Tile::kBoxes - 1>",
           SHAPES + "tensor16_64x128", few_blocks=True, **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: the accelerator reads a box before it is written", STORE,
           "ptx::fence_bulk();\n    __syncwarp();\n    if (lane == 0) {\n      ptx::tma_store_3d",
           "if (lane == 0) {\n      ptx::tma_store_3d",
           SHAPES + "tensor16_64x128", **tile("Tensor16_64x128")),
    Mutant("gemm tensor16: half a box is stored whole", STORE,
           "const OperandMap& map = kWhole ? d.whole : d.half;",
           "const OperandMap& map = d.whole;",
           SHAPES + "tensor16_160x128", **tile("Tensor16_160x128")),
    Mutant("gemm tensor16: the epilogue goes on beyond the tile", STORE,
           "min(p.n - at.column, int64_t{Tile::kBlockN})", "min(p.n - at.column, int64_t{1 << 20})",
           INTEGERS_16 + "tensor16_160x128", **tile("Tensor16_160x128")),
    Mutant("gemm tensor16: lines are not shifted by single elements", LINES,
           "const unsigned bits = (x.shift & 2) * 8;", "const unsigned bits = 0;",
           SHAPES + "tensor16_lines_128x128", **tile("Tensor16Lines_128x128")),
    Mutant("gemm tensor16: the k behind the end are those of memory", LINES,
           "const bool inner = at.depth >= kStep + kReach", "const bool inner = at.depth >= 0",
           SHAPES + "tensor16_lines_128x128", **tile("Tensor16Lines_128x128")),
    Mutant("gemm tensor16 split: sums are left where a warpgroup still reads stages", SPLIT,
           "ptx::meet_at_barrier(kConsumersBarrier, 32 * Tile::kConsumerWarps);", "",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: sums of other blocks are not awaited", SPLIT,
           "warp, lane);\n  }\n  ptx::cluster_sync();", "warp, lane);\n  }\n",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: a block ends while others read its sums", SPLIT,
           "__syncwarp();\n  ptx::cluster_sync();", "",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: every block takes the first k", SPLIT,
           "block.first = block.split * args.steps;", "block.first = 0;",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: operands are read with alpha = 0", SPLIT,
           "load_scalar(args.p.epilogue.alpha) != 0.0f", "true",
           "Rows/Gemm16BitRow.ScalarsOfEveryKindInBothPointerModes/tensor16_split_128x64",
           **SPLIT_TILE),
    Mutant("gemm tensor16 split: a stage is filled before it is free", SPLIT,
           "    ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);\n", "",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: lines of a warp's second half are those of the first", SPLIT,
           "at = row + 8 * half;", "at = row;", SHAPES + "tensor16_split_128x64", **SPLIT_TILE),
    Mutant("gemm tensor16 split: the sums of one block are left out", SPLIT,
           "split = 1; split < kPortableCluster", "split = 2; split < kPortableCluster",
           LONG_K + "tensor16_split_128x64", **SPLIT_TILE),
]
