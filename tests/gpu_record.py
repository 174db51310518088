"""Runs the GPU layer of the tests and keeps the record of the sources that passed it.

Usage: gpu_record.py run BUILD_DIR [--jobs N] [--sanitizer-filter F] [--record FILE]
       gpu_record.py check [--capability MAJOR.MINOR]

CI has no GPU. `run` (./dev gpu-test, on a machine with one) runs the examples, the drop-ins and
the Python package, then the ops tests with every CUDA kernel, then these again under
compute-sanitizer, and writes tests/gpu-record.json with a digest of the sources. `check` (a ctest)
compares that digest with the sources of today; a record that is missing or older is a skip, not a
failure. Where the record is that of these sources on a GPU of compute capability 9.0, ./dev test
leaves to it what the optimised kernels were checked for: spilled registers, which do not compile,
and register banks.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import records
from records import SKIPPED, SOURCE, answer_of

RECORD = SOURCE / "tests/gpu-record.json"
DIGESTED = ["bindings", "include", "src", "tests/ops", "tests/support"]
# The sanitizers slow kernels down up to a hundredfold: without huge matrices and repetitions.
SANITIZER_FILTER = "-*Large*:*Bits*:*Threads*"
# These fill the GPU with blocks that wait and tell what could still start.
ALONE = "BusyGpu.*"


def sources():
    return records.digest(DIGESTED, records.CODE | {".py", ".f90"})


def machine():
    asked = answer_of("nvidia-smi", "--query-gpu=name,compute_cap,driver_version",
                      "--format=csv,noheader")
    if not asked:
        sys.exit("gpu-test needs a GPU: nvidia-smi is not there or finds none")
    device, capability, driver = asked.splitlines()[0].split(", ")
    supports = re.search(r"CUDA Version: *([0-9.]+)", answer_of("nvidia-smi") or "")
    return {"device": device, "capability": capability, "driver": driver,
            "driver_cuda": supports[1] if supports else None}


def toolkit_of(build):
    """The nvcc that built the folder, from CMake's own notes."""
    for notes in (build / "CMakeFiles").glob("*/CMakeCUDACompiler.cmake"):
        return re.search(r'CMAKE_CUDA_COMPILER_VERSION "(.*)"', notes.read_text())[1]
    return None


def programs_of(build):
    """The programs that run besides the ops tests: {name: (command, its environment)}."""
    library, tests = build / "lib", SOURCE / "tests"
    register_banks = tests / "static/register_banks.py"
    return {
        "register_banks": ([sys.executable, "-B", register_banks,
                            register_banks.with_suffix(".txt"),
                            *sorted((build / "kept").glob("*.cubin"))], {}),
        "examples": ([sys.executable, "-B", tests / "examples/gpu_examples.py", build], {}),
        "blas_gpu": ([build / "bin/blas_gpu", "--gtest_brief=1"],
                     {"MYGEMM_BLAS_OFFLOAD": "always"}),
        "cublas_gpu": ([build / "bin/cublas_gpu", "--gtest_brief=1"], {}),
        "preloaded": ([sys.executable, "-B", tests / "dropin/gpu/gpu_test.py",
                       library / "libmygemm_cublas.so", build / "bin/cublas_answers"], {}),
        "several_gpus": ([sys.executable, "-B", tests / "dropin/gpu/scale_out_test.py",
                          library / "libmygemm_cublas.so"], {}),
        "python": ([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                    tests / "python"],
                   {"PYTHONPATH": str(SOURCE / "bindings/python"),
                    "MYGEMM_LIBRARY": str(library / "libmygemm.so")}),
    }


def run_programs(build):
    """{name: its last line}; what is not built or lacks its Python packages is not run."""
    results = {}
    for name, (command, environment) in programs_of(build).items():
        if name == "python" and not importlib.util.find_spec("pytest"):
            results[name] = "not run: no pytest"
            continue
        if name == "register_banks" and not any((build / "kept").glob("*.cubin")):
            results[name] = "not run: not built for sm_90a"
            continue
        if not pathlib.Path(command[0]).exists():
            results[name] = "not run: not built"
            continue
        print(f"{name}: {' '.join(map(str, command))}", flush=True)
        process = subprocess.run([str(word) for word in command], check=False, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 env={**os.environ, **environment})
        print(process.stdout[-4000:], flush=True)
        if process.returncode not in (0, SKIPPED):
            sys.exit(f"{name} failed with status {process.returncode}")
        results[name] = (process.stdout.strip().splitlines() or [""])[-1]
    return results


@contextlib.contextmanager
def multi_process_service(jobs):
    """The environment in which processes share the GPU: CUDA's multi-process service runs their
    kernels at once. Without it they take turns, and 12 processes got through fewer tests than one
    (H200)."""
    control = shutil.which("nvidia-cuda-mps-control") if jobs > 1 else None
    if not control:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        whole = {**os.environ, **environment}
        subprocess.run([control, "-d"], check=True, env=whole)
        try:
            yield environment
        finally:
            subprocess.run([control], check=False, env=whole, input="quit\n", text=True)


