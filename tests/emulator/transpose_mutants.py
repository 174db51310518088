"""The mutants of the transposes: see mutants.py."""

from mutant_list import Mutant

TRANSPOSE_SHAPES = "Rows/TransposeRow.ShapesSizesAndLayouts/"
TRANSPOSE_NARROW = "Rows/TransposeRow.NarrowAndSmall/"
TRANSPOSE_GATHERED = "kernels/transpose/gathered.cu"
TRANSPOSE_GATHERED_TILE = "kernels/transpose/gathered.cuh"
TRANSPOSE_IN_PLACE = "kernels/transpose/in_place.cu"
TRANSPOSE_NARROW_CU = "kernels/transpose/narrow.cu"
TRANSPOSE_PATCHES = "kernels/transpose/patches.cuh"
TRANSPOSE_SHIFTED = "kernels/transpose/shifted.cu"
TRANSPOSE_TILED = "kernels/transpose/tiled.cu"
TRANSPOSE_TMA = "kernels/transpose/tma.cu"
TRANSPOSE_VECTOR = "kernels/transpose/vector.cu"

TRANSPOSE_MUTANTS = [
    Mutant("transpose tiled: no barrier", TRANSPOSE_TILED, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "tiled", occurrence=1, occurrences=2),
    Mutant("transpose square in place: no barrier", TRANSPOSE_TILED, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "square_in_place", occurrence=2, occurrences=2),
    Mutant("transpose vector: no barrier", TRANSPOSE_VECTOR, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "vector"),
    Mutant("transpose shifted: no barrier", TRANSPOSE_SHIFTED, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "shifted"),
    Mutant("transpose gathered: no barrier", TRANSPOSE_GATHERED, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "gathered", occurrence=1, occurrences=3),
    Mutant("transpose gathered, runs: no barrier", TRANSPOSE_GATHERED, "__syncthreads();", "",
           TRANSPOSE_NARROW + "gathered_runs", occurrence=2, occurrences=3),
    Mutant("transpose gathered, in place: no barrier", TRANSPOSE_GATHERED, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "gathered_in_place", occurrence=3, occurrences=3),
    Mutant("transpose gathered: no wait for the tile", TRANSPOSE_GATHERED,
           "ptx::cp_async_wait_all();", "", TRANSPOSE_SHAPES + "gathered", occurrence=1,
           occurrences=3),
    Mutant("transpose vector in place: no barrier", TRANSPOSE_IN_PLACE, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "vector_in_place"),
    Mutant("transpose narrow, output runs: no barrier", TRANSPOSE_NARROW_CU, "__syncthreads();", "",
           TRANSPOSE_NARROW + "narrow", occurrence=1, occurrences=2),
    Mutant("transpose narrow, input runs: no barrier", TRANSPOSE_NARROW_CU, "__syncthreads();", "",
           TRANSPOSE_NARROW + "narrow", occurrence=2, occurrences=2),
    Mutant("transpose tma: no barrier after the initialisation", TRANSPOSE_TMA, "__syncthreads();",
           "", TRANSPOSE_SHAPES + "tma", occurrence=1, occurrences=3),
    Mutant("transpose tma: no wait for the tile", TRANSPOSE_TMA, "ptx::mbarrier_wait(barrier, 0);",
           "", TRANSPOSE_SHAPES + "tma"),
    Mutant("transpose tma: staged over the fetched tile too early", TRANSPOSE_TMA,
           "__syncthreads();", "", TRANSPOSE_SHAPES + "tma", occurrence=2, occurrences=3),
    Mutant("transpose tma: no barrier before the stores", TRANSPOSE_TMA, "__syncthreads();", "",
           TRANSPOSE_SHAPES + "tma", occurrence=3, occurrences=3),
    Mutant("transpose tiled: edge of the tile not checked", TRANSPOSE_TILED,
           "if (r < from.rows && c < from.cols) value", "if (r < from.rows) value",
           TRANSPOSE_SHAPES + "tiled"),
    Mutant("transpose vector: writes past the end of rows", TRANSPOSE_PATCHES,
           "if (to == nullptr || left < kPackElements<kBytes>) return;",
           "if (to == nullptr) return;", TRANSPOSE_SHAPES + "vector", compiled=TRANSPOSE_VECTOR),
    Mutant("transpose shifted: ends of rows not written", TRANSPOSE_SHIFTED, "if (!ends) return;",
           "return;", TRANSPOSE_SHAPES + "shifted"),
    Mutant("transpose gathered: a sector of rows less is read", TRANSPOSE_GATHERED,
           "min(int64_t{grid.rows}, p.rows - origin.r)",
           "min(int64_t{grid.step_r}, p.rows - origin.r)", TRANSPOSE_SHAPES + "gathered"),
    Mutant("transpose gathered: ends of rows not written", TRANSPOSE_GATHERED_TILE,
           "edge < edges", "edge < 0", TRANSPOSE_SHAPES + "gathered", compiled=TRANSPOSE_GATHERED),
    Mutant("transpose gathered: the first row of the next skew read too early",
           TRANSPOSE_GATHERED_TILE, "+ i >= crossing) at", "+ i > crossing) at",
           TRANSPOSE_SHAPES + "gathered", compiled=TRANSPOSE_GATHERED),
    Mutant("transpose gathered: the words of a pack in the order of reading",
           TRANSPOSE_GATHERED_TILE, "return kSkewed ? read : unrotated(read);", "return read;",
           TRANSPOSE_SHAPES + "gathered", compiled=TRANSPOSE_GATHERED),
    Mutant("transpose gathered, runs: columns do not wrap", TRANSPOSE_GATHERED,
           "if (--left == 0)", "if (--left < 0)", TRANSPOSE_NARROW + "gathered_runs"),
    Mutant("transpose gathered, in place: tiles written to their own place", TRANSPOSE_GATHERED,
           "out + first_of(1 - t)", "out + first_of(t)",
           TRANSPOSE_SHAPES + "gathered_in_place"),
    Mutant("transpose narrow: rows past the end of the run read", TRANSPOSE_NARROW_CU,
           "length * cols * matrices);", "grid.length * cols * grid.matrices);",
           TRANSPOSE_NARROW + "narrow"),
]
