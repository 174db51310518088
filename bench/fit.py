#!/usr/bin/python3
"""Checks the plan of matrix products against measurements, and proposes figures for its table.

Usage: bench/fit.py RESULT.json ... [--library libmygemm.so] [--device H200]

The results are of `mygemm-bench --all-kernels --json RESULT.json --count 300 sgemm --suite
random,squares,ops`, all of one machine and in one math mode. Kernels are compared by their
medians. Prints

- the plan check: how often the plan chose the fastest kernel or one within 5 % of it, by class of
  shapes and where it lost most, and for each kernel how often it was chosen and how often it was
  the fastest;
- our speed over each library's, and where it is least;
- measured over estimated time of each kernel, short and long calls apart, and by op and alignment;
- figures for src/kernels/gemm/table.cpp that would bring estimates closer to measurements.

Kernels, estimates and figures are those that the library explains, which the results quote. The
model is not written here again. Proposals look at calls of a kernel that take less than twice as
long as the fastest kernel: others are not chosen anyway. A call's class is read off its estimates
alone: it *moves* where its bytes a second are over half of the most that any estimate promises;
else it *multiplies* where its FLOP/s are over 0.6 of the most that the kernel's estimates promise;
else it *waits*. The proposals are first steps, each of which sets a median to rights while the rest
stays as it is:

- efficiency, divided by the median of measured / estimated over the calls that multiply, those
  with aligned operands alone if there are enough;
- step_seconds, multiplied by that median over the calls that wait. For kernels that have none the
  median of measured - estimated is shown: it belongs to the constants in src/kernels/gemm/*.h.

One figure moves the calls of the others a little, so repeat until proposals stay within 2 %: write
them to table.cpp, build the library (preset host-only will do), and call this again with --library:
all estimates are then that library's, on the measurements at hand, and no GPU is needed. Then
measure again. Random sizes are mostly misaligned and mostly small: the other suites have the
aligned and the large products that the efficiencies need.
"""

import argparse
import collections
import pathlib
import statistics
import sys
import typing

from explained import Planner, read_figures
from runs import load, math_mode

NAIVE = "naive"  # among the peers: a kernel of ours
WITHIN = 1.05  # of the fastest kernel is as good
SHORT_PEER, SHORT_CALL = 5.0, 10.0  # microseconds
MOVING, MULTIPLYING = 0.5, 0.6  # shares of the highest rates that estimates promise
WORST = 15  # lines of a list
FEWEST = 5  # calls that a proposal may rest on
NEAR = 2.0  # times the fastest kernel's time: what takes longer need not be estimated well


class Case(typing.NamedTuple):
    label: str
    shape: dict
    chosen: str  # kernel
    estimated: dict  # microseconds by kernel
    measured: dict  # microseconds by kernel
    peers: dict  # microseconds by library

    def ours(self):
        return self.measured[self.chosen]

    def fastest(self):
        return min(self.measured, key=self.measured.get)

    def loss(self):
        return self.ours() / self.measured[self.fastest()]


def microseconds(entry):
    return entry["ms"]["median"] * 1e3


def misaligned(shape):
    return shape["lda"] % 4 != 0 or shape["ldb"] % 4 != 0


def label_of(result):
    shape = result["shape"]
    return result["label"] + (", misaligned" if misaligned(shape) else "")


def read_cases(runs):
    """The products of some runs for which there are other kernels to compare with."""
    cases = []
    for run in runs:
        for result in run["results"]:
            if result["operation"] != "sgemm" or not result.get("kernels"):
                continue
            entries = {result["kernel"]: result,
                       **{entry["name"]: entry for entry in result["kernels"]}}
            cases.append(Case(
                label_of(result), result["shape"], result["kernel"],
                {name: entry["estimated_us"] for name, entry in entries.items()},
                {name: microseconds(entry) for name, entry in entries.items()},
                {peer["name"]: microseconds(peer) for peer in result["peers"]
                 if peer["name"] != NAIVE}))
    return cases


def recorded_figures(runs):
    """Figures by kernel, as the results quote them; older results do not."""
    return {entry.get("kernel", entry.get("name")): read_figures(entry["figures"])
            for run in runs for result in run["results"] if result["operation"] == "sgemm"
            for entry in [result, *result.get("kernels", [])] if entry.get("figures")}


def planned_again(cases, planner):
    """The cases with another library's choices and estimates, where what it chose was measured."""
    again = []
    for case in cases:
        chosen, estimated = planner.plan(case.shape)
        if chosen in case.measured:
            again.append(case._replace(chosen=chosen, estimated=estimated))
    if len(again) < len(cases):
        print(f"{len(cases) - len(again)} cases left out: the kernel now chosen was not measured")
    return again