def run_share(program, tests, jobs):
    """Runs a part of the test program, a gtest filter, in `jobs` processes at once; {suite:
    {passed, skipped, failed}}. Most of the time is the oracle's, on the processor."""
    counts, failed = {}, False
    with (tempfile.TemporaryDirectory() as folder, multi_process_service(jobs) as shared):
        reports = [pathlib.Path(folder) / f"{job}.json" for job in range(jobs)]
        outputs = [open(report.with_suffix(".txt"), "w+") for report in reports]
        processes = [subprocess.Popen([program, "--gtest_brief=1", f"--gtest_output=json:{report}",
                                       f"--gtest_filter={tests}"],
                                      stdout=output, stderr=subprocess.STDOUT,
                                      env={**os.environ, **shared,
                                           "GTEST_TOTAL_SHARDS": str(jobs),
                                           "GTEST_SHARD_INDEX": str(job)})
                     for job, (report, output) in enumerate(zip(reports, outputs))]
        for process, report, output in zip(processes, reports, outputs):
            status = process.wait()
            output.seek(0)
            print(output.read(), flush=True)
            output.close()
            failed |= status != 0
            if not report.exists():
                sys.exit(f"{program} ended with status {status} and no report")
            for suite in json.loads(report.read_text())["testsuites"]:
                count = counts.setdefault(suite["name"], {"passed": 0, "skipped": 0, "failed": 0})
                for test in suite["testsuite"]:
                    outcome = ("failed" if "failures" in test else
                               "skipped" if test["result"] == "SKIPPED" else "passed")
                    count[outcome] += 1
    if failed:
        sys.exit(f"{program} failed")
    if not any(count["passed"] for count in counts.values()):
        sys.exit(f"{program} ran no test of {tests}")
    return counts


def run_tests(program, jobs):
    """The whole test program: what needs the GPU for itself before the rest."""
    return run_share(program, ALONE, 1) | run_share(program, f"-{ALONE}", jobs)


def run_sanitizers(program, tests):
    """memcheck and racecheck over a part of the tests; {tool: result}."""
    sanitizer = (os.environ.get("COMPUTE_SANITIZER") or shutil.which("compute-sanitizer") or
                 shutil.which("compute-sanitizer", path="/usr/local/cuda/bin"))
    if not sanitizer:
        print("compute-sanitizer is not on this machine: left out", flush=True)
        return {"memcheck": "not run", "racecheck": "not run"}
    results = {"filter": tests}
    for tool in "memcheck", "racecheck":
        print(f"compute-sanitizer --tool {tool}, tests {tests}", flush=True)
        status = subprocess.run([sanitizer, "--tool", tool, "--error-exitcode", "1", program,
                                 "--gtest_brief=1", f"--gtest_filter={tests}"],
                                check=False).returncode
        if status != 0:
            sys.exit(f"compute-sanitizer {tool} failed with status {status}")
        results[tool] = "clean"
    return results


def run(arguments):
    build = pathlib.Path(arguments.build).resolve()
    program = build / "bin/ops_gpu"
    if not program.exists():
        sys.exit(f"{program} is not there: is {build} a build with CUDA and tests?")
    record = {**records.heading(), **machine(), "toolkit": toolkit_of(build), "sources": sources()}
    record["tests"] = run_tests(program, arguments.jobs)
    record["programs"] = run_programs(build)
    record["sanitizers"] = run_sanitizers(program, arguments.sanitizer_filter)
    arguments.record.write_text(json.dumps(record, indent=2) + "\n")
    passed = sum(count["passed"] for count in record["tests"].values())
    print(f"{passed} tests passed on {record['device']}; wrote {arguments.record}")


def check(arguments):
    record = records.check(RECORD, sources(), "GPU layer",
                           "./dev gpu-test, on a machine with a GPU,")
    if arguments.capability not in (None, record["capability"]):
        print(f"skip: that GPU is of compute capability {record['capability']}, not "
              f"{arguments.capability}")
        sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description="The GPU layer of the tests and its record.")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run", help="run the layer; on success write the record")
    command.add_argument("build", help="a build folder with bin/ops_gpu")
    command.add_argument("--jobs", type=int, default=1,
                         help="processes of the ops tests at once; each may need 20 GB of the GPU's"
                              " memory [%(default)s]")
    command.add_argument("--sanitizer-filter", metavar="F",
                         default=os.environ.get("MYGEMM_SANITIZER_FILTER", SANITIZER_FILTER),
                         help="tests for compute-sanitizer, as a gtest filter [%(default)s]")
    command.add_argument("--record", type=pathlib.Path, default=RECORD, help="[%(default)s]")
    command.set_defaults(run=run)
    command = commands.add_parser("check", help="is the record that of these sources?")
    command.add_argument("--capability", metavar="MAJOR.MINOR",
                         help="and was the GPU of this compute capability?")
    command.set_defaults(run=check)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
