#!/usr/bin/env python3
"""The mutant check: does a test fail when a kernel is broken?

Each mutant is one edit of one source of the library. Its object is compiled again with the flags
of the build, linked into a copy of the emulated library, and the ops tests named by the mutant's
filter are run on that copy. They pass on the library as it is and must fail on the mutant. A
mutant whose text is no longer in its source is an error: keep the list current.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from typing import NamedTuple

from mutant_list import MUTANTS
from tensor_mutants import TENSOR_MUTANTS

TEST_SECONDS = 120


class Compilation(NamedTuple):
    source: pathlib.Path
    words: list
    directory: str

    @property
    def output(self):
        return self.words[self.words.index("-o") + 1]


class Build(NamedTuple):
    source_dir: pathlib.Path
    compilations: list  # of the emulated library
    library: pathlib.Path
    runtime: pathlib.Path
    tests: pathlib.Path


class MutantError(Exception):
    """The check itself cannot be done."""


def read_compilations(build_dir):
    """How the build compiles the sources of the emulated library."""
    entries = json.loads((build_dir / "compile_commands.json").read_text())
    compilations = [Compilation(pathlib.Path(e["file"]), shlex.split(e["command"]),
                                e["directory"]) for e in entries]
    return [c for c in compilations if "/mygemm_emulated.dir/" in c.output]


def edit(text, mutant):
    """The source's text with the mutant's occurrence (1 is the first) replaced."""
    pieces = text.split(mutant.find)
    if len(pieces) - 1 != mutant.occurrences:
        raise MutantError(f"{mutant.file}: found {len(pieces) - 1} times, not "
                          f"{mutant.occurrences}: {mutant.find!r}")
    at = mutant.occurrence
    return mutant.find.join(pieces[:at]) + mutant.replace + mutant.find.join(pieces[at:])


def run(command, what, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", check=False, **options)
    if result.returncode != 0:
        raise MutantError(f"{what} failed:\n{result.stdout}")


def compile_mutant(build, mutant, scratch):
    """Compiles the mutated source; returns the object and the name of the one it replaces."""
    compiled = mutant.compiled or mutant.file
    source = build.source_dir / "src" / compiled
    original = next((c for c in build.compilations if c.source == source), None)
    if original is None:
        raise MutantError(f"{compiled}: not a source of the emulated library")
    # The tree of mutated files comes first in the include path: headers can be mutated too.
    tree = scratch / "src"
    mutated = tree / mutant.file
    mutated.parent.mkdir(parents=True)
    mutated.write_text(edit((build.source_dir / "src" / mutant.file).read_text(), mutant))
    mutated_object = scratch / "mutant.o"
    words = list(original.words)
    if compiled == mutant.file:
        words[words.index(str(source))] = str(mutated)
    words[words.index("-o") + 1] = str(mutated_object)
    # Removing code may leave names unused: that is not what is being tested.
    run([words[0], f"-I{tree}", *words[1:], "-Wno-error"], "compiling", cwd=original.directory)
    return mutated_object, original.output


def link(build, objects, scratch):
    """Links objects as the build does."""
    words, directory = build.compilations[0].words, build.compilations[0].directory
    flags = [w for w in words if w.startswith("-fsanitize=") or w == "-fopenmp"]
    run([words[0], "-shared", *flags, "-Wl,-z,defs", f"-Wl,-soname,{build.library.name}",
         "-o", str(scratch / build.library.name), *objects, str(build.runtime), "-ldl"],
        "linking", cwd=directory)


def run_tests(build, selection, library_dir):
    """(passed, how it ended) of the selected ops tests on the library in library_dir."""
    test_filter, few_blocks, no_clusters = selection
    environment = dict(os.environ)
    if few_blocks:
        environment["MYGEMM_EMULATED_BLOCKS"] = "2"
        environment["MYGEMM_EMULATED_SMS"] = "2"
    if no_clusters:
        environment["MYGEMM_EMULATED_CC"] = "80"
    environment["LD_LIBRARY_PATH"] = f"{library_dir}:{build.runtime.parent}"
    command = [str(build.tests), f"--gtest_filter={test_filter}", "--gtest_fail_fast"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", timeout=TEST_SECONDS,
                                env=environment, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no end after {TEST_SECONDS} s"
    failed = re.findall(r"^\[  FAILED  \] (\S+?)[,.]? ", result.stdout, re.MULTILINE)
    reports = re.findall(r"ERROR: AddressSanitizer: \S+|runtime error: .*|emulator: .*",
                         result.stdout)
    how = (failed + reports + [f"exit status {result.returncode}"])[0]
    return result.returncode == 0, how


def selection_of(mutant):
    return mutant.filter, mutant.few_blocks, mutant.no_clusters


def check_mutant(build, mutant):
    """Returns how the tests noticed the mutant, or None where they did not."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        mutated_object, replaced = compile_mutant(build, mutant, scratch)
        objects = [str(mutated_object) if c.output == replaced else c.output
                   for c in build.compilations]
        link(build, objects, scratch)
        passed, how = run_tests(build, selection_of(mutant), scratch)
        return None if passed else how


def check_selection(build, selection):
    """The tests must pass on the library as it is, or their failing means nothing."""
    passed, how = run_tests(build, selection, build.library.parent)
    if not passed:
        raise MutantError(f"fails without a mutant: {selection}: {how}")


def report(name, future):
    """Prints one line; True where all is well."""
    try:
        how = future.result()
    except MutantError as error:
        print(f"ERROR    {name}: {error}", flush=True)
        return False
    if how is None:
        print(f"SURVIVED {name}", flush=True)
        return False
    print(f"killed   {name}: {how}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source-dir", required=True, type=pathlib.Path)
    parser.add_argument("--build-dir", required=True, type=pathlib.Path)
    parser.add_argument("--library", required=True, type=pathlib.Path,
                        help="the emulated library as built")
    parser.add_argument("--runtime", required=True, type=pathlib.Path,
                        help="the emulated CUDA runtime")
    parser.add_argument("--tests", required=True, type=pathlib.Path,
                        help="the ops tests, linked with the emulated library")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    build = Build(arguments.source_dir, read_compilations(arguments.build_dir),
                  arguments.library, arguments.runtime, arguments.tests)
    mutants = [m for m in MUTANTS + TENSOR_MUTANTS if arguments.only in m.name]
    if not build.compilations or not mutants:
        sys.exit("nothing to check")

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        baselines = [pool.submit(check_selection, build, selection)
                     for selection in sorted({selection_of(m) for m in mutants})]
        checks = [(m, pool.submit(check_mutant, build, m)) for m in mutants]
        good = True
        for future in baselines:
            try:
                future.result()
            except MutantError as error:
                print(f"ERROR    {error}", flush=True)
                good = False
        good = all([report(m.name, future) for m, future in checks]) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
