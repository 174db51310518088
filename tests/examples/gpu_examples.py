"""Runs the examples of a build with CUDA on a GPU; each checks its own results.

Usage: gpu_examples.py BUILD_DIR. One line for each program. Exits with 0 when all were right on a
GPU, 77 on a machine without one, else 1. device_memory is in Fortran: where the machine that built
had no compiler for it, it is left out.
"""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
# The first creates a handle for the GPU before anything else: its 77 means that there is none.
EXAMPLES = ["graph_capture", "two_streams", "linear", "product", "softmax_rows",
            "transpose_in_place"]
OPTIONAL = ["device_memory"]


def run(program):
    """The status of a program, which must use the GPU; prints what it said."""
    result = subprocess.run([program], text=True, check=False, capture_output=True,
                            env={**os.environ, "MYGEMM_BACKEND": "cuda"})
    status = f"status {result.returncode}: " if result.returncode != 0 else ""
    print(f"{program.name}: {status}{(result.stdout + result.stderr).strip()}", flush=True)
    return result.returncode


def main():
    folder = pathlib.Path(sys.argv[1]) / "bin/examples"
    missing = [name for name in EXAMPLES if not (folder / name).exists()]
    if missing:
        sys.exit(f"{folder} has no {', '.join(missing)}: is this a build with CUDA and tests?")
    failed = []
    for name in EXAMPLES + OPTIONAL:
        if not (folder / name).exists():
            print(f"{name}: not built, left out")
            continue
        status = run(folder / name)
        if status == SKIPPED and name == EXAMPLES[0]:
            sys.exit(SKIPPED)
        if status != 0:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
