#!/usr/bin/python3
"""Checks the plan of matrix products against measurements, and proposes figures for its table.

Usage: bench/fit.py RESULT.json ... [--library libmygemm.so] [--device H200]

The results are of `mygemm-bench --all-rows --json RESULT.json --count 300 sgemm --suite
random,squares,ops`, all of one machine. Rows are compared by their medians. Prints

- the plan check: how often the plan chose the fastest row or one within 5 % of it, where it lost
  most, and for each row how often it was chosen and how often it was the fastest;
- our speed over each library's, and where it is least;
- measured over estimated time of each row, short and long calls apart, and by op and alignment;
- figures for src/kernels/gemm/rows.cpp that would bring estimates closer to measurements.

The model is not written here again. Proposals look at calls of a row that take less than twice as
long as the fastest row: others are not chosen anyway. A call's class is read off its estimates
alone: it *moves* where its bytes a second are over half of the most that any estimate promises;
else it *multiplies* where its FLOP/s are over 0.6 of the most that the row's estimates promise;
else it *waits*. The proposals are first steps, each of which sets a median to rights while the rest
stays as it is:

- efficiency, divided by the median of measured / estimated over the calls that multiply, those
  with aligned operands alone if there are enough;
- step_seconds, multiplied by that median over the calls that wait. For rows that have none the
  median of measured - estimated is shown: it belongs to the constants of src/plan/gemm.cpp.

One figure moves the calls of the others a little, so repeat until proposals stay within 2 %: write
them to rows.cpp, build the library (preset host-only will do), and call this again with --library:
all estimates are then that library's, on the measurements at hand, and no GPU is needed. Then
measure again. Random sizes are mostly misaligned and mostly small: the other suites have the
aligned and the large products that the efficiencies need.
"""

import argparse
import collections
import ctypes
import json
import math
import os
import pathlib
import re
import statistics
import sys
import typing

ROWS = pathlib.Path(__file__).resolve().parent.parent / "src" / "kernels" / "gemm" / "rows.cpp"
NAIVE = "naive"  # among the peers: a row of ours
WITHIN = 1.05  # of the fastest row is as good
SHORT_PEER, SHORT_CALL = 5.0, 10.0  # microseconds
MOVING, MULTIPLYING = 0.5, 0.6  # shares of the highest rates that estimates promise
WORST = 15  # lines of a list
FEWEST = 5  # calls that a proposal may rest on
NEAR = 2.0  # times the fastest row's time: what takes longer need not be estimated well
# The functions that rows.cpp makes rows with: those that take an efficiency and step_seconds, and
# those that take an efficiency.
WITH_SECONDS, WITHOUT = "measured", "fed_row|thin_row"
WORKSPACE = 1 << 40  # as much as any row wants: what --all-rows lends


class Case(typing.NamedTuple):
    label: str
    shape: dict
    chosen: str  # row
    estimated: dict  # microseconds by row
    measured: dict  # microseconds by row
    peers: dict  # microseconds by library

    def ours(self):
        return self.measured[self.chosen]

    def fastest(self):
        return min(self.measured, key=self.measured.get)

    def loss(self):
        return self.ours() / self.measured[self.fastest()]


class Figures(typing.NamedTuple):
    """What rows.cpp says of a row."""
    efficiency: float
    seconds: float = 0.0


def microseconds(entry):
    return entry["ms"]["median"] * 1e3


def misaligned(shape):
    return shape["lda"] % 4 != 0 or shape["ldb"] % 4 != 0


def label_of(result):
    shape = result["shape"]
    return result["label"] + (", misaligned" if misaligned(shape) else "")


def read_cases(runs):
    """The products of some runs for which there are other rows to compare with."""
    cases = []
    for run in runs:
        for result in run["results"]:
            if result["operation"] != "sgemm" or not result.get("rows"):
                continue
            entries = {result["row"]: result, **{row["name"]: row for row in result["rows"]}}
            cases.append(Case(
                label_of(result), result["shape"], result["row"],
                {name: entry["estimated_us"] for name, entry in entries.items()},
                {name: microseconds(entry) for name, entry in entries.items()},
                {peer["name"]: microseconds(peer) for peer in result["peers"]
                 if peer["name"] != NAIVE}))
    return cases


