"""A rank of a 2 x 2 grid: a product of distributed matrices by PBLAS's PSGEMM, then one of matrices
that all ranks have, by sgemm_. Prints whether both are right, and digests of their bits.

Usage: psgemm.py SCALAPACK M N K, by mpirun.
"""
import ctypes
import hashlib
import sys

import numpy

BLOCK = 16  # of the distribution
REPLICATED = 200  # the extent of the product of all ranks: by its size one for a GPU

scalapack = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
whole_program = ctypes.CDLL(None)
int_, float_, by = ctypes.c_int, ctypes.c_float, ctypes.byref


def start():
    """The context of the grid, and this process's row and column in it."""
    rank, size, context = int_(), int_(), int_()
    rows, cols, row, col = int_(), int_(), int_(), int_()
    scalapack.Cblacs_pinfo(by(rank), by(size))
    scalapack.Cblacs_get(int_(-1), int_(0), by(context))
    scalapack.Cblacs_gridinit(by(context), b"R", int_(2), int_(2))
    scalapack.Cblacs_gridinfo(context, by(rows), by(cols), by(row), by(col))
    return context, row.value, col.value


def part(matrix, row, col):
    """The elements of a matrix that this process has."""
    mine = [[at for at in range(extent) if at // BLOCK % 2 == place]
            for extent, place in zip(matrix.shape, (row, col))]
    return numpy.asfortranarray(matrix[numpy.ix_(*mine)])


def pointer(matrix):
    return matrix.ctypes.data_as(ctypes.c_void_p)


def random(rows, cols):
    return numpy.asfortranarray(generator.standard_normal((rows, cols), dtype=numpy.float32))


def psgemm(context, row, col, m, n, k):
    a, b, c = random(m, k), random(k, n), random(m, n)
    arguments = []
    for matrix in a, b, c:
        mine = part(matrix, row, col)
        descriptor = (int_ * 9)(1, context.value, *matrix.shape, BLOCK, BLOCK, 0, 0,
                                max(1, mine.shape[0]))
        arguments.append((mine, (pointer(mine), by(int_(1)), by(int_(1)), descriptor)))
    (_, for_a), (_, for_b), (result, for_c) = arguments
    scalapack.psgemm_(b"N", b"N", by(int_(m)), by(int_(n)), by(int_(k)), by(float_(1)), *for_a,
                      *for_b, by(float_(0.5)), *for_c)
    return result, part(a.astype(float) @ b + 0.5 * c, row, col)


def sgemm(n):
    a, b, c = random(n, n), random(n, n), random(n, n)
    extent = by(int_(n))
    whole_program.sgemm_(b"N", b"N", extent, extent, extent, by(float_(1)), pointer(a), extent,
                         pointer(b), extent, by(float_(0)), pointer(c), extent)
    return c, a.astype(float) @ b


context_, row_, col_ = start()
generator = numpy.random.default_rng(1)
text = f"rank {2 * row_ + col_}:"
for computed, exact in (psgemm(context_, row_, col_, *map(int, sys.argv[2:])), sgemm(REPLICATED)):
    verdict = "right" if abs(computed - exact).max() < 1e-3 else "wrong"
    text += f" {verdict} {hashlib.sha256(computed.tobytes()).hexdigest()[:16]}"
sys.stdout.write(text + "\n")  # one write
sys.stdout.flush()
scalapack.Cblacs_exit(int_(0))
