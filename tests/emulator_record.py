"""Runs all ops tests on the emulator and keeps the record of the sources that passed them.

Usage: emulator_record.py run BUILD_DIR
       emulator_record.py check
       emulator_record.py part

The tests take half an hour on two cores. `run` (./dev emulator-test) runs them and writes
tests/emulator-record.json with a digest of the sources. `check` (a ctest) compares that digest with
the sources of today. Where they are the same, ./dev test runs a thirty-second part of each of these
tests: `part` prints which one of how many, another one for each version of the sources, or nothing
where they are not.
"""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree

import records

RECORD = records.SOURCE / "tests/emulator-record.json"
DIGESTED = ["include", "src", "tests/emulator", "tests/ops", "tests/support"]
PARTS = 32  # of each test, one of which ./dev test runs
TESTS = r"^(ops_emulated|emulator\.(few_|start_order|clusters_))"  # what runs ops_emulated


def sources():
    return records.digest(DIGESTED, records.CODE)


def processor():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{names[0] if names else platform.machine()} x {os.cpu_count()}"


def run(build):
    cache = (build / "CMakeCache.txt").read_text()
    for setting in "MYGEMM_EMULATED_PART:STRING=", "MYGEMM_EMULATOR_SANITIZE:BOOL=ON":
        if f"{setting}\n" not in cache:
            sys.exit(f"{build} is not a build of all emulated tests: it must have {setting}")
    report = build / "emulator.xml"
    status = subprocess.run(["ctest", "--test-dir", build, "-R", TESTS, "--parallel",
                             str(os.cpu_count()), "--output-on-failure", "--output-junit", report],
                            check=False).returncode
    cases = list(xml.etree.ElementTree.parse(report).getroot().iter("testcase"))
    missing = [case.get("name") for case in cases if case.get("status") != "run"]
    if status != 0 or missing or not cases:
        sys.exit(f"not all emulated tests passed: {', '.join(missing) or 'see above'}")
    record = {**records.heading(), "device": f"the emulator, {processor()}", "sources": sources(),
              "seconds": {case.get("name"): round(float(case.get("time"))) for case in cases}}
    RECORD.write_text(json.dumps(record, indent=2) + "\n")
    print(f"{len(cases)} tests passed; wrote {RECORD}")


def part():
    record, today = records.read(RECORD), sources()
    if record and record["sources"] == today:
        print(f"{int(today[:8], 16) % PARTS}/{PARTS}")


def main():
    job, *arguments = sys.argv[1:] or [""]
    if job == "run" and len(arguments) == 1:
        run(pathlib.Path(arguments[0]).resolve())
    elif job == "check" and not arguments:
        records.check(RECORD, sources(), "emulated ops tests", "./dev emulator-test")
    elif job == "part" and not arguments:
        part()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
