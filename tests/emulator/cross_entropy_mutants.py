"""The mutants of the cross-entropy kernels: see mutants.py."""

from mutant_list import Mutant

LOSS_FACTORS = "Rows/CrossEntropyRow.OutputsAndFactors/"
LOSS_HUGE = "Rows/CrossEntropyRow.HugeLogits/"
LOSS_NARROW_ROWS = "Rows/CrossEntropyRow.NarrowRows/narrow"
LOSS_SHAPES = "Rows/CrossEntropyRow.ShapesAndLayouts/"

LOSS_BLOCK = "kernels/cross_entropy/block.cu"
LOSS_CLUSTER = "kernels/cross_entropy/cluster.cu"
LOSS_NARROW = "kernels/cross_entropy/narrow.cu"
LOSS_TILES = "kernels/cross_entropy/tiles.cuh"

CROSS_ENTROPY_MUTANTS = [
    Mutant("cross entropy block: sums are written before they are empty", LOSS_BLOCK,
           "__syncthreads();", "", LOSS_SHAPES + "block", occurrence=1, occurrences=4),
    Mutant("cross entropy block: 16-bit logits of a huge row are not shifted", LOSS_TILES,
           "row.shift != 0.0f || row.ignored", "row.ignored", LOSS_HUGE + "block",
           compiled=LOSS_BLOCK),
    Mutant("cross entropy block: 16-bit logits of a huge tile are not shifted", LOSS_TILES,
           "to.shift != 0.0f || is_huge", "false && is_huge", LOSS_HUGE + "block",
           compiled=LOSS_BLOCK),
    Mutant("cross entropy reread: a huge fp32 tile is added as an ordinary one", LOSS_TILES,
           "is_huge(scale, maximum) || is_huge(scale, sum.seen.maximum)", "false",
           LOSS_HUGE + "reread", compiled=LOSS_BLOCK),
    Mutant("cross entropy reread: the tile ahead is not the next run's first", LOSS_BLOCK,
           "t + 1 < end ? t + 1 : then", "t + 1", LOSS_SHAPES + "reread"),
    Mutant("cross entropy narrow: the target's exponential is not left out", LOSS_NARROW,
           "element == own_element ? 0.0f : e", "e", LOSS_NARROW_ROWS),
    Mutant("cross entropy narrow: a lane keeps the last pass's row", LOSS_NARROW,
           "if (lane == pass) kept = now;", "kept = now;", LOSS_NARROW_ROWS, few_blocks=True),
    Mutant("cross entropy narrow: no barrier behind the classes", LOSS_NARROW,
           "__syncthreads();", "", LOSS_NARROW_ROWS, occurrence=1, occurrences=3),
    Mutant("cross entropy narrow: no barrier before the gradients are stored", LOSS_NARROW,
           "__syncthreads();", "", LOSS_NARROW_ROWS, occurrence=2, occurrences=3),
    Mutant("cross entropy narrow: no barrier before the next bundle", LOSS_NARROW,
           "if (int64_t{gridDim.x} * narrow.rows() < p.rows) __syncthreads();", "",
           LOSS_NARROW_ROWS, few_blocks=True),
    Mutant("cross entropy reread: no barrier", LOSS_BLOCK,
           "__syncthreads();", "", LOSS_FACTORS + "reread", occurrence=2, occurrences=4),
    Mutant("cross entropy reread: no barrier before the next row", LOSS_BLOCK,
           "if (gridDim.x < p.rows) __syncthreads();", "", LOSS_FACTORS + "reread",
           few_blocks=True),
    Mutant("cross entropy cluster: always the same slot refilled", LOSS_CLUSTER,
           "write_at.advance(used_slots);", "", LOSS_SHAPES + "cluster", few_blocks=True),
    Mutant("cross entropy cluster: no wait for the other blocks", LOSS_CLUSTER,
           "ptx::mbarrier_wait(&exchange.barrier, turn.phase);", "", LOSS_SHAPES + "cluster"),
    Mutant("cross entropy cluster: no wait for a tile", LOSS_CLUSTER,
           "ptx::mbarrier_wait(&full[add_at.slot], add_at.phase);", "", LOSS_SHAPES + "cluster"),
    Mutant("cross entropy cluster: one exchange for all rows", LOSS_CLUSTER,
           "turn.advance(2);", "turn.phase ^= 1;", LOSS_SHAPES + "cluster", few_blocks=True),
    Mutant("cross entropy cluster: a row is drawn twice", LOSS_CLUSTER,
           "atomicAdd(counter, 1u)", "atomicAdd(counter, 0u)", LOSS_SHAPES + "cluster",
           few_blocks=True),
]
