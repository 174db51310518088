"""The mutants of the kernels of grouped products: see mutants.py."""

from mutant_list import Mutant

FORMS = "Rows/GroupedRow.FormsTypesOperationsAndLayouts/"
SIZES = "Rows/GroupedRow.ProductsOfAllSizes/"
MANY = "Rows/GroupedRow.ManyProducts/"
NAN = "Rows/GroupedRow.ANanStaysInItsProduct/"

LIST = "kernels/grouped/list.cu"
FEED = "kernels/grouped/feed.cuh"
MACHINE = "kernels/grouped/tensor16.cuh"
TENSOR = {"compiled": "kernels/grouped/tensor16.cu"}

GROUPED_MUTANTS = [
    Mutant("grouped list: products are listed from the first 256 alone", LIST,
           "sizes_before += total;", "sizes_before = 0;", MANY + "grouped_naive"),
    Mutant("grouped list: threads add before others have written", LIST,
           "__syncthreads();", "", MANY + "grouped_naive", occurrence=1, occurrences=4),
    Mutant("grouped tensor16: the last k step reaches into the next product", FEED,
           "clear_lines<Tile>(s.b[place.slot], boxes, depth - k, lane);", "",
           NAN + "grouped_tensor16", **TENSOR),
    Mutant("grouped tensor16: a step that is cut off is not awaited", FEED,
           "ptx::mbarrier_wait(&s.turn[0], cut_parity);", "", FORMS + "grouped_tensor16", **TENSOR),
    Mutant("grouped tensor16: columns begin with the first product", FEED,
           "if (stacked_b) at.column += before;", "", FORMS + "grouped_tensor16", **TENSOR),
    Mutant("grouped tensor16: results reach into the next product", MACHINE,
           "p.n = min(p.n, int64_t{tile.column + tile.columns});", "p.n = Tile::kColumns;",
           FORMS + "grouped_tensor16", **TENSOR),
    Mutant("grouped tensor16: the accelerator stores past the end of a product", MACHINE,
           "columns / kChunk * kChunk : 0", "Tile::kColumns : 0", SIZES + "grouped_tensor16",
           **TENSOR),
]