def print_table(title, header, lines):
    print(f"\n{title}")
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    for line in [header, *lines]:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        print("  " + "  ".join(cells).rstrip())


def mean(ratios):
    return f"{statistics.geometric_mean(ratios):.3f}" if ratios else "-"


def percent_within(losses):
    return 100 * sum(loss <= WITHIN for loss in losses) / len(losses)


def shape_class(shape):
    """The name of a kind of product; the shorter side of D decides first."""
    shorter = min(shape["m"], shape["n"])
    if shape["batch"] > 1:
        return "batches"
    if shorter == 1:
        return "vectors"
    if shorter <= 16:
        return "a side of 2 to 16"
    if shorter <= 64:
        return "a side of 17 to 64"
    if shape["k"] <= 250:
        return "k up to 250"
    return "long k, few results" if shape["m"] * shape["n"] < 250000 else "long k, many results"


def print_losses_by_class(cases):
    losses = collections.defaultdict(list)
    for case in cases:
        losses[shape_class(case.shape), misaligned(case.shape)].append(case.loss())
    print_table("Chosen / fastest kernel by class",
                ["class", "A and B", "cases", "geometric mean", "within 5 %", "worst"],
                [[name, "misaligned" if odd else "aligned", str(len(sample)), mean(sample),
                  f"{percent_within(sample):.0f} %", f"{max(sample):.2f}"]
                 for (name, odd), sample in sorted(losses.items())])


def print_plan_check(cases):
    losses = [case.loss() for case in cases]
    print(f"Plan check: {len(cases)} cases; the chosen kernel is within 5 % of the fastest in "
          f"{percent_within(losses):.1f} %; geometric mean {mean(losses)}, "
          f"worst {max(losses):.2f}")
    print_losses_by_class(cases)
    worst = sorted((case for case in cases if case.loss() > 1), key=Case.loss, reverse=True)[:WORST]
    lines = []
    for case in worst:
        best = case.fastest()
        lines.append([case.label, f"{case.loss():.2f}",
                      *kernel_cells(case, case.chosen), *kernel_cells(case, best)])
    print_table("Chosen / fastest kernel, worst first (µs)",
                ["case", "factor", "chosen", "time", "estimate", "fastest", "time", "estimate"],
                lines)
    chosen = collections.Counter(case.chosen for case in cases)
    fastest = collections.Counter(case.fastest() for case in cases)
    both = collections.Counter(case.chosen for case in cases if case.chosen == case.fastest())
    print_table("Kernels", ["kernel", "chosen", "fastest", "both"],
                [[kernel, str(chosen[kernel]), str(fastest[kernel]), str(both[kernel])]
                 for kernel in kernel_names(cases)])


def kernel_cells(case, kernel):
    estimate = case.estimated.get(kernel)
    return [kernel, f"{case.measured[kernel]:.2f}", f"{estimate:.2f}" if estimate else "-"]


def kernel_names(cases):
    return list(dict.fromkeys(kernel for case in cases for kernel in sorted(case.measured)))


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
                    [[case.label, f"{ratio:.2f}", *kernel_cells(case, case.chosen),
                      f"{case.peers[peer]:.2f}"] for ratio, case in contests[:WORST]])


def estimated_kernels(cases):
    """(kernel, case, measured / estimated) where a kernel has both."""
    return [(kernel, case, time / case.estimated[kernel]) for case in cases
            for kernel, time in case.measured.items() if case.estimated.get(kernel)]


def print_accuracy(cases):
    ratios = collections.defaultdict(list)
    for kernel, case, ratio in estimated_kernels(cases):
        ratios[kernel, case.measured[kernel] < SHORT_CALL].append(ratio)
    for title, short in [(f"under {SHORT_CALL:g} µs", True),
                         (f"{SHORT_CALL:g} µs and more", False)]:
        lines = []
        for kernel in kernel_names(cases):
            sample = ratios[kernel, short]
            if len(sample) >= 2:
                quartiles = statistics.quantiles(sample, n=4, method="inclusive")
                lines.append([kernel, str(len(sample)), mean(sample)] +
                             [f"{quartile:.3f}" for quartile in quartiles])
        print_table(f"Measured / estimated, calls of {title}",
                    ["kernel", "cases", "geometric mean", "1st quartile", "median", "3rd quartile"],
                    lines)


def flops(shape):
    return 2.0 * shape["m"] * shape["n"] * shape["k"] * shape["batch"]