class Planner:
    """The plans of a libmygemm for a device, which need not be here."""

    def __init__(self, library, device):
        os.environ["MYGEMM_BACKEND"] = "host"
        os.environ.pop("MYGEMM_FORCE_GEMM", None)
        self.abi = ctypes.CDLL(str(pathlib.Path(library).resolve()))
        self.abi.mygemm_last_error.restype = ctypes.c_char_p
        self.device = device
        self.handle = ctypes.c_void_p()
        self.check(self.abi.mygemm_create(ctypes.byref(self.handle)))
        # Explaining follows no pointer: any aligned one says how large the workspace is.
        self.check(self.abi.mygemm_set_workspace(self.handle, ctypes.c_void_p(256),
                                                     ctypes.c_size_t(WORKSPACE)))

    def check(self, status):
        if status != 0:
            sys.exit(f"{self.abi._name}: {self.abi.mygemm_last_error().decode()}")

    def plan(self, shape):
        """The row chosen for a product, and microseconds by row."""
        def numbers(*keys):
            return [ctypes.c_int64(shape[key]) for key in keys]
        text = ctypes.create_string_buffer(1 << 14)
        self.check(self.abi.mygemm_explain_sgemm(
            self.handle, self.device.encode(), *("NTC".index(shape[op]) for op in
                                                 ["transa", "transb"]),
            *numbers("m", "n", "k"), None, *numbers("lda", "stride_a"),
            None, *numbers("ldb", "stride_b"), None, *numbers("ldc", "stride_c", "batch"),
            text, ctypes.c_size_t(len(text)), None))
        answer = text.value.decode()
        rows = re.findall(r"^  (\w+) +([\d.]+) us$", answer, re.M)
        return (re.match(r"chosen: (\w+)", answer)[1],
                {name: float(estimate) for name, estimate in rows})


def planned_again(cases, planner):
    """The cases with another library's choices and estimates, where what it chose was measured."""
    again = []
    for case in cases:
        chosen, estimated = planner.plan(case.shape)
        if chosen in case.measured:
            again.append(case._replace(chosen=chosen, estimated=estimated))
    if len(again) < len(cases):
        print(f"{len(cases) - len(again)} cases left out: the row now chosen was not measured")
    return again


def read_figures(text):
    """Figures by row from the text of rows.cpp."""
    figures = {name: Figures(float(efficiency), float(seconds))
               for name, efficiency, seconds in re.findall(
                   rf'{WITH_SECONDS}\([^"]*"(\w+)"[^"]*?(0\.\d+),\s+([\d.e-]+)', text)}
    for name, efficiency in re.findall(rf'(?:{WITHOUT})<[^"]*"(\w+)"[^"]*?(0\.\d+),', text):
        figures[name] = Figures(float(efficiency))
    for name, efficiency in re.findall(r'\.name = "(\w+)"[^"]*?\.efficiency = ([\d.]+)', text):
        figures[name] = Figures(float(efficiency))
    return figures


def print_table(title, header, lines):
    print(f"\n{title}")
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    for line in [header, *lines]:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        print("  " + "  ".join(cells).rstrip())


def mean(ratios):
    return f"{statistics.geometric_mean(ratios):.3f}" if ratios else "-"


def print_plan_check(cases):
    losses = [case.loss() for case in cases]
    good = sum(loss <= WITHIN for loss in losses)
    print(f"Plan check: {len(cases)} cases; the chosen row is within 5 % of the fastest in "
          f"{100 * good / len(cases):.1f} %; geometric mean {mean(losses)}, "
          f"worst {max(losses):.2f}")
    worst = sorted((case for case in cases if case.loss() > 1), key=Case.loss, reverse=True)[:WORST]
    lines = []
    for case in worst:
        best = case.fastest()
        lines.append([case.label, f"{case.loss():.2f}",
                      *row_cells(case, case.chosen), *row_cells(case, best)])
    print_table("Chosen / fastest row, worst first (µs)",
                ["case", "factor", "chosen", "time", "estimate", "fastest", "time", "estimate"],
                lines)
    chosen = collections.Counter(case.chosen for case in cases)
    fastest = collections.Counter(case.fastest() for case in cases)
    both = collections.Counter(case.chosen for case in cases if case.chosen == case.fastest())
    print_table("Rows", ["row", "chosen", "fastest", "both"],
                [[row, str(chosen[row]), str(fastest[row]), str(both[row])]
                 for row in row_names(cases)])


