"""Runs bench/fit.py and bench/plot.py: on results of mygemm-bench on the host backend, and on
made-up ones whose rows are wrongly estimated by known amounts, which the fit must find.

Takes the paths of mygemm-bench and libmygemm.so. Needs matplotlib.
"""

import json
import pathlib
import random
import sys
import tempfile
import unittest

from scripts import BENCH, run, script

sys.path.insert(0, str(BENCH))
import fit  # noqa: E402

PROGRAM = LIBRARY = ""
CASES = 12  # measured
SHAPES = 250  # made up
SLOWER, MORE_US = 1.25, 6.0  # what the made-up rows take in place of their estimates
HEADINGS = ["Plan check: ", "Chosen / fastest row", "Rows", "Our speed over that of",
            "Measured / estimated, calls of under 10 µs",
            "Measured / estimated, calls of 10 µs and more",
            "Measured / estimated of calls that multiply", "Proposals"]


def random_shape(source):
    m, n, k = (4 * int(2 ** source.uniform(0, 11)) for _ in range(3))
    transa, transb = source.choice("NT"), source.choice("NT")
    return {"transa": transa, "transb": transb, "m": m, "n": n, "k": k,
            "lda": m if transa == "N" else k, "ldb": k if transb == "N" else n, "ldc": m,
            "batch": 1, "stride_a": 0, "stride_b": 0, "stride_c": 0}


class MadeUp(unittest.TestCase):
    def setUp(self):
        source = random.Random(1)
        self.planner = fit.Planner(LIBRARY, "H200")
        self.figures = fit.read_figures(fit.ROWS.read_text())
        self.cases = []
        for _ in range(SHAPES):
            shape = random_shape(source)
            chosen, estimated = self.planner.plan(shape)
            measured = {row: self.time(row, us) for row, us in estimated.items()}
            self.cases.append(fit.Case("", shape, chosen, estimated, measured, {}))

    def second_figure(self, row):
        return "step_seconds" if row in self.figures and self.figures[row].seconds else "seconds"

    def time(self, row, estimate):
        slower = self.second_figure(row) == "step_seconds"
        return estimate * SLOWER if slower else estimate + MORE_US

    def proposals(self, second_figure):
        """(figures, proposals) of the rows for which a change of this figure is proposed."""
        found = fit.classes(self.cases)
        rows = [(self.figures.get(row), fit.propose(row, found, self.figures))
                for row in fit.row_names(self.cases) if self.second_figure(row) == second_figure]
        rows = [(figures, proposals) for figures, proposals in rows if second_figure in proposals]
        self.assertTrue(rows, f"rows.cpp has no row with {second_figure} that fit.py can read")
        return rows

    def test_the_table_is_read(self):
        for row, figures in self.figures.items():
            self.assertTrue(0 < figures.efficiency <= 1, row)
            self.assertTrue(0 <= figures.seconds < 1e-3, row)
        self.assertIn("host_naive", self.figures)

    def test_rows_that_are_slower_by_a_factor(self):
        for figures, proposals in self.proposals("step_seconds"):
            now, proposed, count = proposals["step_seconds"]
            self.assertEqual(now, figures.seconds)
            self.assertAlmostEqual(proposed / now, SLOWER)
            self.assertGreaterEqual(count, fit.FEWEST)
            if "efficiency" in proposals:
                now, proposed, _ = proposals["efficiency"]
                self.assertEqual(now, figures.efficiency)
                self.assertAlmostEqual(proposed / now, 1 / SLOWER)

    def test_rows_that_are_slower_by_a_constant(self):
        for _, proposals in self.proposals("seconds"):
            self.assertAlmostEqual(proposals["seconds"][1] * 1e6, MORE_US)

    def test_planning_again(self):
        self.assertTrue(any(case.loss() > fit.WITHIN for case in self.cases))
        blank = [case._replace(chosen="", estimated={}) for case in self.cases]
        self.assertEqual(fit.planned_again(blank, self.planner), self.cases)


class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.results = cls.folder / "made.json"
        run(PROGRAM, "--backend", "host", "--hot", "--groups", "3", "--min-time", "0.02",
            "--all-rows", "--count", CASES, "--json", cls.results, "sgemm", "--suite", "random")

    def check_fit(self, text):
        places = [text.find(heading) for heading in HEADINGS]
        # Where no library was found there is nobody to be faster than.
        self.assertTrue(all(place >= 0 for heading, place in zip(HEADINGS, places)
                            if self.has_peer() or "Our speed" not in heading), text)
        self.assertRegex(text, rf"Plan check: {CASES} cases; .* geometric mean \d\.\d+")
        for row in ["host_blocked", "host_naive"]:
            self.assertRegex(text, rf"(?m)^  {row} +\d+ +\d+ +\d+$")

    def has_peer(self):
        return any(case.peers for case in fit.read_cases([json.loads(self.results.read_text())]))

    def test_fit(self):
        self.check_fit(script("fit.py", self.results))

    def test_fit_with_the_estimates_of_a_library(self):
        text = script("fit.py", self.results, "--library", LIBRARY)
        self.assertIn(f"planned by {LIBRARY} for host", text)
        self.check_fit(text)

    def test_fit_without_rows(self):
        report = json.loads(self.results.read_text())
        for result in report["results"]:
            result["rows"] = []
        bare = self.folder / "bare.json"
        bare.write_text(json.dumps(report))
        with self.assertRaisesRegex(AssertionError, "--all-rows"):
            script("fit.py", bare)

    def test_plot(self):
        text = script("plot.py", self.results, "--out", self.folder)
        figure = self.folder / "made-ratios.svg"
        self.assertEqual(figure.exists(), self.has_peer(), text)
        if figure.exists():
            content = figure.read_text()
            # Text is drawn as outlines, each behind a comment that holds it.
            for part in ["Speed of mygemm over ", f"{CASES} single FP32 products", "√(m n)",
                         "FLOP", "ratio", "m or n under 16", "commit "]:
                self.assertIn(part, content)

    def test_plot_of_committed_results(self):
        text = script("plot.py", "--out", self.folder, "--format", "png")
        self.assertIn("h200-sgemm-sgemm.png", text)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(2)
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
