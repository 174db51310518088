"""bench/scale_out.py and ranks.py: processes of a job that fail, are too slow or took no call are
reasons in the record, and so are wrong results. The programs that it measures need GPUs.

Usage: scale_out_test.py [unittest options]
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

from scripts import BENCH, script

sys.path.insert(0, str(BENCH))
import ranks  # noqa: E402
import scale_out  # noqa: E402

REPORT = """noise
mygemm: calls of process 12, rank 1, device 0, device 1
mygemm:   cublasSgemm_v2                 3 taken, 1 forwarded
mygemm: 3 of 4 calls taken, with 99.0 % of their 10 GFLOP
"""


def rank(stdout="", stderr="", status=0):
    return ranks.Rank(status, stdout, stderr)


class Ranks(unittest.TestCase):
    def run_job(self, program, count=2, timeout=60):
        return ranks.run([sys.executable, "-c", program], count, ranks.environment(None), timeout)

    def test_processes_have_numbers_and_know_each_other(self):
        found = self.run_job("import os; print(*(os.environ[n] for n in "
                             "('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'MASTER_PORT')))", 3)
        words = [rank.stdout.split() for rank in found]
        self.assertEqual([line[:3] for line in words],
                         [[str(n), str(n), "3"] for n in range(3)])
        self.assertEqual(len({line[3] for line in words}), 1)

    def test_one_that_fails_ends_all(self):
        found = self.run_job("import os, time; os.environ['RANK'] == '1' and os._exit(3); "
                             "time.sleep(60)", timeout=30)
        self.assertEqual([rank.status for rank in found], [None, 3])

    def test_slow_ones_are_ended(self):
        found = self.run_job("print('begun', flush=True); import time; time.sleep(60)", timeout=2)
        self.assertEqual([(rank.status, rank.stdout) for rank in found], [(None, "begun\n")] * 2)

    def test_only_the_preload_that_was_asked_for(self):
        os.environ["LD_PRELOAD"] = "/other.so"
        self.addCleanup(os.environ.pop, "LD_PRELOAD")
        self.assertNotIn("LD_PRELOAD", ranks.environment(None))
        self.assertEqual(ranks.environment("/a.so", MORE="1")["LD_PRELOAD"], "/a.so")

    def test_report(self):
        self.assertEqual(ranks.taken(rank(stderr=REPORT)), (3, 4, [0, 1]))
        self.assertEqual(ranks.taken(rank(stderr="noise\n")), (0, 0, []))
        self.assertEqual(len(ranks.report(rank(stderr=REPORT))), 3)


class Failures(unittest.TestCase):
    def test_reasons(self):
        for found, reason in [
                ([rank(), rank('{"failure": "no GPU"}', status=1)], "process 1: no GPU"),
                ([rank(stderr="ld.so: a.so cannot be preloaded")], "a.so cannot be preloaded"),
                ([rank(status=None)], "process 0: was ended"),
                ([rank(stderr="a\nlast\n", status=2)], "process 0: exit status 2; last"),
                ([rank(stderr=REPORT), rank()], "process 1 with the drop-in took no call")]:
            self.assertIn(reason, scale_out.failure_of(found, "a.so"))
        self.assertIsNone(scale_out.failure_of([rank(stderr=REPORT)], "a.so"))
        self.assertIsNone(scale_out.failure_of([rank()], None))

    def test_results(self):
        def measured(seconds, **more):
            return {"case": "c", "base": "c", "gpus": 2, "work": 6, "unit": "u", "about": "a",
                    "seconds": seconds, **more}
        theirs = [measured(s, loss=2.0, error=1e-7) for s in (1.0, 3.0, 2.0)]
        ours = [measured(s, loss=2.5, error=2e-7) for s in (1.0, 0.5, 4.0)]
        result = scale_out.result_of({"cublas": theirs, "mygemm": ours})
        self.assertEqual((result["ms"], result["rate"]), ({"median": 1e3}, 6.0))
        self.assertEqual((result["peers"][0]["ratio"], result["peers"][0]["rate"]), (2.0, 3.0))
        self.assertEqual(result["differences"], {"loss": 0.25})
        self.assertEqual(result["errors"], {"cublas": 1e-7, "mygemm": 2e-7})
        self.assertEqual(scale_out.result_of({"cublas": theirs})["failure"],
                         "not measured with mygemm")
        wrong = {"cublas": theirs, "mygemm": [measured(1.0, error=1e-3)]}
        self.assertIn("1.0e-03", scale_out.result_of(wrong)["failure"])

    def test_a_machine_without_gpus(self):
        """All engines fail, and the record says why."""
        with tempfile.TemporaryDirectory() as folder:
            out, library = (pathlib.Path(folder) / name for name in ("out.json", "library.so"))
            library.write_text("none")
            said = script("scale_out.py", library, "--out", out, "--small", "--engines",
                          "libraries", "--rounds", 1, expect=1)
            self.assertIn("FAILED: libraries, cublas", said)
            record = json.loads(out.read_text())
        self.assertEqual(len(record["failures"]), 2)
        self.assertEqual(record["results"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