def row_cells(case, row):
    estimate = case.estimated.get(row)
    return [row, f"{case.measured[row]:.2f}", f"{estimate:.2f}" if estimate else "-"]


def row_names(cases):
    return list(dict.fromkeys(row for case in cases for row in sorted(case.measured)))


def print_peers(cases):
    for peer in dict.fromkeys(name for case in cases for name in case.peers):
        contests = [(case.peers[peer] / case.ours(), case) for case in cases if peer in case.peers]
        lines = []
        for name, short in [(f"{peer} under {SHORT_PEER:g} µs", True),
                            (f"{peer} over {SHORT_PEER:g} µs", False)]:
            ratios = [ratio for ratio, case in contests
                      if (case.peers[peer] < SHORT_PEER) == short]
            if ratios:
                lines.append([name, str(len(ratios)), mean(ratios), f"{min(ratios):.2f}",
                              f"{max(ratios):.2f}", f"{sum(r < 1 for r in ratios)}"])
        print_table(f"Our speed over that of {peer}",
                    ["where", "cases", "geometric mean", "worst", "best", "below 1"], lines)
        contests.sort(key=lambda contest: contest[0])
        print_table(f"Our speed over that of {peer}, worst first (µs)",
                    ["case", "ratio", "chosen", "time", "estimate", peer],
                    [[case.label, f"{ratio:.2f}", *row_cells(case, case.chosen),
                      f"{case.peers[peer]:.2f}"] for ratio, case in contests[:WORST]])


def estimated_rows(cases):
    """(row, case, measured / estimated) where a row has both."""
    return [(row, case, time / case.estimated[row]) for case in cases
            for row, time in case.measured.items() if case.estimated.get(row)]


def print_accuracy(cases):
    ratios = collections.defaultdict(list)
    for row, case, ratio in estimated_rows(cases):
        ratios[row, case.measured[row] < SHORT_CALL].append(ratio)
    for title, short in [(f"under {SHORT_CALL:g} µs", True),
                         (f"{SHORT_CALL:g} µs and more", False)]:
        lines = []
        for row in row_names(cases):
            sample = ratios[row, short]
            if len(sample) >= 2:
                quartiles = statistics.quantiles(sample, n=4, method="inclusive")
                lines.append([row, str(len(sample)), mean(sample)] +
                             [f"{quartile:.3f}" for quartile in quartiles])
        print_table(f"Measured / estimated, calls of {title}",
                    ["row", "cases", "geometric mean", "1st quartile", "median", "3rd quartile"],
                    lines)


def flops(shape):
    return 2.0 * shape["m"] * shape["n"] * shape["k"] * shape["batch"]


