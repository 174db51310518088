"""Runs bench/fit.py and bench/plot.py: on results of mygemm-bench on the host backend, and on
made-up ones whose kernels are wrongly estimated by known amounts, which the fit must find.

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
import runs  # noqa: E402

PROGRAM = LIBRARY = ""
CASES = 12  # measured
SHAPES = 250  # made up
SLOWER, MORE_US = 1.25, 6.0  # what the made-up kernels take in place of their estimates
HEADINGS = ["Plan check: ", "Chosen / fastest kernel by class", "Chosen / fastest kernel, worst",
            "Kernels", "Our speed over that of",
            "Measured / estimated, calls of under 10 µs",
            "Measured / estimated, calls of 10 µs and more",
            "Measured / estimated of calls that multiply", "Proposals"]


def random_shape(source):
    """A quarter of the shapes are thin: some kernels take no others."""
    m, n, k = (4 * int(2 ** source.uniform(0, 11)) for _ in range(3))
    if source.random() < 0.25:
        m = source.randint(1, 16)
    transa, transb = source.choice("NT"), source.choice("NT")
    return {"transa": transa, "transb": transb, "m": m, "n": n, "k": k,
            "lda": m if transa == "N" else k, "ldb": k if transb == "N" else n, "ldc": m,
            "batch": 1, "stride_a": 0, "stride_b": 0, "stride_c": 0}


def explained_kernels(planner, shape):
    """The first word of each line below "all kernels:", however the line goes on."""
    lines = planner.explanation(shape).partition("\nall kernels:\n")[2].splitlines()
    return [line.split()[0] for line in lines]


class MadeUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        source = random.Random(1)
        cls.planner = fit.Planner(LIBRARY, "H200", "fast")  # which every kernel may compute
        shapes = [random_shape(source) for _ in range(SHAPES)]
        plans = [cls.planner.plan(shape) for shape in shapes]
        cls.figures = cls.planner.figures
        cls.cases = []
        for shape, (chosen, estimated) in zip(shapes, plans):
            measured = {kernel: cls.time(kernel, us) for kernel, us in estimated.items()}
            cls.cases.append(fit.Case("", shape, chosen, estimated, measured, {}))

    @classmethod
    def second_figure(cls, kernel):
        return "step_seconds" if "step_seconds" in cls.figures[kernel] else "seconds"

    @classmethod
    def time(cls, kernel, estimate):
        slower = cls.second_figure(kernel) == "step_seconds"
        return estimate * SLOWER if slower else estimate + MORE_US

    def proposals(self, second_figure):
        """(figures, proposals) of the kernels for which a change of this figure is proposed."""
        found = fit.classes(self.cases)
        kernels = [(self.figures[kernel], fit.propose(kernel, found, self.figures))
                   for kernel in fit.kernel_names(self.cases)
                   if self.second_figure(kernel) == second_figure]
        kernels = [(figures, proposals) for figures, proposals in kernels
                   if second_figure in proposals]
        self.assertTrue(kernels, f"no kernel gets a proposal for {second_figure}")
        return kernels

    def test_every_kernel_of_the_library_is_seen(self):
        for device in ["H200", "RTX 4090", "host"]:
            planner = self.planner if device == "H200" else fit.Planner(LIBRARY, device)
            for case in self.cases[:5]:
                planner.plan(case.shape)
            kernels = explained_kernels(planner, self.cases[0].shape)
            self.assertEqual(len(kernels), len(set(kernels)))
            self.assertEqual(planner.kernels, set(kernels), device)
        # Products of mygemm_sgemm run on no kernel of 16-bit operands, and pack none of FP32.
        of_floats = {name for name in self.planner.kernels
                     if not name.startswith(("tensor16_", "thin16_", "mixed_", "packed"))}
        self.assertEqual(set(self.figures), of_floats)
        self.assertEqual(set(fit.kernel_names(self.cases)), of_floats)

    def test_the_figures_are_read(self):
        for kernel, figures in self.figures.items():
            self.assertTrue(0 < figures["efficiency"] <= 4, kernel)
            self.assertTrue(0 <= figures.get("step_seconds", 0) < 1e-3, kernel)
        self.assertIn("step_seconds", self.figures["warptiled_128x128"])
        self.assertIn("misaligned", self.figures["bf16x6_128x128"])
        self.assertIn("column_seconds", self.figures["sliced_64x64"])
        self.assertNotIn("step_seconds", self.figures["thin_1"])

    def test_kernels_that_are_slower_by_a_factor(self):
        for figures, proposals in self.proposals("step_seconds"):
            now, proposed, count = proposals["step_seconds"]
            self.assertEqual(now, figures["step_seconds"])
            self.assertAlmostEqual(proposed / now, SLOWER)
            self.assertGreaterEqual(count, fit.FEWEST)
            if "efficiency" in proposals:
                now, proposed, _ = proposals["efficiency"]
                self.assertEqual(now, figures["efficiency"])
                self.assertAlmostEqual(proposed / now, 1 / SLOWER)

    def test_kernels_that_are_slower_by_a_constant(self):
        for _, proposals in self.proposals("seconds"):
            self.assertAlmostEqual(proposals["seconds"][1] * 1e6, MORE_US)

    def test_every_shape_has_a_class(self):
        names = {fit.shape_class(case.shape) for case in self.cases}
        self.assertLess({"a side of 2 to 16", "k up to 250", "long k, many results"}, names)

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
            "--all-kernels", "--count", CASES, "--json", cls.results, "sgemm", "--suite", "random")

    def check_fit(self, text):
        places = [text.find(heading) for heading in HEADINGS]
        # Where no library was found there is nobody to be faster than.
        self.assertTrue(all(place >= 0 for heading, place in zip(HEADINGS, places)
                            if self.has_peer() or "Our speed" not in heading), text)
        self.assertRegex(text, rf"Plan check: {CASES} cases; .* geometric mean \d+\.\d+")
        for kernel in ["host_blocked", "host_naive"]:
            self.assertRegex(text, rf"(?m)^  {kernel} +\d+ +\d+ +\d+$")

    def has_peer(self):
        return any(case.peers for case in fit.read_cases([runs.load(self.results)]))

    def test_fit(self):
        self.check_fit(script("fit.py", self.results))

    def test_figures_of_the_results(self):
        figures = fit.recorded_figures([runs.load(self.results)])
        planner = fit.Planner(LIBRARY, "host")
        planner.plan(fit.read_cases([runs.load(self.results)])[0].shape)
        self.assertEqual(figures, {name: planner.figures[name] for name in figures})
        self.assertLessEqual({"host_blocked", "host_naive"}, set(figures))

    def test_fit_with_the_estimates_of_a_library(self):
        text = script("fit.py", self.results, "--library", LIBRARY)
        self.assertIn(f"planned by {LIBRARY} for host", text)
        self.check_fit(text)

    def test_math_modes_are_not_mixed(self):
        report = runs.load(self.results)
        report["command_line"] += ["--math", "strict"]
        strict = self.folder / "strict.json"
        strict.write_text(json.dumps(report))
        self.assertIn("strict math", script("fit.py", strict, "--library", LIBRARY))
        text = script("fit.py", self.results, strict, expect=1)
        self.assertIn("different math modes: default, strict", text)

    def test_fit_without_kernels(self):
        report = runs.load(self.results)
        for result in report["results"]:
            result["kernels"] = []
        bare = self.folder / "bare.json"
        bare.write_text(json.dumps(report))
        with self.assertRaisesRegex(AssertionError, "--all-kernels"):
            script("fit.py", bare)

    def test_plot(self):
        text = script("plot.py", self.results, "--out", self.folder)
        figure = self.folder / "made-ratios.svg"
        self.assertEqual(figure.exists(), self.has_peer(), text)
        if figure.exists():
            content = figure.read_text()
            # Text is drawn as outlines, each behind a comment that holds it.
            for part in ["Speed of mygemm over ", f"{CASES} single FP32 products", "m n",
                         "FLOP", "ratio", "m or n under 16", "commit "]:
                self.assertIn(part, content)

    def test_plot_of_committed_results(self):
        text = script("plot.py", "--out", self.folder, "--format", "png")
        self.assertIn("h200-sgemm-sgemm.png", text)


if __name__ == "__main__":
    LIBRARY = sys.argv.pop(2)
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
