#!/usr/bin/env python3
"""The gain of preloading libmygemm_cublas.so on one GPU and on several: the programs of
bench/scale_out_workloads.py with cuBLAS's own functions and with ours.

Usage: scale_out.py DROP_IN --out FILE [--gpus 1,2] [--engines torch,jax,libraries] [--rounds N]
                    [--seconds S] [--timeout S] [--commit HASH] [--small]
       scale_out.py --engine NAME --gpus 1,2 [--small]   a process of one engine: lines of JSON

DROP_IN is libmygemm_cublas.so. A preload is for a process's life: an engine's programs run once in
processes with it and once in others without; the order of the two changes from round to round. A
round that could end after --seconds is not begun; --timeout is that of an engine's processes.
Reported are medians over rounds of each process's median over steps. PyTorch has a process for each
GPU. What fails is in the record with its reason, and the exit status tells; so does a result of a
product that is not FP32's, and a process with the drop-in that took no call. bench/tables.py makes
the table of docs/scale-out.md.
"""
import argparse
import datetime
import importlib.metadata
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time
import traceback

import ranks
import scale_out_workloads as workloads

LARGEST_ERROR = 1e-6  # of a product; TF32's is over 1e-4
NUMBERS = ("first_loss", "gradient", "loss")
PACKAGES = {"pytorch": "torch", "jax": "jax", "nccl": "nvidia-nccl-cu13", "cublas_package":
            "nvidia-cublas", "cusolver_package": "nvidia-cusolver"}


# ---- processes of an engine --------------------------------------------------------------------

def be_engine(name, counts, sizes):
    """Prints each measurement when it is there: processes that are ended have not been in vain."""
    try:
        for found in workloads.ENGINES[name](counts, sizes):
            print(json.dumps(found), flush=True)
    except Exception as error:  # whatever a program fails with is a reason in the record
        traceback.print_exc()
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        print(json.dumps({"failure": reason}), flush=True)
        sys.exit(1)


def lines_of(rank):
    """The objects that a process printed."""
    found = []
    for line in rank.stdout.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return [item for item in found if isinstance(item, dict)]


def failure_of(found, drop_in):
    """Why some processes did not end well, or None."""
    for number, rank in enumerate(found):
        said = [item["failure"] for item in lines_of(rank) if "failure" in item]
        if said:
            return f"process {number}: {said[0]}"
        if "cannot be preloaded" in rank.stderr:
            return f"{drop_in} cannot be preloaded"
    for number, rank in enumerate(found):
        if rank.status != 0:
            end = "was ended" if rank.status is None else f"exit status {rank.status}"
            last = (rank.stderr.strip().splitlines() or [""])[-1][:200]
            return f"process {number}: {end}; {last}"
        if drop_in and ranks.taken(rank)[0] == 0:
            return f"process {number} with the drop-in took no call"
    return None


def measure(engine, drop_in, arguments):
    """The measurements, why they are not complete or None, and the reports of all processes."""
    counts = arguments.gpus
    command = [sys.executable, "-B", __file__, "--engine", engine, "--gpus",
               ",".join(map(str, counts)), *(["--small"] if arguments.small else [])]
    found = ranks.run(command, max(counts) if engine == "torch" else 1,
                      ranks.environment(drop_in, **workloads.ENVIRONMENT.get(engine, {})),
                      arguments.timeout)
    failure = failure_of(found, drop_in)
    if failure:
        print("\n".join(line for rank in found for line in rank.stderr.splitlines()[-12:]),
              file=sys.stderr, flush=True)
    measurements = [item for item in lines_of(found[0]) if "failure" not in item]
    return measurements, failure, [ranks.report(rank) for rank in found]


# ---- the record --------------------------------------------------------------------------------

def difference(ours, theirs):
    return abs(ours - theirs) / abs(theirs) if theirs else abs(ours)


def result_of(samples):
    """An entry of the record of the measurements of one case; samples: {side: [measurement]}."""
    first = next(iter(samples.values()))[0]
    result = {"operation": "scale_out", "label": first["about"], "unit": first["unit"],
              "shape": {key: first[key] for key in ("case", "base", "gpus", "work")}, "peers": []}
    wrong = [item["error"] for some in samples.values() for item in some
             if item.get("error", 0) > LARGEST_ERROR]
    if wrong or len(samples) < 2:
        missing = [side for side in ("cublas", "mygemm") if side not in samples]
        return {**result, "failure": f"an error of {max(wrong):.1e}" if wrong
                else f"not measured with {missing[0]}"}
    all_ms = {side: [1e3 * item["seconds"] for item in some] for side, some in samples.items()}
    ms = {side: statistics.median(values) for side, values in all_ms.items()}
    rate = first["work"] / (1e-3 * ms["mygemm"])
    result.update(ms={"median": ms["mygemm"]}, rate=rate, all_ms=all_ms, peers=[
        {"name": "cublas", "ms": {"median": ms["cublas"]}, "ratio": ms["cublas"] / ms["mygemm"],
         "rate": first["work"] / (1e-3 * ms["cublas"])}])
    if "error" in first:
        result["errors"] = {side: max(item["error"] for item in some)
                            for side, some in samples.items()}
    numbers = [number for number in NUMBERS if number in first]
    if numbers:
        result["numbers"] = {side: {number: some[0][number] for number in numbers}
                             for side, some in samples.items()}
        result["differences"] = {number: max(difference(ours[number], theirs[number])
                                             for ours, theirs in zip(samples["mygemm"],
                                                                     samples["cublas"]))
                                 for number in numbers}
    return result