def least_bytes(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    return 4.0 * (k * (m + n) + m * n) * shape["batch"]


def classes(cases):
    """{(row, class): [case]} where the row is near the fastest; the docstring above says which
    class is what."""
    rows = [(row, case) for row, case, _ in estimated_rows(cases)]
    most_bytes = max(least_bytes(case.shape) / case.estimated[row] for row, case in rows)
    most_flops = collections.defaultdict(float)
    for row, case in rows:
        most_flops[row] = max(most_flops[row], flops(case.shape) / case.estimated[row])
    found = collections.defaultdict(list)
    for row, case in rows:
        if case.measured[row] > NEAR * case.measured[case.fastest()]:
            continue
        if least_bytes(case.shape) / case.estimated[row] > MOVING * most_bytes:
            name = "moves"
        elif flops(case.shape) / case.estimated[row] > MULTIPLYING * most_flops[row]:
            name = "multiplies"
        else:
            name = "waits"
        found[row, name].append(case)
    return found


def print_ops(cases, found):
    kinds = [(a + b, odd) for odd in [False, True] for a in "NT" for b in "NT"]
    lines = []
    for row in row_names(cases):
        by_kind = collections.defaultdict(list)
        for case in found[row, "multiplies"]:
            kind = case.shape["transa"] + case.shape["transb"], misaligned(case.shape)
            by_kind[kind].append(case.measured[row] / case.estimated[row])
        if by_kind:
            lines.append([row] + [mean(by_kind[kind]) for kind in kinds])
    print_table("Measured / estimated of calls that multiply, by op and alignment of A and B",
                ["row"] + [op + (" misaligned" if odd else "") for op, odd in kinds], lines)


def aligned_if_enough(cases):
    aligned = [case for case in cases if not misaligned(case.shape)]
    return aligned if len(aligned) >= FEWEST else cases


def propose(row, found, figures):
    """New efficiency and second figure of a row as {name: (now, proposal, cases)}; `now` is None,
    and the proposal a factor or a difference, where rows.cpp says nothing of it."""
    proposals = {}
    known = figures.get(row, Figures(math.nan))
    busy = aligned_if_enough(found[row, "multiplies"])
    if len(busy) >= FEWEST:
        factor = 1 / statistics.median(case.measured[row] / case.estimated[row] for case in busy)
        proposals["efficiency"] = ((known.efficiency, known.efficiency * factor, len(busy))
                                   if row in figures else (None, factor, len(busy)))
    waits = [(case.measured[row], case.estimated[row]) for case in found[row, "waits"]]
    if len(waits) < FEWEST:
        return proposals
    more = statistics.median(measured - estimated for measured, estimated in waits) * 1e-6
    if known.seconds:
        factor = statistics.median(measured / estimated for measured, estimated in waits)
        proposals["step_seconds"] = (known.seconds, known.seconds * factor, len(waits))
    else:
        proposals["seconds"] = (None, more, len(waits))
    return proposals


def proposal_cells(name, proposal):
    if proposal is None:
        return ["", "", "", ""]
    now, proposed, count = proposal
    if name == "efficiency":
        change = f"{now:.3f} -> {proposed:.3f}" if now else f"x {proposed:.3f}"
    else:
        change = (f"{now * 1e6:.2f} -> {proposed * 1e6:.2f} µs" if now
                  else f"{proposed * 1e6:+.2f} µs")
    return [name, change, f"{100 * (proposed / now - 1):+.1f} %" if now else "", f"{count} cases"]


def print_proposals(cases, found, figures):
    lines = []
    for row in row_names(cases):
        proposals = propose(row, found, figures)
        second = next((name for name in proposals if name != "efficiency"), None)
        lines.append([row, *proposal_cells("efficiency", proposals.get("efficiency")),
                      *proposal_cells(second, proposals.get(second))])
    print_table(f"Proposals; a blank: fewer than {FEWEST} cases",
                ["row", "", "", "", "", "", "", "", ""], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--library", help="a libmygemm.so whose plan and estimates to use")
    parser.add_argument("--device", help="its name for the device; default: that of the results")
    arguments = parser.parse_args()
    runs = [json.loads(file.read_text()) for file in arguments.results]
    machines = {run["machine"]["name"] for run in runs}
    if len(machines) > 1:
        sys.exit(f"results of different machines: {', '.join(sorted(machines))}")
    cases = read_cases(runs)
    print(f"{machines.pop()}, commit {', '.join(dict.fromkeys(run['commit'] for run in runs))}")
    if arguments.library:
        name = runs[0]["machine"]["name"].removeprefix("NVIDIA ")
        host = runs[0]["machine"]["backend"] == "host"
        device = arguments.device or ("host" if host else name)
        print(f"planned by {arguments.library} for {device}")
        cases = planned_again(cases, Planner(arguments.library, device))
    if not cases:
        sys.exit("no products with other rows: run mygemm-bench with --all-rows")
    print_plan_check(cases)
    print_peers(cases)
    print_accuracy(cases)
    found = classes(cases)
    print_ops(cases, found)
    print_proposals(cases, found, read_figures(ROWS.read_text()))


if __name__ == "__main__":
    main()
