"""The cuBLAS drop-in preloaded into programs on several GPUs of one machine, and the drop-in BLAS
beside it, which uses them all: results against FP64, the same bits every run, and calls counted in
every process. Skipped where there are fewer than two GPUs.

Usage: scale_out_test.py DROP_IN [unittest options]. The examples of PyTorch and JAX check their own
results and print their bits. The programs run before the tests, those that share GPUs at the same
time; those whose Python packages are missing are skipped. Exits with 77 where no test ran.
"""
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
import ranks  # noqa: E402

DROP_IN = None  # set from the command line
HERE, EXAMPLES = pathlib.Path(__file__).resolve().parent, ROOT / "bindings/python/examples"
CLIENT, MP_CLIENT = HERE / "several_gpus_client.py", HERE / "cublasmp_client.py"
TIMEOUT = int(os.environ.get("MYGEMM_TEST_TIMEOUT", "120"))  # seconds of each program
SKIPPED = 77
GPUS = 2
# cuBLAS's error at k = 4096 is about 2e-7 at worst; TF32's is over 1e-4.
FP32_ERROR = 1e-6
# A program that uses NVLink multicast can put GPUs out of service that it shares with others.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "NVSHMEM_DISABLE_NVLS": "1",
                "CUBLASMP_DISABLE_NVSHMEM": "1"}


def start(program, *arguments, count=1, preload=True, **variables):
    return ranks.run([sys.executable, "-B", program, *arguments], count,
                     ranks.environment(DROP_IN if preload else None, **NO_MULTICAST, **variables),
                     TIMEOUT)


def torch_programs():
    for name in "torch_sharded_product", "torch_parallel_training":
        for number in range(2):
            yield (name, number), (EXAMPLES / f"{name}.py",), {"count": GPUS}
    yield ("torch_sharded_product", "plain"), (EXAMPLES / "torch_sharded_product.py",), {
        "count": GPUS, "preload": False}


def programs(folder):
    """(key, arguments, keywords) of start()."""
    if importlib.util.find_spec("torch"):
        yield from torch_programs()
    if importlib.util.find_spec("jax"):
        for number in range(2):
            yield ("jax", number), (EXAMPLES / "jax_sharded_product.py",), {}
    for task in "peer", "host_products", "cholesky":
        yield (task, 0), (CLIENT, task), {}
    for preload in False, True:
        yield ("other_current", preload), (CLIENT, "other_current"), {"preload": preload}
    yield ("cublasmp", 0), (MP_CLIENT, folder), {"count": GPUS}


def programs_alone():
    """As above. Their tiles, and so their bits, depend on what memory of the GPU is free."""
    for device, calls in ("0", "1"), ("all", "40"):
        yield ("dealt", device), (CLIENT, "dealt", DROP_IN.with_name("libmygemm_blas.so"), calls), {
            "preload": False, "MYGEMM_BLAS_OFFLOAD": "always", "MYGEMM_DEVICE": device}


def device_count():
    """By a process of its own; 0 where CUDA's runtime is missing."""
    found = start(CLIENT, "count", preload=False)[0]
    return json.loads(found.stdout)["devices"] if found.status == 0 else 0


class Programs(unittest.TestCase):
    results = {}

    @classmethod
    def setUpClass(cls):
        if Programs.results:
            return
        if device_count() < GPUS:
            raise unittest.SkipTest(f"this machine has fewer than {GPUS} GPUs")
        with tempfile.TemporaryDirectory() as folder, \
                concurrent.futures.ThreadPoolExecutor(max_workers=20) as pool:
            running = {key: pool.submit(start, *arguments, **keywords)
                       for key, arguments, keywords in programs(folder)}
            Programs.results = {key: job.result() for key, job in running.items()}
        for key, arguments, keywords in programs_alone():
            Programs.results[key] = start(*arguments, **keywords)

    def ranks_of(self, name, number=0):
        """The processes of a program, which must have ended well."""
        if (name, number) not in self.results:
            self.skipTest(f"the Python packages of {name} are not installed")
        found = self.results[name, number]
        if any(rank.status == SKIPPED for rank in found):
            self.skipTest(found[0].stderr.strip() or found[-1].stderr.strip())
        for number, rank in enumerate(found):
            self.assertEqual(rank.status, 0, f"process {number}: {rank.stdout[-1500:]}\n"
                                             f"{rank.stderr[-3000:]}")
        return found

    def answer(self, name, number=0):
        """(the JSON of a program of one process, its report)"""
        rank, = self.ranks_of(name, number)
        return json.loads(rank.stdout.splitlines()[-1]), "\n".join(ranks.report(rank))

    def assert_every_rank_took_calls(self, found, devices):
        for number, rank in enumerate(found):
            taken, _, used = ranks.taken(rank)
            self.assertGreater(taken, 0, rank.stderr)
            self.assertEqual(used, devices[number], rank.stderr)


