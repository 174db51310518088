"""The mutants that tests must notice, but those of products on tensor cores, of softmax, of cross
entropy and of transposes: see mutants.py."""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str  # under src/
    find: str
    replace: str
    filter: str  # of the ops tests; these must fail
    occurrence: int = 1  # of `find`, which is replaced
    occurrences: int = 1  # of `find` in the file
    compiled: str = ""  # where `file` is a header: the source that is compiled with it
    instance: str = ""  # of those in that source, the only one that is compiled
    few_blocks: bool = False  # fewer blocks than the launch asks for, and multiprocessors
    few_resident: bool = False  # two blocks at once, of many multiprocessors
    no_clusters: bool = False  # an sm_80: what clusters would cut goes through one block


INTEGERS = "Rows/GemmRow.IntegersAreExact/"
BANDS = "Rows/GemmBandRow.SecondBandOfTiles/"
SCALARS = "Rows/GemmRow.ScalarsOfEveryKindInBothPointerModes/"
NO_SUM = "Rows/GemmRow.NothingToSumScalesC/"
BATCHES = "Rows/GemmRow.BatchesOfEveryForm/"
GEMM_SHAPES = "Rows/GemmRow.ShapesOperationsAndLayouts/"
THIN_PARTS = "Rows/GemmThinRow.PartsOfKInTheWorkspace/"
THIN_CHUNKS = "Rows/GemmThinRow.ChunksWithoutWorkspace/"
FUSED = "Kernels/GemmEpilogue."
AUX = "Kernels/GemmEpilogueAux."
PLANNED = "GemmEpiloguePlanned."
CONJUGATE = "Rows/GemmRow.ConjugateTransposeIsTranspose/"

EPILOGUE = "kernels/epilogue.cuh"
GEMM_NAIVE = "kernels/gemm/naive.cu"
GEMM_TILED = "kernels/gemm/tiled.cu"
DOTS = "kernels/gemm/dots.cu"
RELU_BITS = "kernels/gemm/relu_bits.cu"
GEMM_STEPS = "gemm_steps.cpp"
SMALL = "kernels/gemm/small.cuh"
WARPTILED = "kernels/gemm/warptiled.cuh"
PARTIALS = "kernels/gemm/partials.cu"
SLICED = "kernels/gemm/sliced.cuh"
CLUSTER_SUM = "kernels/gemm/cluster_sum.cuh"
THIN_TILE = "kernels/gemm/thin_tile.cuh"
THIN_DEPTH = "kernels/gemm/thin_depth.cuh"
THIN_COMMON = "kernels/gemm/thin_common.cuh"
TMA = "kernels/gemm/tma/tma.cuh"
TMA_STORE = "kernels/gemm/tma/store.cuh"
SHORT = "kernels/gemm/tma/short.cuh"
BESIDE = "kernels/gemm/tma/beside.cuh"
FIXUP = "kernels/gemm/persistent/fixup.cuh"

# The instance of a header's templates that is compiled: one of those in a source.
SMALL_16X16 = {"compiled": "kernels/gemm/small.cu", "instance": "Small16x16"}
SMALL_32X32 = {"compiled": "kernels/gemm/small.cu", "instance": "Small32x32"}
WARPTILED_64X32 = {"compiled": "kernels/gemm/warptiled_narrow.cu", "instance": "Tile64x32"}
WARPTILED_64X64 = {"compiled": "kernels/gemm/warptiled.cu", "instance": "Tile64x64"}
SLICED_32X16 = {"compiled": "kernels/gemm/sliced.cu", "instance": "Sliced32x16"}
THIN_4 = {"compiled": "kernels/gemm/thin.cu", "instance": "Thin4"}
# A kernel with one group of consumers, which meets nowhere else.
TMA_128X128 = {"compiled": "kernels/gemm/tma/large.cu", "instance": "Tma128x128"}
SHORT_128X128 = {"compiled": "kernels/gemm/tma/short.cu", "instance": "Short128x128"}
TMA_64X32 = {"compiled": "kernels/gemm/tma/small.cu", "instance": "Tma64x32"}

