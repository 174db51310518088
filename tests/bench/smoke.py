"""Runs mygemm-bench on the host backend with tiny problems and checks what it reports.

Holds the log of MYGEMM_LOG to its contract too: every line of it must be a bench command. Takes the
path of mygemm-bench; needs nothing but Python's standard library.
"""

import contextlib
import json
import math
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

PROGRAM = ""
QUICK = ["--backend", "host", "--hot", "--groups", "3", "--min-time", "0.02"]
OPERATIONS = ["sgemm", "softmax", "transpose"]
PEER_OF_EVERY_RESULT = {"sgemm": "naive", "gemm": "plain", "gemm_grouped": "loop",
                        "softmax": "copy", "transpose": "copy"}
# Numbers of results of the "tiny" suites: a run with fewer has failed.
TINY = {"sgemm": 7, "softmax": 5, "transpose": 6}
KINDS_OF_DATA = ["normal", "uniform", "uniform_signed", "wide", "scaled_lines", "scaled_depth",
                 "mixed_depth", "integers", "sparse", "identity", "disjoint", "graded"]
USUAL_DATA = "uniform_signed"
OTHER_KINDS_OF_DATA = ["relu", "softmax", "log_normal", "sparse99", "sparse999", "zero_rows",
                       "zero_columns", "zero_blocks", "one_hot", "permutation", "diagonal",
                       "all_zero", "int8", "int12", "int16", "graded_columns", "mixed_exponents",
                       "tiny"]
UNBOUNDED_KINDS_OF_DATA = ["huge", "denormal", "one_nan", "nan_rows", "half_nan", "one_inf",
                           "inf_row", "all_inf"]


