"""Support for the tests of bench/'s scripts: runs programs, and the scripts by name."""

import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def run(*arguments, expect=0):
    done = subprocess.run([*map(str, arguments)], text=True, timeout=100, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != expect:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def script(name, *arguments, expect=0):
    return run(sys.executable, "-B", BENCH / name, *arguments, expect=expect)