def answer_of(*command):
    try:
        return subprocess.run(command, check=True, text=True, capture_output=True,
                              timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine():
    """The GPUs, their driver, how they are linked, and versions of programs."""
    lines = answer_of("nvidia-smi", "--query-gpu=name,driver_version",
                      "--format=csv,noheader").splitlines()
    name, driver = lines[0].split(", ") if lines else ("no device", "")
    versions = {program: version(package) for program, package in PACKAGES.items()}
    return {"machine": {"name": name, "driver": driver, "gpus": len(lines),
                        "links": [line for line in
                                  answer_of("nvidia-smi", "topo", "-m").splitlines()
                                  if re.match(r"GPU\d", line)]},
            **{program: found for program, found in versions.items() if found},
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


class Record:
    """Written after each engine, so that a run that is cut off leaves all that it has."""

    def __init__(self, arguments):
        self.file = arguments.out
        self.head = {**machine(), "commit": arguments.commit, "command_line": sys.argv[1:]}
        self.samples, self.failures, self.calls = {}, [], {}

    def add(self, engine, side, measurements, failure, reports):
        for item in measurements:
            self.samples.setdefault((item["case"], item["gpus"]), {}).setdefault(side, []).append(
                item)
        if failure:
            self.failures.append({"engine": engine, "side": side, "failure": failure})
        if side == "mygemm":
            self.calls[engine] = reports
        self.write()

    def results(self):
        return [result_of(samples) for samples in self.samples.values()]

    def write(self):
        record = {**self.head, "failures": self.failures, "calls": self.calls,
                  "results": self.results()}
        self.file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def show(self):
        for result in self.results():
            if "failure" in result:
                line = result["failure"]
            else:
                peer = result["peers"][0]
                line = (f"{peer['ms']['median']:9.2f} ms  preloaded {result['ms']['median']:9.2f} "
                        f"ms  {peer['ratio']:.2f}")
            print(f"{result['shape']['case']:22} {result['shape']['gpus']} GPU  {line}")
        for failure in self.failures:
            print(f"FAILED: {failure['engine']}, {failure['side']}: {failure['failure']}")

    def failed(self):
        return bool(self.failures) or any("failure" in result for result in self.results())


def measure_all(arguments):
    record = Record(arguments)
    try:
        run_rounds(record, arguments)
    finally:
        record.show()
    return 1 if record.failed() else 0


def run_rounds(record, arguments):
    start, longest = time.monotonic(), 0
    for number in range(arguments.rounds):
        begun = time.monotonic()
        if number and begun - start + longest > arguments.seconds:
            break
        sides = ["cublas", "mygemm"] if number % 2 == 0 else ["mygemm", "cublas"]
        for engine in arguments.engines:
            for side in sides:
                drop_in = arguments.drop_in if side == "mygemm" else None
                since = time.monotonic()
                record.add(engine, side, *measure(engine, drop_in, arguments))
                print(f"{engine}, {side}: {time.monotonic() - since:.0f} s", flush=True)
        longest = max(longest, time.monotonic() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drop_in", nargs="?", help="libmygemm_cublas.so",
                        type=lambda name: pathlib.Path(name).resolve(strict=True))
    parser.add_argument("--engine", choices=list(workloads.ENGINES), help="be its process")
    parser.add_argument("--engines", default=list(workloads.ENGINES),
                        type=lambda text: text.split(","))
    parser.add_argument("--gpus", default=[1, 2],
                        type=lambda text: [int(count) for count in text.split(",")])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--small", action="store_true", help="sizes to test the script with")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    unknown = set(arguments.engines) - set(workloads.ENGINES)
    if arguments.engine:
        be_engine(arguments.engine, arguments.gpus,
                  workloads.SMALL if arguments.small else workloads.FULL)
    elif not arguments.drop_in or not arguments.out or unknown or arguments.rounds < 1:
        parser.error("which libmygemm_cublas.so, which --out, engines of "
                     + ", ".join(workloads.ENGINES) + " and how many rounds of at least one?")
    else:
        # So that its processes are ended, too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
        sys.exit(measure_all(arguments))


if __name__ == "__main__":
    main()