# The product that makes sums, and that with something changed before it.
ADD_UP = ("return launch_planned(context, sums_as_product(p, ones), {context.workspace_bytes}, "
          "&kernel);")
CHANGE_SUMS = "GemmProblem q = sums_as_product(p, ones); "
THEN_ADD_UP = " return launch_planned(context, q, {context.workspace_bytes}, &kernel);"

MUTANTS = [
    # Barriers and waits.
    *(Mutant(f"gemm {kernel}: the grid before is not awaited", file,
             "ptx::wait_for_previous_grid();", "", INTEGERS + kernel, **instance)
      for kernel, file, instance in [
          ("naive", GEMM_NAIVE, {}), ("tiled", GEMM_TILED, {}), ("dots", DOTS, {}),
          ("small_32x32", SMALL, SMALL_32X32),
          ("warptiled_64x64", WARPTILED, WARPTILED_64X64), ("sliced_32x16", SLICED, SLICED_32X16)]),
    Mutant("gemm tiled: no barrier before the products", GEMM_TILED,
           "__syncthreads();", "", INTEGERS + "tiled", occurrence=1, occurrences=2),
    Mutant("gemm tiled: no barrier after the products", GEMM_TILED,
           "__syncthreads();", "", INTEGERS + "tiled", occurrence=2, occurrences=2),
    Mutant("gemm warptiled: no barrier", WARPTILED,
           "__syncthreads();", "{}", INTEGERS + "warptiled_64x64", occurrence=2, occurrences=2,
           **WARPTILED_64X64),
    Mutant("gemm small: no wait for copies", SMALL,
           "ptx::cp_async_wait<Tile::kStages - 2>();", "", INTEGERS + "small_32x32",
           **SMALL_32X32, few_blocks=True),
    Mutant("gemm small: waits for one group too few", SMALL,
           "ptx::cp_async_wait<Tile::kStages - 2>();", "ptx::cp_async_wait<Tile::kStages - 1>();",
           INTEGERS + "small_32x32", **SMALL_32X32, few_blocks=True),
    Mutant("gemm small: lanes do not meet", SMALL,
           "__syncwarp();", "{}", INTEGERS + "small_32x32", **SMALL_32X32, few_blocks=True),
    Mutant("gemm small: loads one step too far ahead", SMALL,
           "steps + Tile::kStages - 1 : 0;", "steps + Tile::kStages : 0;",
           INTEGERS + "small_32x32", **SMALL_32X32, few_blocks=True),
    Mutant("gemm dots: warps' sums added too early", DOTS,
           "__syncthreads();", "", THIN_PARTS + "dots"),
    Mutant("gemm sliced: no wait for copies", SLICED,
           "ptx::cp_async_wait<Tile::kStages - 2>();", "", INTEGERS + "sliced_32x16",
           **SLICED_32X16),
    Mutant("gemm sliced: no barrier before the products", SLICED,
           "__syncthreads();", "{}", INTEGERS + "sliced_32x16", occurrence=1, occurrences=3,
           **SLICED_32X16),
    Mutant("gemm sliced: sums laid over stages too early", SLICED,
           "__syncthreads();", "", INTEGERS + "sliced_32x16", occurrence=2, occurrences=3,
           **SLICED_32X16),
    Mutant("gemm sliced: groups' sums added too early", SLICED,
           "__syncthreads();", "", INTEGERS + "sliced_32x16", occurrence=3, occurrences=3,
           **SLICED_32X16),
    Mutant("gemm sliced: k beyond the end is not made zero", SLICED,
           "const int padded = (depth + 3) / 4 * 4;", "const int padded = depth;",
           GEMM_SHAPES + "sliced_32x16", **SLICED_32X16),
    Mutant("gemm clusters: inboxes are not awaited", SLICED,
           "ptx::cluster_wait();", "", INTEGERS + "sliced_32x16", **SLICED_32X16),
    Mutant("gemm clusters: others' sums are not awaited", CLUSTER_SUM,
           "ptx::mbarrier_wait(received_, 0);", "", INTEGERS + "sliced_32x16",
           **SLICED_32X16),
    Mutant("gemm clusters: one sum too few is awaited", CLUSTER_SUM,
           "static_cast<unsigned>(4 * elements)", "static_cast<unsigned>(4 * elements - 4)",
           INTEGERS + "sliced_32x16", **SLICED_32X16),
    Mutant("gemm tma: groups do not meet before they add up", TMA_STORE,
           "meet(s, parity);\n  const LanePlace", "const LanePlace", INTEGERS + "tma_64x32",
           **TMA_64X32),
    Mutant("gemm tma: groups do not meet before the next sums", TMA_STORE,
           "meet(s, parity);", "{}", INTEGERS + "tma_64x32", occurrence=2, occurrences=2,
           **TMA_64X32, few_blocks=True),
    Mutant("gemm tma: copies are not awaited", "kernels/gemm/tma/produce.cuh",
           "ptx::cp_async_arrive(full);", "ptx::mbarrier_arrive(full);", INTEGERS + "tma_64x32",
           **TMA_64X32),
    Mutant("gemm streamk: the first partial tile is not added", FIXUP,
           "first_block_of(tile), block}", "first_block_of(tile) + 1, block}",
           GEMM_SHAPES + "streamk_64x32", **TMA_64X32, few_blocks=True),
    Mutant("gemm streamk: a block's number is its place in the grid", FIXUP,
           "args.flags ? atomicAdd(&args.flags->next_block, 1u) : blockIdx.x", "blockIdx.x",
           INTEGERS + "streamk_64x32", **TMA_64X32),
    Mutant("gemm streamk: the counter of blocks is not cleared", FIXUP,
           "flags[threadIdx.x] = 0;",
           "if (threadIdx.x + 1 < kClearThreads) flags[threadIdx.x] = 0;",
           INTEGERS + "streamk_64x32", **TMA_64X32),
    Mutant("gemm streamk: flags are not cleared", FIXUP,
           "flags[threadIdx.x] = 0;",
           "if (threadIdx.x + 1 == kClearThreads) flags[threadIdx.x] = 0;",
           INTEGERS + "streamk_64x32", **TMA_64X32, few_resident=True),
    Mutant("gemm streamk: a block's number is not awaited", TMA,
           "s.block = persistent::take_block_number(args);\n  __syncthreads();",
           "s.block = persistent::take_block_number(args);", INTEGERS + "streamk_64x32",
           **TMA_64X32),
    Mutant("gemm streamk: partial tiles are not awaited", FIXUP,
           "while (ptx::load_acquire(&args.flags->ready[other]) == 0) {\n    }", "",
           INTEGERS + "streamk_64x32", **TMA_64X32, few_resident=True),
    Mutant("gemm streamk: one thread's wait is not all threads'", TMA,
           "persistent::await_partial_tiles<Tile>(args, to_add, thread);\n"
           "      meet(s, &parity);",
           "persistent::await_partial_tiles<Tile>(args, to_add, thread);",
           INTEGERS + "streamk_128x128", **TMA_128X128, few_resident=True),
    Mutant("gemm short: the last tile is not stored", SHORT, "beside.finish();", "",
           INTEGERS + "short_128x128", **SHORT_128X128),
    Mutant("gemm short: a tile takes the place of one that is not stored", BESIDE,
           "    finish();\n    epilogue_", "    epilogue_", BANDS + "short_128x128",
           few_blocks=True, **SHORT_128X128),
    Mutant("gemm short: results are read before all are there", BESIDE,
           "__syncwarp();", "", INTEGERS + "short_128x128", occurrence=2, occurrences=2,
           **SHORT_128X128),
    Mutant("gemm short: results are overwritten before all are read", BESIDE,
           "__syncwarp();", "", BANDS + "short_128x128", occurrence=1, occurrences=2,
           few_blocks=True, **SHORT_128X128),
    Mutant("gemm warptiled: no wait for copies", WARPTILED,
           "ptx::cp_async_wait<Tile::kStages - 2>();", "", INTEGERS + "warptiled_64x64",
           **WARPTILED_64X64),
    Mutant("gemm warptiled: waits for one group too few", WARPTILED,
           "ptx::cp_async_wait<Tile::kStages - 2>();", "ptx::cp_async_wait<Tile::kStages - 1>();",
           INTEGERS + "warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm warptiled: loads one step too far ahead", WARPTILED,
           "ahead < Tile::kStages - 1;", "ahead < Tile::kStages;", INTEGERS + "warptiled_64x64",
           **WARPTILED_64X64),
    Mutant("gemm thin, columns: no barrier before the products", THIN_TILE,
           "__syncthreads();", "", THIN_PARTS + "thin_4", occurrence=2, occurrences=4,
           **THIN_4),
    Mutant("gemm thin, columns: no barrier before the next chunk", THIN_TILE,
           "if (chunk > 0) __syncthreads();", "", THIN_CHUNKS + "thin_4", **THIN_4,
           no_clusters=True),
    Mutant("gemm thin, columns: sums laid over Y too early", THIN_TILE,
           "__syncthreads();", "{}", GEMM_SHAPES + "thin_4", occurrence=3, occurrences=4,
           **THIN_4),
    Mutant("gemm thin, columns: warps' sums added too early", THIN_TILE,
           "__syncthreads();", "{}", THIN_PARTS + "thin_4", occurrence=4, occurrences=4,
           **THIN_4),
    Mutant("gemm thin, rows: no barrier before the products", THIN_DEPTH,
           "__syncthreads();", "", THIN_PARTS + "thin_4", occurrence=2, occurrences=3,
           **THIN_4),
    Mutant("gemm thin, rows: no barrier before the next chunk", THIN_DEPTH,
           "if (chunk > 0 || pass > 0) __syncthreads();", "", THIN_CHUNKS + "thin_4",
           **THIN_4, no_clusters=True),
    Mutant("gemm thin, rows: warps' sums added too early", THIN_DEPTH,
           "__syncthreads();", "{}", THIN_PARTS + "thin_4", occurrence=3, occurrences=3,
           **THIN_4),

    # Operands that must not be read, and work that must be done all the same.
    Mutant("gemm: reads C at beta = 0", EPILOGUE,
           "return beta == 0.0f ? alpha * sum : fmaf(alpha, sum, beta * to_float(*old));",
           "return fmaf(alpha, sum, beta * to_float(*old));", SCALARS + "tiled",
           compiled=GEMM_TILED),
    Mutant("gemm: reads A and B at alpha = 0", EPILOGUE, "return alpha == 0.0f ? 0 : p.k;",
           "return p.k;", SCALARS + "tiled", compiled=GEMM_TILED),
    Mutant("gemm: alpha = 0 leaves C as it was", EPILOGUE, "return beta == 0.0f ?",
           "if (alpha == 0.0f) return *old;\n    return beta == 0.0f ?", SCALARS + "tiled",
           compiled=GEMM_TILED),
    Mutant("validation: k = 0 taken as nothing to do", "validate_gemm.cpp",
           "p.m == 0 || p.n == 0 ||", "p.m == 0 || p.n == 0 || p.k == 0 ||", NO_SUM + "tiled"),
    Mutant("gemm tiled: returns early at k = 0", GEMM_TILED, "if (depth > 0) {",
           "if (p.k == 0) return;\n  if (depth > 0) {", NO_SUM + "tiled"),

    # Extents and leading dimensions.
    Mutant("gemm tiled: ldd ignored", GEMM_TILED, "(j + r) * d.ld", "(j + r) * p.m",
           GEMM_SHAPES + "tiled"),
    Mutant("gemm epilogue: ldd ignored", EPILOGUE, "p.d.ld, p.m - at.i,", "p.m, p.m - at.i,",
           GEMM_SHAPES + "warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm epilogue: columns past the edge stored", EPILOGUE,
           "if (j < d.columns) store_quad", "store_quad", GEMM_SHAPES + "small_16x16",
           **SMALL_16X16),
    Mutant("gemm epilogue: columns past the edge stored after an exchange", EPILOGUE,
           "if (i >= d.rows || j >= d.columns) continue;", "if (i >= d.rows) continue;",
           GEMM_SHAPES + "small_16x16", **SMALL_16X16),
    Mutant("gemm epilogue: lanes do not wait for what they exchange", EPILOGUE,
           "quad[3]);\n  __syncwarp();", "quad[3]);", GEMM_SHAPES + "small_16x16",
           **SMALL_16X16),
    Mutant("gemm epilogue: exchanged over what is still to be read", EPILOGUE,
           "  __syncwarp();\n  *reinterpret_cast", "  *reinterpret_cast",
           GEMM_SHAPES + "small_16x16", **SMALL_16X16),
    Mutant("gemm warptiled: lanes do not wait for what they exchange", WARPTILED,
           "    __syncwarp();\n    if (d.in_quads)", "    if (d.in_quads)",
           GEMM_SHAPES + "warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm warptiled: exchanged over what is still to be read", WARPTILED,
           "    __syncwarp();\n#pragma unroll\n", "#pragma unroll\n",
           GEMM_SHAPES + "warptiled_64x32", **WARPTILED_64X32),
    Mutant("gemm warptiled: rows past the edge stored", WARPTILED,
           "if (m + i < d.rows) {", "{", GEMM_SHAPES + "warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm warptiled: exchanged over stages that are still to be read", WARPTILED,
           "  __syncthreads();\n  auto& exchange", "  auto& exchange",
           GEMM_SHAPES + "warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm splitk: matrices are counted on over the splits", WARPTILED,
           "matrix - split * args.batch_count.value(), split}", "matrix, split}",
           BATCHES + "splitk_64x64", **WARPTILED_64X64),
    Mutant("gemm warptiled: quads at an edge are copied whole", WARPTILED,
           "min(4, max(0, extent_ - i))", "4", GEMM_SHAPES + "warptiled_64x64",
           **WARPTILED_64X64),
    Mutant("gemm warptiled: reads past the end of k", WARPTILED,
           "ptx::cp_async_4(to, from, i < extent_ && k_inside);",
           "ptx::cp_async_4(to, from, i < extent_);", CONJUGATE + "warptiled_64x64",
           **WARPTILED_64X64),
    Mutant("gemm dots: reads past the end of k", DOTS,
           "x[i] = load(a, i * lanes < left);", "x[i] = load(a, true);", GEMM_SHAPES + "dots"),
    Mutant("gemm dots: groups of warps store where those of lanes would", DOTS,
           "at = place_of<Group>(args, min(group, args.groups - 1));", "", THIN_PARTS + "dots",
           occurrence=2, occurrences=2),
    Mutant("gemm dots: loads columns past the last one", DOTS,
           "i * lanes < left && (j == 0 || j < columns)", "i * lanes < left",
           GEMM_SHAPES + "dots_4"),
    Mutant("gemm dots: stores columns past the last one", DOTS,
           "if (j > 0 && j >= columns) return;", "", GEMM_SHAPES + "dots_4"),
    Mutant("gemm thin, columns: reads past the end of k", THIN_TILE,
           "columns.load(batch[k], k0 + args.step_k + k < depth);",
           "columns.load(batch[k], true);", THIN_PARTS + "thin_4", **THIN_4),
    Mutant("gemm thin, rows: reads past the last row", THIN_DEPTH,
           "const int left = r < rows ? depth - k0 : 0;", "const int left = depth - k0;",
           THIN_PARTS + "thin_4", **THIN_4),
    Mutant("split k: first split not added", PARTIALS,
           "for (int64_t split = group; split < splits; split += kGroups)",
           "for (int64_t split = group + 1; split < splits; split += kGroups)",
           INTEGERS + "splitk_64x64"),
    Mutant("split k: the last group of threads not added", PARTIALS,
           "other < kGroups; ++other", "other + 1 < kGroups; ++other",
           INTEGERS + "splitk_64x64"),
    Mutant("split k: groups are added before their sums are there", PARTIALS,
           "= sum;\n    __syncthreads();", "= sum;", INTEGERS + "splitk_64x64"),

    # The general product's epilogue.
    Mutant("gemm warptiled: fused epilogues keep a triangle of any D", WARPTILED,
           "if (fills_all) fused.keep_all();", "", FUSED + "OfEveryKind/warptiled_64x64",
           **WARPTILED_64X64),
    Mutant("gemm epilogue: parts of quads store a result twice", EPILOGUE,
           "i == 1 ? sum[1] : i == 2 ? sum[2]", "i == 1 ? sum[1] : i == 2 ? sum[1]",
           "Kernels/GemmTriangleRows.OfSmallMatrices/warptiled_64x64", **WARPTILED_64X64),
    Mutant("gemm bias: always the tile's first", EPILOGUE, "__ldg(bias_ + row)", "__ldg(bias_)",
           FUSED + "OfEveryKind/tiled", compiled=GEMM_TILED),
    Mutant("gemm bias: always the matrix's first rows", EPILOGUE,
           "at.batch * p.epilogue.stride_bias + i;", "at.batch * p.epilogue.stride_bias;",
           FUSED + "OfEveryKind/tiled", compiled=GEMM_TILED),
    Mutant("gemm bias: by columns", EPILOGUE,
           "bias(kTransposed ? column : row)", "bias(kTransposed ? row : column)",
           FUSED + "OfEveryKind/tiled", compiled=GEMM_TILED),
    Mutant("gemm bias: the same for the whole batch", EPILOGUE,
           "at.batch * p.epilogue.stride_bias + i;", "i;",
           FUSED + "OfBatches/tiled", compiled=GEMM_TILED),
    Mutant("gemm bias: added to what is activated", EPILOGUE,
           "case MYGEMM_ACTIVATION_RELU: return relu(t);",
           "case MYGEMM_ACTIVATION_RELU:\n"
           "        if (bias_) t -= bias(kTransposed ? column : row);\n"
           "        return bias_ ? relu(t) + bias(kTransposed ? column : row) : relu(t);",
           FUSED + "OfEveryKind/tiled", compiled=GEMM_TILED),
    Mutant("gemm bias: thin products have theirs along the long side", THIN_COMMON,
           "{batch_, i, j}", "{batch_, l, j}", FUSED + "OfEveryKind/thin_4", **THIN_4),
    Mutant("gemm relu: NaN becomes 0", EPILOGUE, "t <= 0.0f ? 0.0f : t;", "t > 0.0f ? t : 0.0f;",
           FUSED + "OfInfinitiesAndNan/tiled", compiled=GEMM_TILED),
    Mutant("gemm C: read from D", EPILOGUE,
           "p.c.matrix<const T>(at.batch) + i + j * p.c.ld;",
           "p.d.matrix<const T>(at.batch) + i + j * p.c.ld;",
           FUSED + "OfAnotherC/tiled", compiled=GEMM_TILED),
    Mutant("gemm C: ldc ignored", EPILOGUE, "c_[i + j * p_.c.ld]", "c_[i + j * p_.d.ld]",
           FUSED + "OfAnotherC/tiled", compiled=GEMM_TILED),
    Mutant("gemm C: read at beta = 0", EPILOGUE, "c_ = scalars.beta == 0.0f ? nullptr : p.c",
           "c_ = p.c", FUSED + "OfAnotherC/tiled", compiled=GEMM_TILED),
    Mutant("gemm C: the same columns again", EPILOGUE,
           "if (c_) c_ = ptx::advanced(c_, n * p_.c.ld);", "",
           FUSED + "OfAnotherC/small_32x32", **SMALL_32X32),

    # Operands of activations, and sums.
    Mutant("gemm aux: GELU leaves nothing", EPILOGUE,
           "if (stores_aux()) store_aux(row, column, t);", "",
           AUX + "OfEveryActivation/tiled", compiled=GEMM_TILED),
    Mutant("gemm aux: ldaux ignored", EPILOGUE,
           "aux_ + i + j * p_.epilogue.ldaux;", "aux_ + i + j * p_.d.ld;",
           AUX + "OfEveryActivation/tiled", compiled=GEMM_TILED),
    Mutant("gemm aux: the same for the whole batch", EPILOGUE,
           "at.batch * p.epilogue.stride_aux + i", "i", AUX + "OfBatches/tiled",
           compiled=GEMM_TILED),
    Mutant("gemm aux: the same columns again", EPILOGUE, "aux_ += n * p_.epilogue.ldaux;", "",
           AUX + "OfEveryActivation/small_32x32", **SMALL_32X32),
    Mutant("gemm aux: bits from the tile's first row on", EPILOGUE,
           "((static_cast<int>(aux_) + (kTransposed", "((0 + (kTransposed",
           AUX + "OfEveryActivation/small_16x16", **SMALL_16X16),
    Mutant("gemm gelu gradient: factors of x without bounds", EPILOGUE,
           "kMost = 10.0f", "kMost = 3e38f", AUX + "OfInfinitiesAndNan/tiled",
           compiled=GEMM_TILED),
    Mutant("gemm gelu gradient: NaN becomes a number", EPILOGUE,
           "return isnan(x) ? x : derivative;", "return derivative;",
           AUX + "OfInfinitiesAndNan/tiled", compiled=GEMM_TILED),
    Mutant("gemm relu bits: 0 where t is 0 or NaN", RELU_BITS, "!(t[i] < 0.0f)", "t[i] > 0.0f",
           AUX + "OfInfinitiesAndNan/tiled"),
    Mutant("gemm relu bits: NaN becomes 0", RELU_BITS,
           "d[row] = from_float<T>(relu(t[i]));",
           "d[row] = from_float<T>(t[i] > 0.0f ? t[i] : 0.0f);", AUX + "OfInfinitiesAndNan/tiled"),
    Mutant("gemm relu bits: bytes in the other order", RELU_BITS, "bits >> 8 * byte",
           "bits >> (24 - 8 * byte)", AUX + "OfEveryActivation/tiled"),
    Mutant("gemm relu bits: whole words past the last row", RELU_BITS, "if (row + 32 <= rows) {",
           "if (true) {", AUX + "OfEveryActivation/tiled"),
    Mutant("gemm relu bits: 1 past the last row", RELU_BITS, "to_float(d[row]) : -1.0f",
           "to_float(d[row]) : 0.0f", AUX + "OfEveryActivation/tiled"),
    Mutant("gemm relu bits: rows past the edge stored", RELU_BITS,
           "if (row < p.m) d[row] =", "d[row] =", AUX + "OfEveryActivation/tiled"),
    Mutant("gemm relu bits: a lane keeps another one's word", RELU_BITS,
           "if (lane == l + i) bits", "if (lane == i) bits", PLANNED + "BitsOfLongColumns"),
    Mutant("gemm relu bits: only a column's first rows", RELU_BITS,
           "const int64_t first = at % parts * kRows", "const int64_t first = 0",
           PLANNED + "BitsOfLongColumns"),
    Mutant("gemm steps: sums of what is not yet activated", GEMM_STEPS,
           "if (given.epilogue.stores_bits()) RETURN_IF_ERROR(apply_relu(context, given));\n"
           "  return given.sums.of == MYGEMM_SUMS_NONE ? MYGEMM_STATUS_SUCCESS : "
           "make_sums(context, given);",
           "if (given.sums.of != MYGEMM_SUMS_NONE) RETURN_IF_ERROR(make_sums(context, given));\n"
           "  return given.epilogue.stores_bits() ? apply_relu(context, given) : "
           "MYGEMM_STATUS_SUCCESS;",
           AUX + "WithSums/tiled"),
    Mutant("gemm sums: of the wrong side", GEMM_STEPS, ADD_UP,
           CHANGE_SUMS + "q.transa = !q.transa;" + THEN_ADD_UP, PLANNED + "SumsOfEveryMatrix"),
    Mutant("gemm sums: of A instead of B", GEMM_STEPS, ADD_UP,
           CHANGE_SUMS + "if (p.sums.of == MYGEMM_SUMS_OF_B) q.a = p.a;" + THEN_ADD_UP,
           PLANNED + "SumsOfEveryMatrix"),
    Mutant("gemm sums: one beside the other for the whole batch", GEMM_STEPS, ADD_UP,
           CHANGE_SUMS + "q.c.stride = q.d.stride = q.m;" + THEN_ADD_UP, PLANNED + "SumsOfBatches"),
    Mutant("gemm sums: further ones than there are", GEMM_STEPS, ADD_UP,
           CHANGE_SUMS + "q.b.ld = 4;" + THEN_ADD_UP, PLANNED + "SumsOfEveryMatrix"),
]
