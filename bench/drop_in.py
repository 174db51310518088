"""The gain of preloading libmygemm_cublas.so: the programs of bench/drop_in_workloads.py with
cuBLAS's own functions and with ours.

Usage: drop_in.py DROP_IN [--out FILE] [--rounds N] [--commit HASH] [--only NAME ...] [--profile]
       drop_in.py --table FILE [--extremes] [--write DOCUMENT | --check DOCUMENT]
       drop_in.py --workload NAME [--profile]    one measurement, as a child: JSON in the last line

DROP_IN is libmygemm_cublas.so; --table makes Markdown of what --out wrote: for docs/drop-in.md, or
with --extremes, the program that gained most and the one that gained least, for README.md.
Needs a GPU, and PyTorch, JAX or CuPy where a program does: one that fails is in the record and in
the table with the reason. Each measurement is a process of its own, since a preload is for a
process's life; rounds alternate between the two. Reported is the median over rounds of each
process's median. MYGEMM_MATH is the children's, too. With --profile, the first round's training
programs of PyTorch also look, after their measured steps, at the kernels that two more steps run on
the GPU.
"""
import argparse
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import traceback

import blas_offload
import blocks
import drop_in_workloads as workloads

BLOCK = "bench/drop_in.py"  # the name of a document's block, in other math modes with the mode
TIMEOUT = 300  # seconds of a child
LONGEST_REASON = 200  # characters
NUMBERS = {"first_loss": "loss of the first step", "gradient": "norm of its gradient",
           "loss": "loss of the last measured step"}
PACKAGES = {"PyTorch": ["torch"], "JAX": ["jax"],
            "CuPy": ["cupy-cuda13x", "cupy-cuda12x", "cupy"],
            "cuBLAS": ["nvidia-cublas", "nvidia-cublas-cu13", "nvidia-cublas-cu12"]}


class Failure(Exception):
    """A child without a result; its text is the reason."""


def one_line(text):
    return " ".join(str(text).split())[:LONGEST_REASON]


# ---- children ----------------------------------------------------------------------------------

def environment(name, preload):
    variables = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "XLA_FLAGS")}
    variables.update(workloads.ENVIRONMENT.get(name, {}), MYGEMM_REPORT="1")
    if preload:
        variables["LD_PRELOAD"] = str(preload)
    return variables


def output_of(command, variables):
    """(exit status, stdout, stderr). A child too slow is ended with all that it has started."""
    with subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no result within {TIMEOUT} s") from None
        return process.returncode, stdout, stderr


def result_of(status, stdout, stderr):
    """The object in the last line of stdout; a Failure where it has none, or holds a failure."""
    refused = [line for line in stderr.splitlines() if "cannot be preloaded" in line]
    if refused:
        raise Failure(one_line(refused[0]))
    try:
        result = json.loads(stdout.splitlines()[-1])
    except (IndexError, ValueError):
        result = None
    if isinstance(result, dict) and "failure" in result:
        raise Failure(result["failure"])
    if status != 0 or not isinstance(result, dict):
        said = [line for line in stderr.splitlines()
                if line.strip() and not line.startswith("mygemm:")]
        raise Failure(one_line(f"exit status {status}" + (f": {said[-1]}" if said else "")))
    return result


def child(name, preload, profile):
    """A child's result, and the lines of its report of calls."""
    command = [sys.executable, "-B", __file__, "--workload", name]
    status, stdout, stderr = output_of(command + ["--profile"] * profile,
                                       environment(name, preload))
    try:
        result = result_of(status, stdout, stderr)
    except Failure:
        print("\n".join(stderr.splitlines()[-15:]), file=sys.stderr, flush=True)
        raise
    return result, [line.removeprefix("mygemm:").strip() for line in stderr.splitlines()
                    if line.startswith("mygemm:") and "calls of process" not in line]


def be_child(name, profile):
    try:
        result = workloads.run(name, profile)
    except Exception as error:  # whatever a program fails with is a reason in the table
        traceback.print_exc()
        result = {"failure": one_line(f"{type(error).__name__}: {error}")}
    print(json.dumps(result), flush=True)


# ---- comparing ---------------------------------------------------------------------------------

def difference(ours, theirs):
    """|ours - theirs| as a share of |theirs|."""
    if ours == theirs:
        return 0.0
    return abs(ours - theirs) / abs(theirs) if theirs else math.inf


def summary(theirs, ours):
    """A workload's entry of the record, of the results of its rounds."""
    all_seconds = {"cublas": [r["seconds"] for r in theirs], "mygemm": [r["seconds"] for r in ours]}
    seconds = {side: statistics.median(values) for side, values in all_seconds.items()}
    entry = {"seconds": seconds, "speedup": seconds["cublas"] / seconds["mygemm"],
             "all_seconds": all_seconds}
    numbers = [number for number in NUMBERS if number in theirs[0] and number in ours[0]]
    if numbers:
        entry["differences"] = {
            number: max(difference(r[number], s[number]) for r, s in zip(ours, theirs))
            for number in numbers}
        entry["numbers"] = {side: {number: results[0][number] for number in numbers}
                            for side, results in (("cublas", theirs), ("mygemm", ours))}
    if "gpu_ms" in theirs[0] and "gpu_ms" in ours[0]:
        entry["gpu_ms"] = {"cublas": theirs[0]["gpu_ms"], "mygemm": ours[0]["gpu_ms"]}
    return entry