def run(arguments, log=None, expect=0):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MYGEMM_")}
    if log is not None:
        environment["MYGEMM_LOG"] = str(log)
    done = subprocess.run([PROGRAM, *arguments], env=environment, text=True, timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != expect:
        raise AssertionError(f"{arguments}: exit status {done.returncode}, not {expect}\n"
                             f"{done.stdout}\n{done.stderr}")
    return done


class Smoke(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def measure(self, arguments, log=None):
        """The JSON report of a run, and its text."""
        path = self.folder / "report.json"
        done = run([*arguments, *QUICK, "--json", str(path)], log)
        return json.loads(path.read_text()), done.stdout

    def check_timing(self, entry):
        ms = entry["ms"]
        self.assertGreater(ms["min"], 0)
        self.assertLessEqual(ms["min"], ms["median"])
        self.assertLessEqual(ms["median"], ms["max"])
        self.assertGreater(entry["rate"], 0)
        self.assertGreaterEqual(entry["calls_per_group"], 1)
        self.assertEqual(entry["clock"], "host")

    def check_result(self, result, peer=None):
        self.check_timing(result)
        self.assertTrue(result["kernel"].startswith("host_"), result["kernel"])
        self.assertTrue(result["command"].startswith("mygemm " + result["operation"] + " -"))
        self.assertFalse(result["wrong"])
        names = [peer["name"] for peer in result["peers"]]
        if not result["kernel"].endswith("naive"):
            self.assertIn(peer or PEER_OF_EVERY_RESULT[result["operation"]], names)
            self.assertIsNotNone(result["error"], result["label"])
        for peer in result["peers"] + result["kernels"]:
            self.check_timing(peer)
            self.assertGreater(peer["ratio"], 0)
            ours = peer["ms"]["median"] / result["ms"]["median"]
            self.assertTrue(math.isclose(peer["ratio"], ours, rel_tol=1e-4))

    def test_tiny_suites(self):
        for operation in OPERATIONS:
            with self.subTest(operation):
                report, text = self.measure([operation, "--suite", "tiny"])
                self.assertEqual(len(report["results"]), TINY[operation])
                for result in report["results"]:
                    self.assertEqual(result["operation"], operation)
                    self.check_result(result)
                    self.assertIn(result["label"], text)
                self.assertIn("geometric mean", text.splitlines()[-1])
                for key in ["date", "mygemm", "commit", "command_line"]:
                    self.assertTrue(report[key], key)
                self.assertEqual(report["machine"]["backend"], "host")
                self.assertTrue(report["machine"]["name"])

    def test_plot(self):
        """A bar of ours and of each peer for each problem, in SVG that can be parsed."""
        path = self.folder / "plot.svg"
        report, _ = self.measure(["softmax", "--suite", "tiny", "--plot", str(path)])
        figure = xml.etree.ElementTree.parse(path).getroot()
        texts = [found.text for found in figure.iter("{http://www.w3.org/2000/svg}text")]
        for result in report["results"]:
            self.assertIn(f"softmax {result['label']}", texts)
            for rate in result["rate"], *(p["rate"] for p in result["peers"]
                                          if p["name"] != "naive"):
                self.assertIn(f"{rate:.4g} {result['unit']}", texts)
        self.assertIn(report["date"][:10], texts[-1])
        self.assertIn(report["commit"], texts[-1])

    def test_replays_the_log_of_a_real_run(self):
        log = self.folder / "calls.log"
        commands = set()
        for operation in OPERATIONS:
            report, _ = self.measure([operation, "--suite", "tiny"], log)
            commands |= {result["command"] for result in report["results"]}
        lines = log.read_text().splitlines()
        logged = {line.split("#")[0].strip() for line in lines}
        self.assertEqual(len(logged), sum(TINY.values()))
        self.assertTrue(all("status=0" in line.split("#")[1] for line in lines))

        report, text = self.measure(["replay", str(log)])
        self.assertEqual(len(report["results"]), len(logged))
        self.assertEqual(sum(result["repeats"] for result in report["results"]), len(lines))
        for result in report["results"]:
            self.check_result(result)
        self.assertIn(f"all {sum('sgemm' in line for line in lines)} calls", text)
        self.assertEqual({result["command"] for result in report["results"]}, logged)
        self.assertEqual(commands, logged)

    def test_replays_standard_input(self):
        done = subprocess.run([PROGRAM, "replay", "-", *QUICK], text=True, timeout=100,
                              input="mygemm sgemm -m 4 -n 5 -k 6 # kernel=host_naive status=0\n",
                              stdout=subprocess.PIPE, check=True)
        self.assertIn("4 x 5 x 6", done.stdout)

    def test_replays_groups(self):
        """Sizes on a GPU are not in a line: the total is divided evenly."""
        line = ("mygemm gemm_grouped --transa T --transb N -m 12 -n 40 -k 20 --lda 20 --ldb 20 "
                "--ldc 12 --ldd 12 --batch 3 --stride-a 240 --stride-b 0 --stride-c 0 --stride-d 0 "
                "--form strided --bias 0 --stride-bias 0 --activation none --c-is-d 1 --reads-c 0 "
                "--atype bf16 --dtype bf16 --sizes-of n --total 50 --sizes-on device")
        log = self.folder / "groups.log"
        log.write_text(f"{line} # kernel=grouped_tensor16 status=0\n" * 2)
        report, text = self.measure(["replay", str(log)])
        result, = report["results"]
        self.check_result(result)
        self.assertEqual((result["command"], result["repeats"]), (line, 2))
        self.assertEqual((result["shape"]["sizes_of"], result["shape"]["total"]), ("n", 50))
        self.assertIn("12 x 40 x 20 TN, 3 strided, n of 50", text)
        flop = result["rate"] * 1e9 * result["ms"]["median"] * 1e-3
        self.assertTrue(math.isclose(flop, 2 * 12 * 50 * 20, rel_tol=1e-3), flop)

    def test_progress_on_a_terminal(self):
        terminal, side = pty.openpty()
        process = subprocess.Popen([PROGRAM, "sgemm", "--suite", "tiny", *QUICK[:-2], "--min-time",
                                    "20"],
                                   stdout=subprocess.DEVNULL, stderr=side)
        os.close(side)
        text = b""
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(terminal, 4096):
                text += part
        os.close(terminal)
        self.assertEqual(process.wait(100), 0)
        self.assertRegex(text.decode(), r"\rmeasuring +\[#*\.*\] +\d+ %, \d+ s")

    def test_a_log_line_is_a_bench_command(self):
        log = self.folder / "calls.log"
        self.measure(["sgemm", "-m", "5", "-n", "6", "-k", "7", "--transb", "T"], log)
        self.measure(["sgemm", "-m", "5", "-n", "6", "-k", "7", "--invariance", "batch"], log)
        self.measure(["gemm", "-m", "5", "-n", "6", "-k", "7", "--atype", "bf16", "--invariance",
                      "batch"], log)
        for types in ["--btype", "bf16"], ["--atype", "bf16", "--btype", "f32"]:
            self.measure(["gemm", "-m", "5", "-n", "6", "-k", "7", *types], log)
        self.measure(["gemm", "-m", "5", "-n", "6", "-k", "7", "--bias", "1", "--batch", "2",
                      "--activation", "gelu", "--c-is-d", "0", "--reads-c", "1"], log)
        group = ["gemm_grouped", "-m", "5", "-k", "7", "--batch", "3", "--sizes-on", "host"]
        self.measure([*group, "--sizes-of", "n", "--total", "11"], log)
        self.measure([*group, "-n", "6", "--sizes-of", "m,k", "--activation", "gelu", "--c-is-d",
                      "0", "--reads-c", "1"], log)
        self.measure(["softmax", "--rows", "3", "--cols", "9", "--direction", "backward"], log)
        self.measure(["transpose", "--rows", "3", "--cols", "9", "--in-place", "1"], log)
        for line in {line.split("#")[0].strip() for line in log.read_text().splitlines()}:
            with self.subTest(line):
                report, _ = self.measure(line.split()[1:])
                self.assertEqual([result["command"] for result in report["results"]], [line])

    def test_unusual_layouts(self):
        for command in [
            "sgemm -m 9 -n 8 -k 7 --batch 3 --stride-a -100 --stride-b 0 --stride-c 80 --ldc 10",
            "sgemm -m 4 -n 5 -k 6 --lda 40 --batch 2 --form pointers",
            "gemm -m 9 -n 8 -k 7 --batch 3 --ldc 10 --stride-c -100 --ldd 9 --c-is-d 0 --reads-c 1",
            "gemm -m 4 -n 5 -k 6 --batch 2 --form pointers --bias 1 --activation relu --c-is-d 0",
            "gemm -m 4 -n 5 -k 6 --reads-c 1 --activation gelu",
            "gemm_grouped -m 9 -k 7 --batch 3 --sizes-of n --total 11 --transa T --ldd 12 --bias 1",
            "gemm_grouped -n 5 -k 6 --batch 3 --sizes-of m --total 8 --transa T --transb T",
            "gemm_grouped -m 4 -n 5 --batch 3 --sizes-of k --total 2 --atype bf16 --reads-c 1",
            "gemm_grouped -m 4 -n 5 -k 6 --batch 2 --form pointers --sizes-of m,k --c-is-d 0",
            "gemm_grouped -m 4 -n 5 -k 6 --data half_nan --batch 2 --sizes-of n --total 9",
            "transpose --rows 5 --cols 7 --element-size 1 --batch 3 --stride-in -37",
            "softmax --rows 5 --cols 7 --ldx 9 --ldy 8 --xtype f16 --ytype f32",
        ]:
            with self.subTest(command):
                report, _ = self.measure(command.split())
                self.check_result(report["results"][0])

    def test_types_of_products(self):
        for types in ["--atype f16 --dtype bf16", "--btype bf16", "--atype bf16 --btype f32"]:
            for form in ["--batch 2 --form pointers --sums b", "--batch 3 --bias 1", "--transa T"]:
                command = f"gemm -m 64 -n 50 -k 30 {form} {types}"
                with self.subTest(command):
                    report, _ = self.measure(command.split())
                    self.check_result(report["results"][0], "naive")

    def test_every_kernel(self):
        report, text = self.measure(["sgemm", "-m", "70", "-n", "50", "-k", "30", "--all-kernels"])
        result = report["results"][0]
        kernels = {kernel["name"] for kernel in result["kernels"]} | {result["kernel"]}
        self.assertTrue({"host_naive", "host_blocked"} <= kernels, kernels)
        self.assertTrue(all(kernel["estimated_us"] > 0 for kernel in result["kernels"]))
        self.assertIn("the plan chose", text)

    def test_kernels_of_near_estimates(self):
        def estimates(*near):
            report, _ = self.measure(["sgemm", "-m", "700", "-n", "5", "-k", "30", "--no-naive",
                                      "--all-kernels", *near])
            result = report["results"][0]
            return {entry.get("name", result["kernel"]): entry["estimated_us"]
                    for entry in [result, *result["kernels"]]}
        every = estimates()
        self.assertEqual(estimates("--near", "1e9"), every)
        longest = sorted(every.values())[len(every) // 2]
        self.assertEqual(estimates("--near", str(1.01 * longest / min(every.values()))),
                         {name: time for name, time in every.items() if time <= longest})

    def test_forced_kernel(self):
        report, _ = self.measure(["transpose", "--rows", "64", "--cols", "32", "--force",
                                  "host_naive"])
        self.assertEqual(report["results"][0]["kernel"], "host_naive")

    def test_suite_of_data(self):
        report, text = self.measure(["sgemm", "--suite", "data"])
        kinds = [*KINDS_OF_DATA, *OTHER_KINDS_OF_DATA, *UNBOUNDED_KINDS_OF_DATA]
        results = report["results"]
        self.assertEqual([(r["shape"].get("data", USUAL_DATA), r["shape"]["n"]) for r in results],
                         [(kind, n) for n in [64, 256] for kind in kinds])
        self.assertIn(f"times over those of {USUAL_DATA} data:", text)
        for result in results:
            self.check_result(result)
            kind = result["shape"].get("data")
            self.assertEqual(result["label"].endswith(f" NN, {kind}" if kind else " NN"), True)
            self.assertEqual(result["command"].endswith(f" --data {kind}"), kind is not None)
            self.assertIn(result["label"], text)
            if kind:
                self.assertRegex(text, rf"(?m)^  {kind} +[\d.]+ \(64 x .*\) +[\d.]+ \(256 x .*\)$")

    def test_data_in_every_form(self):
        for command in [
            "sgemm -m 9 -n 8 -k 7 --data half_nan --transa T --lda 12",
            "sgemm -m 9 -n 8 -k 7 --data permutation --batch 3 --stride-a -100 --ldb 9 --transb T",
            "sgemm -m 4 -n 5 -k 6 --data softmax --batch 2 --form pointers",
            "gemm -m 4 -n 5 -k 6 --data one_inf --bias 1 --activation relu",
            f"sgemm -m 4 -n 5 -k 6 --data {USUAL_DATA}",
        ]:
            with self.subTest(command):
                report, _ = self.measure(command.split())
                self.check_result(report["results"][0])

    def test_overhead(self):
        report, text = self.measure(["overhead"])
        figures = {figure["name"]: figure for figure in report["overhead"]}
        for name in ["a handle", "validate + plan, sgemm", "validate + plan, softmax",
                     "validate + plan, transpose"]:
            self.assertIn(name, text)
            self.assertGreater(figures[name]["median"], 0)

    def test_help_names_kinds_of_data(self):
        for operation, missing in [("sgemm", []), ("gemm", []),
                                   ("accuracy", UNBOUNDED_KINDS_OF_DATA)]:
            text = run([operation, "--help"]).stdout
            for kind in [*KINDS_OF_DATA, *OTHER_KINDS_OF_DATA, *UNBOUNDED_KINDS_OF_DATA]:
                with self.subTest(f"{operation} {kind}"):
                    self.assertEqual(kind in text.replace(",", " ").replace("{", " ").replace(
                        "}", " ").split(), kind not in missing)

    def test_accuracy_of_other_data(self):
        report, _ = self.measure(["accuracy", "-m", "48", "-n", "41", "-k", "72", "--data",
                                  ",".join(OTHER_KINDS_OF_DATA)])
        self.assertEqual([result["data"] for result in report["accuracy"]], OTHER_KINDS_OF_DATA)
        for result in report["accuracy"]:
            self.assertFalse(any(entry["wrong"] for entry in result["errors"]), result["data"])

    def check_errors(self, result, expected):
        """Checks a product: `expected` has the names of all that computed it, and kernels."""
        kernels = {entry["name"]: entry["kernel"] for entry in result["errors"]}
        self.assertEqual({name: kernel for name, kernel in kernels.items() if kernel}, expected)
        peers = [name for name, kernel in kernels.items() if not kernel]
        self.assertEqual(result["peer"], peers[0] if peers else None)
        for entry in result["errors"]:
            with self.subTest(f"{result['data']}, {entry['name']}"):
                self.assertFalse(entry["wrong"])
                exact = result["data"] in ["integers", "identity"]  # on the host
                for measure in ["max", "frobenius"]:
                    least, most = (0, 0) if exact else (2**-30, result["k"] * 2**-23)
                    self.assertTrue(least <= entry[measure] <= most, entry[measure])

    def test_accuracy(self):
        report, text = self.measure(["accuracy", "-m", "48", "-n", "41", "-k", "36,72", "--ops",
                                     "NN,TN", "--all-kernels", "--force", "host_naive", "--also",
                                     "host_blocked,host_naive"])
        results = report["accuracy"]
        data = [result["data"] for result in results[:len(results) // 4]]
        self.assertEqual(data, KINDS_OF_DATA)
        self.assertEqual([(r["data"], r["op"], r["m"], r["n"], r["k"]) for r in results],
                         [(kind, op, 48, 41, k) for op in ["NN", "TN"] for k in [36, 72]
                          for kind in data])
        for result in results:
            strict = result["errors"][1]["kernel"]  # forced is only the mode of the run
            expected = {"default": "host_naive", "strict": strict, "host_blocked": "host_blocked",
                        "host_naive": "host_naive", "host_cblas": "host_cblas"}
            if not result["peer"]:
                del expected["host_cblas"]
            self.check_errors(result, expected)
            self.assertIn(result["data"], text)
        self.assertIn("errors at most those of strict: largest in", text)
        # Powers of two that every error and its measure share change nothing.
        normal, lines, depth = (results[data.index(name)]["errors"]
                                for name in ["normal", "scaled_lines", "scaled_depth"])
        self.assertEqual([entry["max"] for entry in normal], [entry["max"] for entry in lines])
        self.assertEqual(normal, depth)

    def test_accuracy_of_a_kernel_forced_by_the_environment(self):
        with unittest.mock.patch.dict(os.environ, {"MYGEMM_FORCE_GEMM": "host_naive"}):
            done = subprocess.run([PROGRAM, "accuracy", "-m", "9", "-n", "9", "-k", "9", "--data",
                                   "normal", *QUICK], text=True, timeout=100,
                                  stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "default +host_naive")
        self.assertNotRegex(done.stdout, "strict +host_naive")

    def test_accuracy_in_strict_mode(self):
        report, _ = self.measure(["accuracy", "-m", "9", "-n", "9", "-k", "9", "--data", "normal",
                                  "--math", "strict", "--no-naive", "--seed", "2"])
        result, = report["accuracy"]
        self.assertEqual([entry["name"] for entry in result["errors"] if entry["kernel"]],
                         ["strict"])

    def test_bad_input(self):
        log = self.folder / "bad.log"
        log.write_text("# nothing\nmygemm sgemm -m 4 -n 4 -k 4 # kernel=x status=7\n"
                       "mygemm sgemm -q\n")
        huge = self.folder / "huge.log"
        huge.write_text("mygemm sgemm -m 99999999999999999999 -n 4 -k 4 # kernel=x status=0\n")
        empty = self.folder / "empty.log"
        empty.write_text("mygemm sgemm -m 0 -n 4 -k 4 # kernel=none status=0\n"
                         "mygemm sgemm -m 4 -n 4 -k 4 # kernel=none status=7\n")
        for arguments, status, sentence in [
            (["sgemm", "-m", "4", "-n", "4"], 2, "-k = 0"),
            (["replay", str(log)], 2, "bad.log:3"),
            (["replay", str(empty)], 2, "empty.log: has no call that succeeded"),
            (["replay", str(huge)], 2, "huge.log:1: -m: 99999999999999999999 is not an integer"),
            (["replay", "/nowhere/at/all"], 2, "cannot read /nowhere/at/all"),
            (["sgem", "-m", "4"], 106, "sgem is not a subcommand of mygemm-bench; did you mean"),
            (["sgemm", "-m", "99999999999999999999"], 105, "is not an integer of 64 bits"),
            (["sgemm", "-m", "4", "--backend", "tpu"], 105,
             "--backend: tpu is none of auto, cuda and host"),
            (["sgemm", "-m", "4", "-n", "4", "-k", "4", "--json", "/nowhere/at/all"], 2,
             "/nowhere/at/all"),
            (["sgemm", "-m", "4", "-n", "4", "-k", "4", "--force", "nonsense"], 1, "nonsense"),
            (["gemm_grouped", "-m", "4", "-n", "4", "-k", "4", "--total", "8"], 2,
             "--total: matrices are stacked along one size"),
            (["sgemm", "-m", "4", "-n", "4", "-k", "4", "--near", "2"], 107,
             "--near requires --all-kernels"),
            (["gemm_grouped", "--sizes-of", "m,x"], 105, "x not in {m,n,k}"),
            (["accuracy", "-m", "4", "-n", "4", "-k", "4,0"], 2, "-k = 0"),
            (["accuracy", "-m", "4", "-n", "4", "-k", "4", "--data", "one_nan"], 105, "one_nan"),
            (["sgemm", "-m", "4", "-n", "4", "-k", "4", "--data", "salt"], 105, "salt"),
            (["accuracy", "-m", "4", "-n", "4", "-k", "4", "--force", "nonsense"], 1, "nonsense"),
        ]:
            with self.subTest(arguments):
                done = run([*arguments, *QUICK], expect=status)
                self.assertIn(sentence, done.stdout + done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