def least_bytes(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    return 4.0 * (k * (m + n) + m * n) * shape["batch"]


def classes(cases):
    """{(kernel, class): [case]} where the kernel is near the fastest; the docstring above defines
    the classes."""
    kernels = [(kernel, case) for kernel, case, _ in estimated_kernels(cases)]
    most_bytes = max(least_bytes(case.shape) / case.estimated[kernel] for kernel, case in kernels)
    most_flops = collections.defaultdict(float)
    for kernel, case in kernels:
        most_flops[kernel] = max(most_flops[kernel], flops(case.shape) / case.estimated[kernel])
    found = collections.defaultdict(list)
    for kernel, case in kernels:
        if case.measured[kernel] > NEAR * case.measured[case.fastest()]:
            continue
        if least_bytes(case.shape) / case.estimated[kernel] > MOVING * most_bytes:
            name = "moves"
        elif flops(case.shape) / case.estimated[kernel] > MULTIPLYING * most_flops[kernel]:
            name = "multiplies"
        else:
            name = "waits"
        found[kernel, name].append(case)
    return found


def print_ops(cases, found):
    kinds = [(a + b, odd) for odd in [False, True] for a in "NT" for b in "NT"]
    lines = []
    for kernel in kernel_names(cases):
        by_kind = collections.defaultdict(list)
        for case in found[kernel, "multiplies"]:
            kind = case.shape["transa"] + case.shape["transb"], misaligned(case.shape)
            by_kind[kind].append(case.measured[kernel] / case.estimated[kernel])
        if by_kind:
            lines.append([kernel] + [mean(by_kind[kind]) for kind in kinds])
    print_table("Measured / estimated of calls that multiply, by op and alignment of A and B",
                ["kernel"] + [op + (" misaligned" if odd else "") for op, odd in kinds], lines)


def aligned_if_enough(cases):
    aligned = [case for case in cases if not misaligned(case.shape)]
    return aligned if len(aligned) >= FEWEST else cases


def propose(kernel, found, figures):
    """New efficiency and second figure of a kernel as {name: (now, proposal, cases)}; now is None,
    and the proposal a factor or a difference, where the figures are not known."""
    proposals = {}
    known = figures.get(kernel, {})
    busy = aligned_if_enough(found[kernel, "multiplies"])
    if len(busy) >= FEWEST:
        factor = 1 / statistics.median(case.measured[kernel] / case.estimated[kernel]
                                       for case in busy)
        proposals["efficiency"] = ((known["efficiency"], known["efficiency"] * factor, len(busy))
                                   if known else (None, factor, len(busy)))
    waits = [(case.measured[kernel], case.estimated[kernel]) for case in found[kernel, "waits"]]
    if len(waits) < FEWEST:
        return proposals
    more = statistics.median(measured - estimated for measured, estimated in waits) * 1e-6
    if known.get("step_seconds"):
        factor = statistics.median(measured / estimated for measured, estimated in waits)
        now = known["step_seconds"]
        proposals["step_seconds"] = (now, now * factor, len(waits))
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
    for kernel in kernel_names(cases):
        proposals = propose(kernel, found, figures)
        second = next((name for name in proposals if name != "efficiency"), None)
        lines.append([kernel, *proposal_cells("efficiency", proposals.get("efficiency")),
                      *proposal_cells(second, proposals.get(second))])
    print_table(f"Proposals; a blank: fewer than {FEWEST} cases",
                ["kernel", "", "", "", "", "", "", "", ""], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--library", help="a libmygemm.so whose plan and estimates to use")
    parser.add_argument("--device", help="its name for the device; default: that of the results")
    arguments = parser.parse_args()
    runs = [load(file) for file in arguments.results]
    machines = {run["machine"]["name"] for run in runs}
    if len(machines) > 1:
        sys.exit(f"results of different machines: {', '.join(sorted(machines))}")
    modes = {math_mode(run) for run in runs}
    if len(modes) > 1:
        sys.exit(f"results in different math modes: {', '.join(sorted(modes))}")
    mode = modes.pop()
    cases, figures = read_cases(runs), recorded_figures(runs)
    commits = ", ".join(dict.fromkeys(run["commit"] for run in runs))
    print(f"{machines.pop()}, {mode} math, commit {commits}")
    if arguments.library:
        name = runs[0]["machine"]["name"].removeprefix("NVIDIA ")
        host = runs[0]["machine"]["backend"] == "host"
        device = arguments.device or ("host" if host else name)
        print(f"planned by {arguments.library} for {device}")
        planner = Planner(arguments.library, device, mode)
        cases, figures = planned_again(cases, planner), planner.figures
    if not cases:
        sys.exit("no products with other kernels: run mygemm-bench with --all-kernels")
    print_plan_check(cases)
    print_peers(cases)
    print_accuracy(cases)
    found = classes(cases)
    print_ops(cases, found)
    print_proposals(cases, found, figures)


if __name__ == "__main__":
    main()
