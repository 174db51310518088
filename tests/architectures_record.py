"""Keeps the record of the sources whose kernels were compiled for every architecture of GPU.

Usage: architectures_record.py write
       architectures_record.py check

A kernel that spills registers does not compile, and which do depends on the architecture. All of
them take an hour on two cores; ./dev test compiles for one. ./dev wheel cuda, which compiles for
all, ends with `write`: tests/architectures-record.json, with a digest of the sources. `check` (a
ctest) compares that digest with the sources of today; a record that is missing or older is a skip,
not a failure.
"""
import json
import os
import re
import sys

import records
from records import SOURCE

sys.path.insert(0, str(SOURCE / "bindings/python"))
import build_wheel

RECORD = SOURCE / "tests/architectures-record.json"


def sources():
    return records.digest(["include", "src"], records.CODE)


def write():
    nvcc = records.answer_of(os.environ.get("CUDACXX", "nvcc"), "--version")
    release = re.search(r"V([\d.]+)", nvcc or "")
    if release is None:
        sys.exit("architectures_record.py: nvcc was not found, so that it cannot have compiled")
    record = {**records.heading(), "device": f"nvcc {release[1]}",
              "architectures": build_wheel.ARCHITECTURES, "sources": sources()}
    RECORD.write_text(json.dumps(record, indent=2) + "\n")
    print(f"wrote {RECORD}")


def main():
    if sys.argv[1:] == ["write"]:
        write()
    elif sys.argv[1:] == ["check"]:
        records.check(RECORD, sources(), "build for every architecture", "./dev wheel cuda")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
