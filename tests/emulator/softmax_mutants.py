"""The mutants of softmax: see mutants.py."""

from mutant_list import Mutant

SOFTMAX_SHAPES = "Rows/SoftmaxRow.ShapesAndLayouts/"
SOFTMAX_SCALES = "Rows/SoftmaxRow.Scales/"
SOFTMAX_ANYWHERE = "Rows/SoftmaxRow.RowsThatBeginAnywhere/"
SOFTMAX_SPECIAL = "Rows/SoftmaxRow.SpecialValues/"
SOFTMAX_FEW = "Rows/SoftmaxRow.FewRowsOfMediumLength/"
SOFTMAX_BLOCK = "kernels/softmax/block.cu"
SOFTMAX_BUNDLE = "kernels/softmax/bundle.cuh"
SOFTMAX_REREAD = "kernels/softmax/reread.cu"
SOFTMAX_SPLIT = "kernels/softmax/split.cu"
SOFTMAX_BLOCK_CLUSTER = "kernels/softmax/block_cluster.cu"
SOFTMAX_WIDE_CLUSTER = "kernels/softmax/wide_cluster.cu"
SOFTMAX_WIDE = "kernels/softmax/wide.cuh"
SOFTMAX_EXCHANGE = "kernels/softmax/exchange.cuh"
SOFTMAX_CLUSTER = "kernels/softmax/cluster.cu"
REDUCE = "kernels/reduce.cuh"

SOFTMAX_MUTANTS = [
    Mutant("block reduction: no barrier", REDUCE,
           "__syncthreads();", "", SOFTMAX_SCALES + "block", compiled=SOFTMAX_BLOCK),
    Mutant("softmax block: no barrier", SOFTMAX_BLOCK,
           "__syncthreads();", "", SOFTMAX_SCALES + "block", occurrence=1, occurrences=2),
    Mutant("softmax block: no barrier before the next row", SOFTMAX_BLOCK,
           "__syncthreads();", "{}", SOFTMAX_SCALES + "block", occurrence=2, occurrences=2,
           few_blocks=True),
    *(Mutant(f"softmax bundle: {name}", SOFTMAX_BUNDLE, find, "{}", SOFTMAX_ANYWHERE + "bundle",
             compiled="kernels/softmax/bundle_fp32.cu", occurrence=occurrence, occurrences=count,
             few_blocks=True)
      for name, find, occurrence, count in [
          ("no wait for copies", "ptx::cp_async_wait_all();", 1, 1),
          ("no barrier before the rows", "__syncthreads();", 1, 3),
          ("no barrier before the results leave", "__syncthreads();", 2, 3),
          ("no barrier before the next bundle", "__syncthreads();", 3, 3)]),
    Mutant("softmax reread: no barrier", SOFTMAX_REREAD,
           "__syncthreads();", "", SOFTMAX_SCALES + "reread", occurrence=1, occurrences=2),
    Mutant("softmax reread: no barrier before the next row", SOFTMAX_REREAD,
           "__syncthreads();", "{}", SOFTMAX_SCALES + "reread", occurrence=2, occurrences=2,
           few_blocks=True),
    Mutant("softmax split: no barrier", SOFTMAX_SPLIT,
           "__syncthreads();", "{}", SOFTMAX_SCALES + "split"),
    Mutant("softmax block_cluster: no wait for the other blocks", SOFTMAX_EXCHANGE,
           "ptx::mbarrier_wait(&row.received, 0);", "__syncthreads();",
           SOFTMAX_FEW + "block_cluster", compiled=SOFTMAX_BLOCK_CLUSTER),
    Mutant("softmax block_cluster: warps past a row's end have elements", SOFTMAX_BLOCK_CLUSTER,
           "const bool inside = thread < row.threads;", "const bool inside = true;",
           SOFTMAX_FEW + "block_cluster"),
    Mutant("softmax block_cluster: no wait for the others' barriers", SOFTMAX_EXCHANGE,
           "ptx::cluster_wait();", "", SOFTMAX_FEW + "block_cluster",
           compiled=SOFTMAX_BLOCK_CLUSTER),
    Mutant("softmax wide_cluster: no wait for the other blocks", SOFTMAX_EXCHANGE,
           "ptx::mbarrier_wait(&row.received, 0);", "__syncthreads();",
           SOFTMAX_SCALES + "wide_cluster", compiled=SOFTMAX_WIDE_CLUSTER),
    Mutant("softmax wide_cluster: exponentials keep their tile's reference", SOFTMAX_WIDE,
           "change_reference(scale, x, maximum, Reference(scale, whole.maximum));", "{}",
           SOFTMAX_SPECIAL + "wide_cluster", compiled=SOFTMAX_WIDE_CLUSTER),
    Mutant("softmax wide_cluster: tiles' sums are not awaited", SOFTMAX_WIDE_CLUSTER,
           "__syncthreads();", "{}", SOFTMAX_SCALES + "wide_cluster"),
    Mutant("softmax cluster: always the same slot refilled", SOFTMAX_CLUSTER,
           "write_at.advance(used_slots);", "", SOFTMAX_SCALES + "cluster", few_blocks=True),
    Mutant("softmax cluster: no wait for the other blocks", SOFTMAX_CLUSTER,
           "ptx::mbarrier_wait(&exchange.barrier, turn.phase);", "",
           SOFTMAX_SCALES + "cluster"),
    Mutant("softmax cluster: no wait for a tile", SOFTMAX_CLUSTER,
           "ptx::mbarrier_wait(&full[add_at.slot], add_at.phase);", "",
           SOFTMAX_SCALES + "cluster"),
    Mutant("softmax cluster: one exchange for all rows", SOFTMAX_CLUSTER,
           "turn.advance(2);", "turn.phase ^= 1;", SOFTMAX_SCALES + "cluster", few_blocks=True),
    Mutant("softmax cluster: a row is drawn twice", SOFTMAX_CLUSTER,
           "atomicAdd(counter, 1ull)", "atomicAdd(counter, 0ull)", SOFTMAX_SCALES + "cluster",
           few_blocks=True),
    Mutant("warp reduction: last step missing", REDUCE,
           "for (int step = 0; step < 5; ++step)", "for (int step = 0; step < 4; ++step)",
           SOFTMAX_SHAPES + "warp", compiled="kernels/softmax/warp.cu"),
]
