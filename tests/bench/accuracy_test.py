"""Runs `mygemm-bench accuracy` on the host backend, and what makes tables and figures of its
results, bench/accuracy.py and bench/plot.py; holds docs/accuracy.md to the committed results.

Takes the path of mygemm-bench. Needs matplotlib.
"""

import json
import math
import pathlib
import sys
import tempfile
import unittest

from scripts import BENCH, run, script

sys.path.insert(0, str(BENCH))
import accuracy  # noqa: E402
import blocks  # noqa: E402

PROGRAM = ""
DEPTHS = [16, 64, 512]
KINDS = 12


class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.results = cls.folder / "made.json"
        run(PROGRAM, "--backend", "host", "--json", cls.results, "accuracy", "-m", "40", "-n", "32",
            "-k", ",".join(map(str, DEPTHS)), "--also", "host_blocked")
        cls.report = json.loads(cls.results.read_text())
        cls.products = accuracy.read_products(cls.report)

    def test_results(self):
        self.assertEqual(len(self.products), KINDS * len(DEPTHS))
        self.assertEqual(accuracy.depths(self.products), DEPTHS)
        names = accuracy.names_to_show(self.products)
        self.assertEqual(names[:2] + names[-1:], ["default", "strict", "host_blocked"])
        for key in ["date", "commit", "machine"]:
            self.assertTrue(self.report[key], key)

    def test_tables(self):
        text = script("accuracy.py", self.results)
        for part in ["commit ", "40 × 32", "| k | kernel of the default mode | default / strict",
                     "| 512 | host_", "in units of 2⁻²⁴", "slope of log(largest error)",
                     "host_blocked / strict"]:
            self.assertIn(part, text)
        self.assertRegex(text, r"(?m)^\| uniform \| -?\d\.\d\d, 0\.\d{3} \|")
        self.assertRegex(text, r"(?m)^\| integers \| 0 / 0")

    def test_document(self):
        document = self.folder / "document.md"
        begin, end = blocks.begin(accuracy.BLOCK), blocks.end(accuracy.BLOCK)
        document.write_text(f"before\n{begin}old\n{end}after\n")
        script("accuracy.py", self.results, "--check", document, expect=1)
        script("accuracy.py", self.results, "--write", document)
        script("accuracy.py", self.results, "--check", document)
        text = document.read_text()
        self.assertTrue(text.startswith(f"before\n{begin}\n"))
        self.assertTrue(text.endswith(f"\n{end}after\n"))
        self.assertNotIn("old", text)

    def test_figures(self):
        script("plot.py", self.results, "--out", self.folder)
        for name, parts in [("errors", ["share of its |A||B|", "graded", "mygemm, strict"]),
                            ("frobenius", ["Frobenius", "wide", "host_blocked, forced"]),
                            ("grades", ["grade A up to here", "slope of log(error)"])]:
            content = (self.folder / f"made-{name}.svg").read_text()
            for part in [*parts, "commit "]:  # text is drawn as outlines, behind comments
                self.assertIn(part, content)

    def test_slope(self):
        self.assertAlmostEqual(accuracy.slope([(k, 3 * math.sqrt(k)) for k in DEPTHS]), 0.5)
        self.assertIsNone(accuracy.slope([(32, 1.0)]))


class Committed(unittest.TestCase):
    def test_document(self):
        script("accuracy.py", BENCH / "results" / "h200-accuracy.json", "--check",
               BENCH.parent / "docs" / "accuracy.md")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
