#!/usr/bin/python3
"""Measured figures within sentences of the documents, each tied to a run in bench/results/.

Usage: bench/figures.py [--write | --check] [--results FOLDER] [--documents FOLDER]

A figure of a sentence is followed by a comment that says where it is from:

    NUMBER<!-- RUN; WHAT; LABEL -->

RUN is a name of tables.FILES, or of FILES below. LABEL is that of a result, or a pattern of labels
with * and ?; "[KERNEL]" behind it keeps the results of one kernel (or of a pattern of kernels).
WHAT is "µs", "rate", "PEER's µs" or "speed over PEER"; where several results fit, "least", "most"
or "mean" (geometric) of it. "µs, over LABEL" divides by the time of another result of the run; of
a command in the run of builds it is "seconds".
Figures of tables and whole sentences are in blocks instead, which tables.py and others write.

--check also fails where a document has a measured figure that is neither marked nor in a block:
a decimal fraction, a number with a unit of time, rate, clock, power or share, "times as fast",
or such a ratio in words. ALLOWED are those that nobody measures.
"""
import argparse
import fnmatch
import pathlib
import re
import sys

import cells
import runs
import tables

ROOT = tables.ROOT
FILES = {**tables.FILES, "builds": "debian-builds.json"}

MARK = re.compile(r"(\d[\d.]*)(<!-- (\w+); ([^;>]+); ([^;>]+?) -->)")
ANY_MARK = re.compile(r"<!--(?!.*: (?:begin|end) -->)[^>]*;[^>]*-->")
# The scripts that write blocks; tests compare each block with its run.
WRITERS = r"bench/(?:accuracy|blas_offload|drop_in|kernel_tables|scalapack|tables)\.py(?: \w+)?"
SPEED = r"times (?:as (?:fast|slow|long)|the (?:speed|time|rate)|cuBLAS\S*|faster|slower|longer)"
UNIT = (rf"(?:[µmn]?s|seconds?|minutes?|hours?|[GT]FLOP/s|[GTMK]i?B/s|%|[GM]Hz|W|clocks?|cycles"
        rf"|points?|ulp|{SPEED})")
# "9 to 11 µs" too, whose second figure may be marked.
FIGURE = re.compile(rf"(?<![\w.])\d+\.\d+|(?<![\w.])\d[\d.]*"
                    rf"(?:(?: to| and| or| against| in place of) *[\d.]*)? *(?<= ){UNIT}(?![\w/])")
WORDS = re.compile(
    r"\b(?:twice|half|(?:two|three|four|five|six|eight|ten) times) as (?:fast|slow|long)\b"
    r"|\b(?:half|third|quarter|fifth|sixth|eighth|tenth)s? of [^.|]*\b(?:speed|rate|time|peak)\b"
    r"|\bfactor of (?:two|three|four|five|ten)\b(?! of)")
# Headings of columns that hold measured numbers without a unit beside them.
MEASURED = re.compile(r"(?i)µs|\bms\b|FLOP/s|B/s|GHz|\b(?:speed|ratio|seconds|minutes)\b")

VERSIONS = (r"(?:CMake|CUDA|CuPy|cuBLAS|cuBLASMp|g\+\+|JAX|NCCL|NumPy|Open MPI|OpenBLAS|Python"
            r"|PyTorch|ScaLAPACK|rattler-build|compute capability|from|version) \d+(?:\.\d+)+")
# (documents, pattern of the text around the number, reason): figures that no run holds.
ALLOWED = [
    (".*", VERSIONS, "a version or a compute capability"),
    (".*", r"\| \d\.\d( on)? \|", "a compute capability in a table of kernels"),
    (".*", r"\d[\d.]* [·*] [\d.]+(?:\^|⁻|²)", "a number in scientific notation: a bound"),
    (r"docs/accuracy\.md", r"\d[\d.]* % zeros|99 % and 99\.9 % zeros", "a kind of data"),
    (r"docs/accuracy\.md", r"^\| (?:fp32|fp16|gradient).* \|$|within 1 ulp of",
     "a bound that tests/ops/softmax_accuracy_test.cpp and cross_entropy_test.cpp hold"),
    (r"docs/kernels/softmax\.md", r"(?:up to )?(?:7\.5|4\.5) ulp",
     "a bound of docs/accuracy.md that a test holds"),
    (r"docs/kernels/gemm\.md", r"12 % idle", "counted: tiles of a last round"),
    (r"docs/kernels/gemm\.md", r"twice as long in sliced_32x32", "counted: wavefronts"),
    (r"docs/kernels/gemm-(?:16-bit|tensor-cores)\.md", r"700 W", "the limit of the device"),
    (r"docs/kernels/gemm-tensor-cores\.md", r"1536 clocks", "counted from the rate of the device"),
]


def load_all(folder):
    """The runs of FILES that are there, by name."""
    return {name: runs.load(folder / file) for name, file in FILES.items()
            if (folder / file).exists()}


