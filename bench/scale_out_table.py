"""The table of docs/scale-out.md, from a run of bench/scale_out.py. Used by tables.py."""
import blocks
import runs
from cells import figure

NAMES = {"first_loss": "loss of the first step", "gradient": "norm of its gradient",
         "loss": "loss of the last measured step"}


def gain(result, rate, bases):
    """The throughput over that of one GPU, of the program without the preload or with it."""
    base = bases.get(result["shape"]["base"])
    return f"{rate(result) / rate(base):.2f}" if base else ""


def theirs(result):
    return runs.peer(result, "cublas")["rate"]


def ours(result):
    return result["rate"]


def differences(results):
    """A sentence on the largest differences between training with mygemm and with cuBLAS."""
    found = [f"{name} {max(values):.1e}" for number, name in NAMES.items()
             if (values := [r["differences"][number] for r in results if "differences" in r])]
    return ("\nLargest relative differences between training preloaded and without the preload: "
            + ", ".join(found) + ".\n") if found else ""


def errors(results):
    found = {side: max((r["errors"][side] for r in results if "errors" in r), default=None)
             for side in ("cublas", "mygemm")}
    if None in found.values():
        return ""
    return ("\nLargest errors of products, as a share of |A| |B|: "
            f"{found['mygemm']:.1e} preloaded, {found['cublas']:.1e} without.\n")


def lines_of(results):
    bases = {r["shape"]["case"]: r for r in results if r["shape"]["gpus"] == 1}
    bases = {case: r for case, r in bases.items() if case == r["shape"]["base"]}
    for result in results:
        peer = runs.peer(result, "cublas")
        is_base = bases.get(result["shape"]["base"]) is result
        yield [result["label"], result["shape"]["gpus"], figure(peer["ms"]["median"]),
               figure(result["ms"]["median"]), f"{peer['ratio']:.2f}",
               *(["", ""] if is_base else
                 [gain(result, theirs, bases), gain(result, ours, bases)])]


def table(run, file):
    results = runs.measured(run, "scale_out")
    versions = [f"{name} {run[key]}" for key, name in
                (("pytorch", "PyTorch"), ("jax", "JAX"), ("nccl", "NCCL"),
                 ("cublas_package", "cuBLAS"), ("cusolver_package", "cuSOLVER")) if key in run]
    text = blocks.table(["program", "GPUs", "without, ms", "preloaded, ms", "ratio",
                         "throughput over one GPU's, without", "preloaded"], lines_of(results))
    text += (f"\n{run['machine']['gpus']} × {runs.caption(run)}, {', '.join(versions)}; "
             f"bench/results/{file}.\n")
    missing = [f"{r['label']} on {r['shape']['gpus']} GPUs: {r['failure']}"
               for r in run["results"] if "failure" in r]
    missing += [f"{f['engine']}, {f['side']}: {f['failure']}" for f in run["failures"]]
    if missing:
        text += "\nNot measured: " + "; ".join(missing) + ".\n"
    return text + errors(results) + differences(results)