class PyTorch(Programs):
    def assert_runs(self, name, lines):
        both = [self.ranks_of(name, number) for number in range(2)]
        said = [found[0].stdout.splitlines() for found in both]
        self.assertEqual(len(said[0]), lines, said[0])
        self.assertIn(f"{GPUS} x cuda", said[0][0])
        self.assertEqual(said[0], said[1])  # the bits, too
        for found in both:
            self.assert_every_rank_took_calls(found, [[device] for device in range(GPUS)])

    def test_sharded_products(self):
        self.assert_runs("torch_sharded_product", 3)

    def test_tensor_parallelism_and_fsdp(self):
        self.assert_runs("torch_parallel_training", 2)

    def test_the_examples_run_without_the_preload(self):
        found = self.ranks_of("torch_sharded_product", "plain")
        self.assertEqual(len(found[0].stdout.splitlines()), 3)
        self.assertEqual([ranks.report(rank) for rank in found], [[]] * GPUS)


class Jax(Programs):
    def test_sharded_products(self):
        both = [self.ranks_of("jax", number) for number in range(2)]
        said = [found[0].stdout.splitlines() for found in both]
        self.assertEqual(len(said[0]), 3, said[0])
        self.assertRegex(said[0][0], r"\d x gpu")
        self.assertEqual(said[0], said[1])
        for rank, in both:
            taken, _, devices = ranks.taken(rank)
            self.assertGreaterEqual(taken, 3 * GPUS, rank.stderr)
            self.assertEqual(devices[:GPUS], list(range(GPUS)), rank.stderr)


class OneProcess(Programs):
    def test_operands_on_another_device(self):
        answer, report = self.answer("peer")
        self.assertLess(max(answer["errors"]), FP32_ERROR)
        self.assertEqual(answer["same"], [True] * 15)
        self.assertRegex(report, r"cublasSgemm_v2 +20 taken, 0 forwarded")

    def test_host_products_on_all_gpus_have_the_bits_of_one(self):
        alone, of_one = self.answer("dealt", "0")
        dealt, of_all = self.answer("dealt", "all")
        self.assertLess(max(alone["errors"]), FP32_ERROR)
        self.assertEqual(dealt["digests"], alone["digests"])
        self.assertEqual(len(dealt["digests"]), 1)
        self.assertRegex(of_one, r"process \d+, device 0\n")
        self.assertRegex(of_all, r"process \d+, device 0, device 1")
        self.assertRegex(of_all, r"sgemm_ +40 taken, 40 on the GPU")

    def test_a_handle_of_a_device_that_is_not_current_is_left_to_cublas(self):
        theirs, _ = self.answer("other_current", False)
        ours, report = self.answer("other_current", True)
        self.assertEqual(ours, theirs)
        self.assertRegex(report, r"cublasSgemm_v2 +0 taken, 1 forwarded")
        self.assertIn("the handle is not of the current device", report)


class Libraries(Programs):
    """NVIDIA's libraries for several GPUs."""

    def test_cusolvermg(self):
        answer, report = self.answer("cholesky")
        self.assertLess(answer["residual"], 1e-5)
        self.assertRegex(report, r"cublasSgemm\w* +[1-9]\d* taken")

    def test_cublasxt_keeps_its_products(self):
        """They are calls within cuBLAS, which no preload reaches."""
        answer, report = self.answer("host_products")
        self.assertLess(max(answer["errors"]), FP32_ERROR)
        self.assertNotRegex(report, r"[1-9]\d* taken")

    def test_cublasmp(self):
        found = self.ranks_of("cublasmp")
        for rank in found:
            self.assertLess(max(json.loads(rank.stdout.splitlines()[-1])["errors"]), FP32_ERROR)
        self.assert_every_rank_took_calls(found, [[device] for device in range(GPUS)])


if __name__ == "__main__":
    DROP_IN = pathlib.Path(sys.argv.pop(1)).resolve()
    outcome = unittest.main(exit=False, verbosity=2).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if len(outcome.skipped) == outcome.testsRun or outcome.testsRun == 0:
        sys.exit(SKIPPED)
