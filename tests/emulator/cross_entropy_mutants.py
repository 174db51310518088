"""The mutants of the cross-entropy kernels: see mutants.py."""

from mutant_list import Mutant

LOSS_FACTORS = "Rows/CrossEntropyRow.OutputsAndFactors/"
LOSS_SHAPES = "Rows/CrossEntropyRow.ShapesAndLayouts/"

LOSS_BLOCK = "kernels/cross_entropy/block.cu"
LOSS_CLUSTER = "kernels/cross_entropy/cluster.cu"

CROSS_ENTROPY_MUTANTS = [
    Mutant("cross entropy block: sums are written before they are empty", LOSS_BLOCK,
           "if (kHeld) __syncthreads();", "", LOSS_SHAPES + "block"),
    Mutant("cross entropy reread: no barrier", LOSS_BLOCK,
           "__syncthreads();", "", LOSS_FACTORS + "reread", occurrence=2, occurrences=4),
    Mutant("cross entropy reread: no barrier before the next row", LOSS_BLOCK,
           "__syncthreads();", "", LOSS_FACTORS + "reread", occurrence=4, occurrences=4,
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
