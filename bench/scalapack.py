#!/usr/bin/python3
"""ScaLAPACK's PSGEMM with libmygemm_blas.so preloaded, and without a GPU: times of a product of
distributed matrices in host memory, by one rank and by several.

Usage: scalapack.py DROP_IN --out FILE [--size N] [--host-size N] [--ranks 1,2] [--blocks 1024,4096]
                    [--scalapack LIBRARY] [--mpirun COMMAND] [--timeout S] [--commit HASH]
       scalapack.py --table FILE [--write DOCUMENT | --check DOCUMENT]
       scalapack.py --rank LIBRARY N CALLS      a rank, started by mpirun

DROP_IN is libmygemm_blas.so. Matrices are N x N, their columns of blocks dealt out to the ranks, a
GPU for each. --blocks are values of MYGEMM_PBLAS_BLOCK. The host's own time is of --host-size, with
MYGEMM_BLAS_OFFLOAD=never and all processors for one rank. Each result is compared with A (B x) for
a random x. With --table, prints a result's table, or puts it into a document, or compares. To
measure it needs Open MPI, ScaLAPACK and NumPy.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import blas_offload
import blocks

TABLE = "bench/scalapack.py"
BLOCK = 256  # of the distribution
LARGEST_ERROR = 1e-5  # of C x, as a share of its norm
int_, float_, by = ctypes.c_int, ctypes.c_float, ctypes.byref


# ---- a rank ------------------------------------------------------------------------------------

class Grid:
    """All ranks, in one row."""

    def __init__(self, library):
        self.calls = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        rank, size, self.context = int_(), int_(), int_()
        self.calls.Cblacs_pinfo(by(rank), by(size))
        self.calls.Cblacs_get(int_(-1), int_(0), by(self.context))
        self.calls.Cblacs_gridinit(by(self.context), b"R", int_(1), size)
        self.rank, self.size = rank.value, size.value

    def matrix(self, rows, columns, fill):
        """This rank's part, made by fill(shape), and PBLAS's four arguments of the whole, which
        do not keep the part alive."""
        mine = self.calls.numroc_(by(int_(columns)), by(int_(BLOCK)), by(int_(self.rank)),
                                  by(int_(0)), by(int_(self.size)))
        part = fill((mine, rows)).T
        descriptor = (int_ * 9)(1, self.context.value, rows, columns, BLOCK, BLOCK, 0, 0, rows)
        return part, (ctypes.c_void_p(part.ctypes.data), by(int_(1)), by(int_(1)), descriptor)

    def barrier(self):
        self.calls.Cblacs_barrier(self.context, b"A")

    def multiply(self, n, a, b, c):
        self.calls.psgemm_(b"N", b"N", *[by(int_(n))] * 3, by(float_(1)), *a, *b, by(float_(0)), *c)

    def times_vector(self, n, a, x, y):
        self.calls.psgemv_(b"N", *[by(int_(n))] * 2, by(float_(1)), *a, *x, by(int_(1)),
                           by(float_(0)), *y, by(int_(1)))


def be_rank(library, n, calls):
    """Rank 0 prints the seconds of each call but the first, and the error of the result."""
    import numpy  # of the machine that measures
    grid = Grid(library)
    generator = numpy.random.default_rng(grid.rank)

    def random(shape):
        values = generator.random(shape, dtype=numpy.float32)
        values -= numpy.float32(0.5)
        return values

    def zeros(shape):
        return numpy.zeros(shape, dtype=numpy.float32)

    parts = [grid.matrix(n, columns, fill) for columns, fill in
             ((n, random), (n, random), (n, zeros), (1, random), *[(1, zeros)] * 3)]
    a, b, c, x, bx, for_abx, for_cx = (arguments for _, arguments in parts)
    abx, cx = (part for part, _ in parts[-2:])
    seconds = []
    for _ in range(calls + 1):
        grid.barrier()
        start = time.perf_counter()
        grid.multiply(n, a, b, c)
        grid.barrier()
        seconds.append(time.perf_counter() - start)
    grid.times_vector(n, b, x, bx)
    grid.times_vector(n, a, bx, for_abx)
    grid.times_vector(n, c, x, for_cx)
    if grid.rank == 0:
        error = numpy.linalg.norm(cx - abx) / numpy.linalg.norm(abx)
        print(json.dumps({"first": seconds[0], "seconds": seconds[1:], "error": float(error)}),
              flush=True)
    grid.calls.Cblacs_exit(int_(0))


# ---- the comparison ----------------------------------------------------------------------------

def run_job(arguments, ranks, size, calls, **settings):
    threads = max(1, len(os.sched_getaffinity(0)) // ranks)
    variables = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "OMPI_MCA_hwloc_base_binding_policy": "none",
                 "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm_rsh_agent": "true",
                 "OPENBLAS_NUM_THREADS": str(threads), **settings}
    command = [*arguments.mpirun.split(), "-n", str(ranks), "-x",
               f"LD_PRELOAD={arguments.drop_in}", sys.executable, "-B", __file__, "--rank",
               arguments.scalapack, str(size), str(calls)]
    result = subprocess.run(command, env=variables, text=True, capture_output=True, check=False,
                            timeout=arguments.timeout)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    found = json.loads(result.stdout.splitlines()[-1])
    if not found["error"] < LARGEST_ERROR:
        sys.exit(f"the result of {ranks} ranks is off by {found['error']}")
    print(f"{settings} {ranks} ranks, {size}: {found}", flush=True)
    return {"ranks": ranks, "size": size, "ms": statistics.median(found["seconds"]) * 1e3, **found}


def lines_of(record):
    for job in [*record["jobs"], record["host"]]:
        on_gpus = "block" in job
        yield [f"{job['size']}³", job["ranks"],
               "a GPU for each rank" if on_gpus else f"{record['threads']} processors",
               job.get("block", ""), blas_offload.three_digits(job["ms"]),
               blas_offload.three_digits(2e-9 * job["size"] ** 3 / job["ms"])]


def show_table(arguments):
    record = json.loads(arguments.table.read_text())
    blocks.put(arguments, TABLE, blocks.table(
        ["PSGEMM", "ranks", "on", "`MYGEMM_PBLAS_BLOCK`", "ms", "TFLOP/s"], lines_of(record)) + (
        f"\n{max(job['ranks'] for job in record['jobs'])} × {record['device']}, "
        f"{record['threads']} processors of an {record['processor']}, {record['date'][:10]}, "
        f"commit {record['commit']}; bench/results/{arguments.table.name}.\n"))


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drop_in", nargs="?",
                        type=lambda name: pathlib.Path(name).resolve(strict=True))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=32768)
    parser.add_argument("--host-size", type=int, default=16384)
    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--blocks", type=numbers, default=[1024, 4096])
    parser.add_argument("--scalapack", default="libscalapack-openmpi.so.2.2")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--timeout", type=float, default=300, help="seconds of a job")
    parser.add_argument("--commit", default="unknown")
    blocks.add_arguments(parser)
    arguments = parser.parse_args()
    if arguments.table:
        show_table(arguments)
        return
    if not arguments.drop_in or not arguments.out:
        parser.error("which libmygemm_blas.so, and which file for the result?")
    jobs = [{**run_job(arguments, ranks, arguments.size, 2, MYGEMM_BLAS_OFFLOAD="by-size",
                       MYGEMM_PBLAS_BLOCK=str(block)), "block": block}
            for ranks in arguments.ranks for block in arguments.blocks]
    host = run_job(arguments, 1, arguments.host_size, 1, MYGEMM_BLAS_OFFLOAD="never",
                   MYGEMM_PBLAS_BLOCK="1024")
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    record = {"device": blas_offload.device_name(), "processor": blas_offload.processor_name(),
              "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE"),
              "threads": len(os.sched_getaffinity(0)), "date": date, "commit": arguments.commit,
              "jobs": jobs, "host": host}
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        be_rank(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