def compare(name, drop_in, rounds, profile):
    entry = {"workload": name, "about": workloads.title(name)}
    theirs, ours, report = [], [], []
    profile = profile and workloads.can_be_profiled(name)
    try:
        for number in range(rounds):
            side = "with cuBLAS"
            theirs.append(child(name, None, profile and number == 0)[0])
            side = "with mygemm"
            result, report = child(name, drop_in, profile and number == 0)
            ours.append(result)
    except Failure as failure:
        reason = str(failure) if not theirs else f"{side}: {failure}"
        return {**entry, "skipped": reason, "finished": {"cublas": theirs, "mygemm": ours}}
    return {**entry, **summary(theirs, ours), "calls": report}


def version(names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return None


def machine():
    versions = {program: version(names) for program, names in PACKAGES.items()}
    return {"device": blas_offload.device_name(),
            "math": os.environ.get("MYGEMM_MATH", "default"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "versions": {program: found for program, found in versions.items() if found}}


def measure_all(names, arguments):
    """Writes --out after each workload, so that a run that is cut off leaves what it has."""
    record = {**machine(), "commit": arguments.commit, "rounds": arguments.rounds, "results": []}
    for name in names:
        entry = compare(name, arguments.drop_in, arguments.rounds, arguments.profile)
        record["results"].append(entry)
        print(f"{name:24} {entry.get('skipped') or format(entry['speedup'], '.3f')}", flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(record, indent=1) + "\n")


# ---- the table ---------------------------------------------------------------------------------

def milliseconds(seconds):
    """Four digits, without an exponent."""
    value = 1e3 * seconds
    digits = 3 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{max(digits, 0)}f}"


def share(entry):
    """The part of the GPU's time for products that was in mygemm's kernels."""
    times = entry.get("gpu_ms", {}).get("mygemm")
    products = times["mygemm"] + times["cublas"] if times else 0
    return f"{100 * times['mygemm'] / products:.0f} %" if products else ""


def cells(entry):
    if "skipped" in entry:
        reason = entry["skipped"].replace("|", "\\|")
        return [f"{entry['about']}; not measured: {reason}", "", "", ""]
    times = (milliseconds(entry["seconds"][side]) for side in ("cublas", "mygemm"))
    return [entry["about"], *times, f"{entry['speedup']:.2f}"]


def differences(results):
    """A sentence on the largest differences of losses and gradients, where there are any."""
    found = []
    for number, name in NUMBERS.items():
        values = [r["differences"][number] for r in results if number in r.get("differences", {})]
        if values:
            found.append(f"{name} {max(values):.1e}")
    if not found:
        return ""
    return ("\nLargest relative differences between training with mygemm and with cuBLAS: "
            + ", ".join(found) + ".\n")


def extremes(results):
    """The entries of the programs that gained most and least."""
    programs = [entry for entry in results
                if "skipped" not in entry and entry["workload"] not in workloads.HOST]
    return [choose(programs, key=lambda entry: entry["speedup"]) for choose in (max, min)]


def table(record, file):
    results = record["results"]
    profiled = any("gpu_ms" in entry for entry in results)
    heading = ["program", "cuBLAS, ms", "mygemm, ms", "ratio"]
    if profiled:
        heading.append("share of the GPU time of products that mygemm took")
    rounds = f"{record['rounds']} round{'s' if record['rounds'] != 1 else ''}"
    math_mode = record.get("math", "default")
    about = [record["device"] or "no device", record["date"][:10], "commit " + record["commit"],
             *([] if math_mode == "default" else [f"MYGEMM_MATH={math_mode}"]), rounds,
             *(f"{name} {number}" for name, number in record.get("versions", {}).items())]
    return (blocks.table(heading, [[*cells(entry), *([share(entry)] if profiled else [])]
                                   for entry in results])
            + f"\n{', '.join(about)}; bench/results/{file.name}.\n" + differences(results))


def extremes_sentence(record, file):
    """A sentence on the programs that gained most and least."""
    most, least = (f"{entry['speedup']:.2f} times as fast ({entry['about']})"
                   for entry in extremes(record["results"]))
    return (f"Of the programs that were measured, the ones that gained least and most are {least} "
            f"and {most}: {record['device']}, {record['date'][:10]}, commit {record['commit']}; "
            f"bench/results/{file.name}.\n")


def show_table(arguments):
    record = json.loads(arguments.table.read_text())
    block = BLOCK
    if record.get("math", "default") != "default":
        block += " " + record["math"]
    if arguments.extremes:
        block += " extremes"
    text = (extremes_sentence if arguments.extremes else table)(record, arguments.table)
    blocks.put(arguments, block, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drop_in", nargs="?", help="libmygemm_cublas.so",
                        type=lambda name: pathlib.Path(name).resolve(strict=True))
    parser.add_argument("--workload", choices=list(workloads.WORKLOADS), help="be a child")
    parser.add_argument("--only", nargs="+", choices=list(workloads.WORKLOADS), metavar="NAME",
                        help="one or more of " + ", ".join(workloads.WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="the GPU's time by library, too")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--extremes", action="store_true")
    blocks.add_arguments(parser)
    arguments = parser.parse_args()
    if arguments.workload:
        be_child(arguments.workload, arguments.profile)
    elif arguments.table:
        show_table(arguments)
    elif not arguments.drop_in or arguments.rounds < 1:
        parser.error("which libmygemm_cublas.so, and how many rounds of at least one?")
    else:
        measure_all(arguments.only or list(workloads.WORKLOADS), arguments)


if __name__ == "__main__":
    main()