def values_of(results, what):
    """The figures of results that have one: times in µs, rates, speeds over a peer."""
    if what == "µs":
        return [r["ms"]["median"] * 1e3 for r in results]
    if what == "rate":
        return [r["rate"] for r in results]
    if peer := re.fullmatch(r"speed over (\w+)", what):
        return [speed for r in results if (speed := cells.ratio(r, peer[1]))]
    if peer := re.fullmatch(r"(\w+)'s µs", what):
        return [found["ms"]["median"] * 1e3 for r in results if (found := runs.peer(r, peer[1]))]
    raise ValueError(f"no figure is named {what!r}")


def fitting(run, label):
    """The results, first of each label, that a label with a kernel in brackets means."""
    pattern = re.fullmatch(r"(.*?)(?: \[(.+)\])?", label)
    found = [r for r in cells.first_of_each([r for r in run["results"] if "failure" not in r])
             if fnmatch.fnmatchcase(r["label"], pattern[1]) and
             fnmatch.fnmatchcase(r["kernel"], pattern[2] or "*")]
    if not found:
        raise ValueError(f"no result is named {label!r}")
    return found


def value(run, what, label):
    """The figure of a mark, as text."""
    if what == "seconds":
        for build in run["builds"]:
            if build["command"] == label:
                return f"{build['seconds']:.0f}"
        raise ValueError(f"no build is named {label!r}")
    what, _, other = what.partition(", over ")
    choice, _, plain = what.partition(" ")
    choose = {"least": min, "most": max, "mean": cells.geometric_mean}.get(choice)
    found = values_of(fitting(run, label), plain if choose else what)
    if not found or (len(found) > 1 and not choose):
        raise ValueError(f"{len(found)} figures are {what!r} of {label!r}")
    figure = choose(found) if choose else found[0]
    if other:
        return f"{figure / values_of(fitting(run, other), what)[0]:.2f}"
    return f"{figure:.2f}" if "speed over" in what else cells.figure(figure)


def renewed(text, all_runs):
    """A document with the figures of today before its marks."""
    def replacement(mark):
        _, comment, name, what, label = mark.groups()
        if name not in all_runs:
            raise ValueError(f"no run is named {name!r}")
        return value(all_runs[name], what, label) + comment
    return MARK.sub(replacement, text)


def blanked(pattern, text):
    """The text with blanks in place of what fits; the numbers of lines stay."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_marks(text):
    """A document with neither blocks, marks nor code."""
    text = blanked(r"(?ms)^<!-- [^\n]*: begin -->.*?^<!-- [^\n]*: end -->", text)
    text = blanked(r"(?ms)^```.*?^```", text)
    text = blanked(MARK, text)
    text = blanked(r"(?m)^    .*$", text)
    return blanked(r"`[^`\n]*`|\]\([^)\s]*\)", text)


def unmarked_cells(lines):
    """(line's number, cell): numbers in columns whose heading says that they are measured."""
    heading = []
    for number, line in enumerate(lines, 1):
        entries = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            heading = []
        elif not heading:
            heading = entries
        else:
            for title, cell in zip(heading, entries):
                if MEASURED.search(title) and re.match(r"\d", cell):
                    yield number, cell


def unmarked(name, text):
    """(line's number, figure) of each measured figure that nothing holds."""
    lines = without_marks(text).splitlines()
    found = list(unmarked_cells(lines))
    for number, line in enumerate(lines, 1):
        for documents, pattern, _ in ALLOWED:
            if re.fullmatch(documents, name):
                line = blanked(pattern, line)
        found += [(number, figure[0]) for kind in (FIGURE, WORDS) for figure in kind.finditer(line)]
    return sorted(set(found))


def documents(root):
    """The documents whose figures are held: README.md, docs, the README files of bindings."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md")),
            *sorted((root / "bindings").rglob("*.md"))]


def breaches(root, all_runs):
    """A sentence for each figure that a run does not hold."""
    for path in documents(root):
        name, text = path.relative_to(root).as_posix(), path.read_text()
        try:
            now = renewed(text, all_runs)
        except ValueError as error:
            yield f"{name}: {error}"
            continue
        for old, new in zip(MARK.finditer(text), MARK.finditer(now)):
            if old[0] != new[0]:
                yield f"{name}: {old[1]} of {old[2]} is {new[1]} in bench/results: use --write"
        for broken in ANY_MARK.finditer(blanked(MARK, text)):
            yield f"{name}: {broken[0]} follows no figure, or is no mark"
        for block in re.findall(r"(?m)^<!-- (.*): begin -->$", text):
            if not re.fullmatch(WRITERS, block):
                yield f"{name}: no script writes the block {block}"
        for number, figure in unmarked(name, text):
            yield f"{name}:{number}: {figure!r} is measured, and no mark says by which run"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job = parser.add_mutually_exclusive_group()
    job.add_argument("--write", action="store_true", help="renew the figures before marks")
    job.add_argument("--check", action="store_true", help="fail unless every figure is held")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--documents", type=pathlib.Path, default=ROOT,
                        help="the folder of README.md and docs")
    arguments = parser.parse_args()
    all_runs = load_all(arguments.results)
    if arguments.write:
        for path in documents(arguments.documents):
            text = path.read_text()
            if (now := renewed(text, all_runs)) != text:
                path.write_text(now)
    found = list(breaches(arguments.documents, all_runs))
    print("".join(f"{sentence}\n" for sentence in found), end="")
    sys.exit(bool(found and arguments.check))


if __name__ == "__main__":
    main()
