#!/usr/bin/env python3
"""The mutant check: does a test fail when a kernel is broken?

Each mutant is one edit of one source of the library. Its object is compiled again with the flags
of the build and linked into a copy of the emulated library, before all others, whose templates and
inline functions it so replaces. The ops tests named by the mutant's filter are run on that copy.
They pass on the library as it is and must fail on the mutant.

Mutants name code, not comments: they edit the source without its comments. A mutant whose text is
not in its source is an error: --check-anchors lists them all in a second, without a build.

mutants-noticed.json holds a digest of each mutant that the tests have noticed: of its edit, its
test and the code that it edits. --changed runs the mutants whose digest is not there and a small
sample of the others; --update writes the digests of those that ran. With --minutes, the order
decides which are left over: it is random, and another one after each change of the code.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

from bf16x6_mutants import BF16X6_MUTANTS
from cross_entropy_mutants import CROSS_ENTROPY_MUTANTS
from grouped_mutants import GROUPED_MUTANTS
from mutant_list import MUTANTS
from softmax_mutants import SOFTMAX_MUTANTS
from tensor16_mutants import TENSOR16_MUTANTS
from tensor_mutants import TENSOR_MUTANTS
from transpose_mutants import TRANSPOSE_MUTANTS

TEST_SECONDS = 120
ALL_MUTANTS = (MUTANTS + SOFTMAX_MUTANTS + CROSS_ENTROPY_MUTANTS + TRANSPOSE_MUTANTS +
               TENSOR_MUTANTS + BF16X6_MUTANTS + TENSOR16_MUTANTS + GROUPED_MUTANTS)
NOTICED = pathlib.Path(__file__).with_name("mutants-noticed.json")
SAMPLE = 8  # mutants that --changed runs in any case


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


def without_comments(text):
    """C++ without comments, nor the lines and the blanks before them that hold nothing else."""
    literal = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    comment = r"//[^\n]*|/\*.*?\*/"
    text = re.sub(rf"^[ ]*(?:{comment})[ ]*\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(rf"({literal})|[ ]*(?:{comment})", lambda match: match[1] or "", text,
                  flags=re.DOTALL)


def code_of(source_dir, name):
    """The text of a file under src/ without comments."""
    try:
        return without_comments((source_dir / "src" / name).read_text())
    except OSError as error:
        raise MutantError(f"{name}: {error.strerror}") from None


def edit(text, mutant):
    """The source's text with the mutant's occurrence (1 is the first) replaced."""
    if re.search(r"//|/\*", mutant.find + mutant.replace):
        raise MutantError(f"names a comment: {mutant.find!r} -> {mutant.replace!r}")
    pieces = text.split(mutant.find)
    if len(pieces) - 1 != mutant.occurrences:
        raise MutantError(f"{mutant.file}: found {len(pieces) - 1} times, not "
                          f"{mutant.occurrences}: {mutant.find!r}")
    at = mutant.occurrence
    return mutant.find.join(pieces[:at]) + mutant.replace + mutant.find.join(pieces[at:])


def check_anchors(source_dir, mutants):
    """Prints every mutant that cannot be made of the sources; True where there is none."""
    missing = 0
    for mutant in mutants:
        try:
            edit(code_of(source_dir, mutant.file), mutant)
            compiled = code_of(source_dir, mutant.compiled or mutant.file)
            if mutant.instance:
                only_instance(compiled, mutant.instance)
        except MutantError as error:
            print(f"{mutant.name}: {error}")
            missing += 1
    print(f"{len(mutants)} mutants, {missing} of them without their text in the sources")
    return missing == 0


def digest(source_dir, mutant):
    """Digest of a mutant's edit and of the tests that must notice it."""
    code = [code_of(source_dir, name) for name in (mutant.file, mutant.compiled or mutant.file)]
    return hashlib.sha256(json.dumps([mutant, code]).encode()).hexdigest()[:16]


def read_noticed():
    return json.loads(NOTICED.read_text()) if NOTICED.exists() else {}


