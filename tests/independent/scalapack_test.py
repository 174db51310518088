"""libmygemm_blas.so preloaded into the ranks of parallel jobs: the testers of ScaLAPACK, and PSGEMM
on a grid of 2 x 2 processes, compared with the same jobs without the library.

Usage: scalapack_test.py LIBRARY [EMULATED ASAN] [unittest options]. EMULATED: the library over the
emulated GPU, before which ASAN, the sanitizer's library, has to be loaded. From Debian:
openmpi-bin, scalapack-mpi-test and python3-numpy; without one the exit status is 77.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = EMULATED = ASAN = None  # set from the command line
SKIPPED = 77
RANKS = 4
PROGRAM = pathlib.Path(__file__).with_name("psgemm.py")
TESTERS = next(pathlib.Path("/usr/lib").glob("*-linux-gnu/scalapack/openmpi-tests"), None)
SCALAPACK = next(pathlib.Path("/usr/lib").glob("*-linux-gnu/libscalapack-openmpi.so.2*"), None)
HEADING = r"mygemm: calls of process \d+, rank (\d+)((?:, device \d+)*)"
REPORT = re.compile(rf"^{HEADING}\nmygemm:   sgemm_ +(\d+) taken, (\d+) on the GPU$", re.M)
Rank = collections.namedtuple("Rank", "devices taken on_gpu")
M, N, K = 100, 90, 200
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
       # Ranks are more than processors here, and a container may forbid what is left out.
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl": "self,vader,tcp",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm_rsh_agent": "true",
       "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def missing():
    for package, found in (("openmpi-bin", shutil.which("mpirun.openmpi")),
                           ("scalapack-mpi-test", TESTERS and SCALAPACK),
                           ("python3-numpy",
                            pathlib.Path("/usr/lib/python3/dist-packages/numpy").exists())):
        if not found:
            return f"{package} is not installed"
    return None


class Job(unittest.TestCase):
    def run_job(self, *command, preload=(), **settings):
        """The output of a job, and the calls of each rank that the library took."""
        variables = {**os.environ, **MPI, **settings, "MYGEMM_REPORT": "1"}
        for_ranks = ["-x", "LD_PRELOAD=" + ":".join(map(str, preload))] if preload else []
        with tempfile.TemporaryDirectory() as folder:
            for data in TESTERS.glob("**/*.dat"):
                shutil.copy(data, folder)
            result = subprocess.run(
                ["mpirun.openmpi", "-n", str(RANKS), *for_ranks, *map(str, command)], cwd=folder,
                env=variables, text=True, capture_output=True, check=False, timeout=100)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        ranks = {int(rank): Rank(devices, int(taken), int(on_gpu))
                 for rank, devices, taken, on_gpu in REPORT.findall(result.stderr)}
        self.assertEqual(sorted(ranks), list(range(RANKS)) if preload else [], result.stderr)
        return result.stdout, ranks

    def psgemm(self, preload=(), **settings):
        """The digests of the distributed product, those of the one that all ranks compute, and the
        calls."""
        said, ranks = self.run_job("/usr/bin/python3", "-B", PROGRAM, SCALAPACK, M, N, K,
                                   preload=preload, **settings)
        lines = sorted(re.findall(r"rank (\d): right (\w+) right (\w+)", said))
        self.assertEqual([line[0] for line in lines], ["0", "1", "2", "3"], said)
        replicated = {line[2] for line in lines}
        self.assertEqual(len(replicated), 1, "equal data, unequal bits")
        return [line[1] for line in lines], replicated.pop(), ranks

    def verdicts(self, tester, preload=(), **settings):
        """Lines of what the tester found, without its times."""
        said, ranks = self.run_job(TESTERS / tester, preload=preload, **settings)
        found = re.findall(r"^ *(?:\||\d+ tests) .*$", said, re.M)
        self.assertGreater(len(found), 2, said)
        self.assertIn("end of tests", said.lower())
        return found, ranks


class OnHost(Job):
    def test_the_tester_of_pblas(self):
        plain, _ = self.verdicts("PBLAS/spb3tst")
        found, ranks = self.verdicts("PBLAS/spb3tst", [LIBRARY])
        self.assertEqual(found, plain)
        self.assertGreater(sum(rank.taken for rank in ranks.values()), 1000)

    def test_the_tester_of_lu(self):
        plain, _ = self.verdicts("xslu")
        found, ranks = self.verdicts("xslu", [LIBRARY])
        self.assertEqual(found, plain)
        self.assertIn("    0 tests completed and failed residual checks.", "\n".join(found))
        self.assertGreater(sum(rank.taken for rank in ranks.values()), 10_000)

    def test_psgemm(self):
        plain, plain_replicated, _ = self.psgemm()
        digests, replicated, ranks = self.psgemm([LIBRARY], MYGEMM_BLAS_OFFLOAD="never")
        for rank in ranks.values():
            self.assertEqual(rank, Rank("", (K + 31) // 32 + 1, 0))
        # Our own loops stand in for the reference; any other BLAS is called as without the library.
        if SCALAPACK.with_name("libblas.so.3").resolve().parent.name != "blas":
            self.assertEqual((digests, replicated), (plain, plain_replicated))

    def test_pblas_cuts_to_the_block_that_is_set(self):
        for block in 64, 512:
            _, _, ranks = self.psgemm([LIBRARY], MYGEMM_BLAS_OFFLOAD="never",
                                      MYGEMM_PBLAS_BLOCK=str(block))
            for rank in ranks.values():
                self.assertEqual(rank.taken, (K + block - 1) // block + 1)


class OnEmulatedGpu(Job):
    SETTINGS = {"ASAN_OPTIONS": "detect_leaks=0", "MYGEMM_BLAS_OFFLOAD": "by-size"}

    def setUp(self):
        if EMULATED is None:
            self.skipTest("there is no emulated GPU in this build")
        self.preload = [ASAN, EMULATED]

    def test_psgemm(self):
        # One GPU for four ranks: their devices are taken modulo one.
        for offload, device, on_gpu in ("by-size", "", 1), ("always", "5", 2):
            _, _, ranks = self.psgemm(self.preload, MYGEMM_DEVICE=device,
                                      **{**self.SETTINGS, "MYGEMM_BLAS_OFFLOAD": offload})
            for rank in ranks.values():
                self.assertEqual(rank, Rank(", device 0", 2, on_gpu))  # PSGEMM's k is not cut

    def test_the_tester_of_pblas(self):
        plain, _ = self.verdicts("PBLAS/spb3tst")
        found, ranks = self.verdicts("PBLAS/spb3tst", self.preload,
                                     **{**self.SETTINGS, "MYGEMM_BLAS_OFFLOAD": "always"})
        self.assertEqual(found, plain)
        for rank in ranks.values():
            self.assertGreater(rank.on_gpu, 100)


if __name__ == "__main__":
    LIBRARY = pathlib.Path(sys.argv.pop(1)).resolve()
    if len(sys.argv) > 2 and sys.argv[1].endswith(".so"):
        EMULATED, ASAN = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    if why := missing():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    unittest.main()
