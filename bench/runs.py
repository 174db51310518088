"""Access to the JSON file of a run of mygemm-bench, for the scripts of bench/."""

import json
import pathlib

USUAL_DATA = "uniform_signed"  # of products whose shape names no other kind
# Keys of older runs, which called a kernel a row.
RENAMED = {"row": "kernel", "rows": "kernels"}


def load(path):
    """A run with the keys of today."""
    run = json.loads(pathlib.Path(path).read_text())
    for entry in [*run.get("results", []),
                  *(error for product in run.get("accuracy", [])
                    for error in product.get("errors", []))]:
        for old, new in RENAMED.items():
            if old in entry:
                entry[new] = entry.pop(old)
    return run


def data(result):
    """The kind of data that a product was measured with."""
    return result["shape"].get("data", USUAL_DATA)


def math_mode(run):
    """The math mode of a run's products."""
    words = [word for argument in run["command_line"] for word in argument.split("=")]
    return words[words.index("--math") + 1] if "--math" in words else "default"


def measured(run, operation):
    """The results of one operation that hold a measurement."""
    return [r for r in run["results"] if r["operation"] == operation and "failure" not in r]


def peer(result, name):
    """The measurement of one of a result's peers, or None."""
    return next((p for p in result["peers"] if p["name"] == name), None)


def cublas_version(run):
    """"13.1", or "" where the run had no cuBLAS."""
    version = run.get("cublas")
    return f"{version // 10000}.{version // 100 % 100}" if version else ""


def caption(run):
    """Device, date and commit of a run, and the versions of its cuBLAS and driver."""
    machine = run["machine"]
    parts = [machine["name"], run["date"][:10], "commit " + run["commit"]]
    if cublas_version(run):
        parts.append("cuBLAS " + cublas_version(run))
    if machine["driver"]:
        parts.append("driver " + machine["driver"])
    return ", ".join(parts)