def update_noticed(source_dir, mutants):
    """Adds the digests of mutants that were noticed; drops those of mutants that are gone."""
    noticed = read_noticed() | {m.name: digest(source_dir, m) for m in mutants}
    kept = {m.name: noticed[m.name] for m in ALL_MUTANTS if m.name in noticed}
    NOTICED.write_text(json.dumps(kept, indent=0) + "\n")


# The outcome of a mutant for which no time was left.
NOT_RUN = object()


def changed(source_dir, mutants):
    """The mutants that were not yet noticed as they are now, and the sample."""
    noticed = read_noticed()
    by_chance = sorted(mutants, key=lambda m: hashlib.sha256(m.name.encode()).digest())[:SAMPLE]
    return [m for m in mutants
            if m in by_chance or noticed.get(m.name) != digest(source_dir, m)]


def in_random_order(source_dir, mutants):
    """The mutants in an order that depends on their code alone."""
    shuffled = list(mutants)
    random.Random("".join(digest(source_dir, m) for m in mutants)).shuffle(shuffled)
    return shuffled


def run(command, what, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", check=False, **options)
    if result.returncode != 0:
        raise MutantError(f"{what} failed:\n{result.stdout}")


def only_instance(text, instance):
    """The source without its other explicit instances of a template: of other first arguments."""
    found = re.findall(r"^template [^;]*?<(\w+)(?:, \w+)*>\(", text, re.MULTILINE)
    if instance not in found:
        raise MutantError(f"no instance {instance}, but {', '.join(found) or 'none'}")
    return re.sub(r"^template [^;]*?<(\w+)(?:, \w+)*>\([^;]*;\n",
                  lambda match: match[0] if match[1] == instance else "", text,
                  flags=re.MULTILINE)


def compile_mutant(build, mutant, scratch):
    """Compiles the mutated source; returns the object and the name of the one it replaces.

    An object of one instance replaces none: the linker drops what comes a second time.
    """
    compiled = mutant.compiled or mutant.file
    source = build.source_dir / "src" / compiled
    original = next((c for c in build.compilations if c.source == source), None)
    if original is None:
        raise MutantError(f"{compiled}: not a source of the emulated library")
    # The tree of mutated files comes first in the include path: headers can be mutated too.
    tree = scratch / "src"
    mutated = tree / mutant.file
    mutated.parent.mkdir(parents=True)
    mutated.write_text(edit(code_of(build.source_dir, mutant.file), mutant))
    mutated_object = scratch / "mutant.o"
    words = list(original.words)
    if mutant.instance:
        mutated = tree / compiled
        mutated.parent.mkdir(parents=True, exist_ok=True)
        mutated.write_text(only_instance(code_of(build.source_dir, compiled), mutant.instance))
    if compiled == mutant.file or mutant.instance:
        words[words.index(str(source))] = str(mutated)
    words[words.index("-o") + 1] = str(mutated_object)
    # Removing code may leave names unused: that is not what is being tested.
    run([words[0], f"-I{tree}", *words[1:], "-Wno-error"], "compiling", cwd=original.directory)
    return mutated_object, "" if mutant.instance else original.output


def link(build, objects, scratch):
    """Links objects as the build does."""
    words, directory = build.compilations[0].words, build.compilations[0].directory
    flags = [w for w in words if w.startswith("-fsanitize=") or w == "-fopenmp"]
    run([words[0], "-shared", *flags, "-Wl,-z,defs", f"-Wl,-soname,{build.library.name}",
         "-o", str(scratch / build.library.name), *objects, str(build.runtime), "-ldl"],
        "linking", cwd=directory)


def run_tests(build, selection, library_dir):
    """(passed, how it ended) of the selected ops tests on the library in library_dir."""
    test_filter, few_blocks, few_resident, no_clusters = selection
    environment = dict(os.environ)
    if few_blocks:
        environment["MYGEMM_EMULATED_BLOCKS"] = "2"
        environment["MYGEMM_EMULATED_SMS"] = "2"
    if few_resident:
        environment["MYGEMM_EMULATED_RESIDENT"] = "2"
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
    return mutant.filter, mutant.few_blocks, mutant.few_resident, mutant.no_clusters


def check_mutant(build, mutant):
    """Returns how the tests noticed the mutant, or None where they did not."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        mutated_object, replaced = compile_mutant(build, mutant, scratch)
        objects = [str(mutated_object),
                   *(c.output for c in build.compilations if c.output != replaced)]
        link(build, objects, scratch)
        passed, how = run_tests(build, selection_of(mutant), scratch)
        return None if passed else how


class Baselines:
    """The tests must pass on the library as it is, or their failing means nothing. Each selection
    is run once, for the first mutant that needs it: those of mutants left over cost nothing."""

    def __init__(self, build):
        self.build = build
        self.locks = collections.defaultdict(threading.Lock)  # one for each selection
        self.outcomes = {}

    def require(self, selection):
        with self.locks[selection]:
            if selection not in self.outcomes:
                self.outcomes[selection] = run_tests(self.build, selection,
                                                     self.build.library.parent)
        passed, how = self.outcomes[selection]
        if not passed:
            raise MutantError(f"fails without a mutant: {selection}: {how}")


def report(name, future):
    """Prints one line; True where the mutant was noticed, None where time was up before it."""
    try:
        how = future.result()
        if how is NOT_RUN:
            return None
    except MutantError as error:
        print(f"ERROR    {name}: {error}", flush=True)
        return False
    if how is None:
        print(f"SURVIVED {name}", flush=True)
        return False
    print(f"killed   {name}: {how}", flush=True)
    return True


def check(build, mutants, jobs, seconds):
    """Runs the mutants, none that would begin after `seconds`; returns those that were noticed and
    those that were not."""
    end = time.monotonic() + seconds
    baselines = Baselines(build)

    def in_time(mutant):
        if time.monotonic() >= end:
            return NOT_RUN
        baselines.require(selection_of(mutant))
        return check_mutant(build, mutant)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        checks = [(m, pool.submit(in_time, m)) for m in mutants]
        outcomes = [(m, report(m.name, future)) for m, future in checks]
    return ([m for m, noticed in outcomes if noticed],
            [m for m, noticed in outcomes if noticed is False])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source-dir", required=True, type=pathlib.Path)
    parser.add_argument("--build-dir", type=pathlib.Path)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--changed", action="store_true",
                        help="mutants that were not yet noticed as they are now, and a sample")
    parser.add_argument("--update", action="store_true",
                        help="write the digests of the mutants that were noticed")
    parser.add_argument("--check-anchors", action="store_true",
                        help="only look for the mutants' text in the sources; needs no build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=math.inf,
                        help="no mutant begins later; those left over are counted")
    arguments = parser.parse_args()

    mutants = [m for m in ALL_MUTANTS if arguments.only in m.name]
    if not check_anchors(arguments.source_dir, mutants):
        sys.exit(1)
    if arguments.check_anchors:
        return
    if arguments.build_dir is None:
        parser.error("--build-dir is missing")
    if arguments.changed:
        mutants = changed(arguments.source_dir, mutants)
    library = arguments.build_dir / "lib"
    build = Build(arguments.source_dir, read_compilations(arguments.build_dir),
                  library / "libmygemm_emulated.so", library / "libemulated_cudart.so",
                  arguments.build_dir / "bin/ops_emulated")
    if not build.compilations or not mutants:
        sys.exit("nothing to check")
    if arguments.minutes < math.inf:
        mutants = in_random_order(arguments.source_dir, mutants)
    print(f"{len(mutants)} mutants to run", flush=True)
    noticed, survived = check(build, mutants, arguments.jobs, 60 * arguments.minutes)
    left = len(mutants) - len(noticed) - len(survived)
    if left:
        print(f"{left} of {len(mutants)} mutants were not run in {arguments.minutes:g} minutes; "
              "./dev mutants --changed --update runs them")
    if arguments.update:
        update_noticed(arguments.source_dir, noticed)
    sys.exit(0 if noticed and not survived else 1)


if __name__ == "__main__":
    main()
