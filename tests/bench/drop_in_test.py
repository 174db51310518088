"""bench/drop_in.py, blas_offload.py and scalapack.py: failures of children are reasons, and the
documents have the committed results. The programs that they measure need a GPU.

Usage: drop_in_test.py [unittest options]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
sys.path.insert(0, str(BENCH))

import drop_in  # noqa: E402


def script(*arguments, program="drop_in.py"):
    return subprocess.run([sys.executable, "-B", str(BENCH / program), *map(str, arguments)],
                          text=True, capture_output=True, check=False)


class Children(unittest.TestCase):
    def test_a_program_that_fails_is_in_the_record_with_its_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.json"
            library = pathlib.Path(folder) / "library.so"
            library.write_text("none")
            process = script(library, "--rounds", 1, "--only", "small_product", "--out", out)
            self.assertEqual(process.returncode, 0, process.stderr)
            entry, = json.loads(out.read_text())["results"]
        self.assertTrue(entry["skipped"])
        self.assertIn("not measured", drop_in.cells(entry)[0])

    def test_results(self):
        self.assertEqual(drop_in.result_of(0, 'noise\n{"seconds": 2}\n', ""), {"seconds": 2})
        for status, stdout, reason in [(1, "", "exit status 1: last"), (0, "1\n", "exit status 0"),
                                       (0, '{"failure": "no torch"}', "no torch")]:
            with self.assertRaisesRegex(drop_in.Failure, reason):
                drop_in.result_of(status, stdout, "first\nlast\nmygemm: report\n")

    def test_the_report_does_not_stand_for_a_reason(self):
        with self.assertRaisesRegex(drop_in.Failure, "cannot be preloaded"):
            drop_in.result_of(0, '{"seconds": 2}', "ld.so: x.so cannot be preloaded")


class Summaries(unittest.TestCase):
    def test_medians_and_differences(self):
        theirs = [{"seconds": s, "loss": 2.0} for s in (1.0, 3.0, 2.0)]
        ours = [{"seconds": s, "loss": 2.5} for s in (1.0, 0.5, 4.0)]
        entry = drop_in.summary(theirs, ours)
        self.assertEqual(entry["seconds"], {"cublas": 2.0, "mygemm": 1.0})
        self.assertEqual(entry["speedup"], 2.0)
        self.assertEqual(entry["differences"], {"loss": 0.25})


class Committed(unittest.TestCase):
    def check(self, name, document, *options, program="drop_in.py"):
        process = script("--table", BENCH / "results" / name, *options, "--check", ROOT / document,
                         program=program)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_documents(self):
        self.check("h200-drop-in.json", "docs/drop-in.md")
        self.check("h200-drop-in-fast.json", "docs/drop-in.md")
        self.check("h200-drop-in-strict.json", "docs/drop-in.md")
        self.check("h200-drop-in.json", "README.md", "--extremes")

    def test_offloaded_products(self):
        self.check("h200-blas-offload.json", "docs/drop-in.md", program="blas_offload.py")
        self.check("h200-host-gpus.json", "docs/scale-out.md", program="blas_offload.py")

    def test_scalapack(self):
        self.check("h200-scalapack.json", "docs/scale-out.md", program="scalapack.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)
