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

TEST_SECONDS = 120


class Build(NamedTuple):
    source_dir: pathlib.Path
    commands: list  # of compile_commands.json, those of the emulated library
    library: pathlib.Path
    runtime: pathlib.Path
    tests: pathlib.Path


class MutantError(Exception):
    """The check itself cannot be done."""


def edit(text, mutant):
    """The source's text with the mutant's occurrence replaced."""
    pieces = text.split(mutant.find)
    if len(pieces) - 1 != mutant.of:
        raise MutantError(f"{mutant.file}: found {len(pieces) - 1} times, not {mutant.of}: "
                          f"{mutant.find!r}")
    at = mutant.occurrence
    return mutant.find.join(pieces[:at]) + mutant.replace + mutant.find.join(pieces[at:])


def run(command, what, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", check=False, **options)
    if result.returncode != 0:
        raise MutantError(f"{what} failed:\n{result.stdout}")


def compile_mutant(build, mutant, scratch):
    """Compiles the mutated source; returns the object and the name of the one it replaces."""
    source = build.source_dir / mutant.file
    entry = next((e for e in build.commands if pathlib.Path(e["file"]) == source), None)
    if entry is None:
        raise MutantError(f"{mutant.file}: not a source of the emulated library")
    mutated = scratch / source.name
    mutated.write_text(edit(source.read_text(), mutant))
    mutated_object = scratch / "mutant.o"
    command = [str(mutated) if word == entry["file"] else word
               for word in shlex.split(entry["command"])]
    command[command.index("-o") + 1] = str(mutated_object)
    # Removing code may leave names unused: that is not what is being tested.
    run([*command, "-Wno-error"], "compiling", cwd=entry["directory"])
    return mutated_object, entry["output"]


def link(build, entry, objects, scratch):
    """Links objects as the build does."""
    words = shlex.split(entry["command"])
    flags = [w for w in words if w.startswith("-fsanitize=") or w == "-fopenmp"]
    run([words[0], "-shared", *flags, "-Wl,-z,defs", f"-Wl,-soname,{build.library.name}",
         "-o", str(scratch / build.library.name), *objects, str(build.runtime), "-ldl"],
        "linking", cwd=entry["directory"])


def run_tests(build, test_filter, library_dir):
    """(passed, how it ended) of the filtered ops tests on the library in library_dir."""
    environment = dict(os.environ)
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


def check_mutant(build, mutant):
    """Returns how the tests noticed the mutant, or None where they did not."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        mutated_object, replaced = compile_mutant(build, mutant, scratch)
        objects = [str(mutated_object) if e["output"] == replaced else e["output"]
                   for e in build.commands]
        link(build, build.commands[0], objects, scratch)
        passed, how = run_tests(build, mutant.filter, scratch)
        return None if passed else how


def check_filter(build, test_filter):
    """The tests must pass on the library as it is, or their failing means nothing."""
    passed, how = run_tests(build, test_filter, build.library.parent)
    if not passed:
        raise MutantError(f"fails without a mutant: {test_filter}: {how}")


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

    commands = json.loads((arguments.build_dir / "compile_commands.json").read_text())
    marker = "/mygemm_emulated.dir/"
    build = Build(arguments.source_dir, [c for c in commands if marker in c["output"]],
                  arguments.library, arguments.runtime, arguments.tests)
    mutants = [m for m in MUTANTS if arguments.only in m.name]
    if not build.commands or not mutants:
        sys.exit("nothing to check")

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        baselines = {f: pool.submit(check_filter, build, f) for f in {m.filter for m in mutants}}
        checks = [(m, pool.submit(check_mutant, build, m)) for m in mutants]
        good = True
        for test_filter, future in baselines.items():
            try:
                future.result()
            except MutantError as error:
                print(f"ERROR    {error}", flush=True)
                good = False
        good = all([report(m.name, future) for m, future in checks]) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
