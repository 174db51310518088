"""Tables of products of 16-bit operands, from runs of torch_products.py and torch_grouped.py."""

import blocks
import runs
from cells import figure, geometric_mean, microseconds, span, times

TITLES = {"squares": "Squares", "shapes": "Other shapes", "skinny": "m or n of 1 to 64",
          "odd": "Odd sides and leading dimensions", "random": "Random multiples of 8",
          "random_odd": "Random sides",
          "batches": "Batches", "taken": "Large ones, and many results of k to 64",
          "mixed": "An FP32 and a BF16 operand"}


def name(result):
    return result["label"].replace(" x ", " × ")


def products(run):
    """By the suites of torch_products.py."""
    text = ""
    results = runs.measured(run, "gemm")
    for suite, title in TITLES.items():
        chosen = [r for r in results if r["shape"]["suite"] == suite]
        if not chosen:
            continue
        lines = [[name(r), microseconds(r), figure(r["rate"]), r["kernel"], times(r, "PyTorch")]
                 for r in chosen]
        text += f"{title}:\n\n" + blocks.table(
            ["m × n × k, op, types", "µs", "TFLOP/s", "kernel",
             f"speed over PyTorch {run['pytorch']}"], lines)
        text += f"\nSpeed over PyTorch: {span(chosen, 'PyTorch')}.\n\n"
    return text


def invariance(batch, plain):
    """Batch-invariant products beside those of the plan's free choice."""
    free = {r["label"]: r for r in runs.measured(plain, "gemm")}
    pairs = [(r, free[r["label"]]) for r in runs.measured(batch, "gemm") if r["label"] in free]
    speeds = [of_free["ms"]["median"] / r["ms"]["median"] for r, of_free in pairs]
    lines = [[name(r), of_free["kernel"], microseconds(of_free), r["kernel"], microseconds(r),
              f"{speed:.2f}"] for (r, of_free), speed in zip(pairs, speeds)]
    return ("Random multiples of 8:\n\n" + blocks.table(
        ["m × n × k, op, types", "kernel", "µs", "batch-invariant", "µs", "speed kept"], lines) +
            f"\nSpeed kept: {geometric_mean(speeds):.2f} in the geometric mean, "
            f"{min(speeds):.2f} at the least. ")


def grouped(run):
    """Grouped products, from a run of torch_grouped.py."""
    results = runs.measured(run, "gemm_grouped")
    lines = [[name(r), microseconds(r), figure(r["rate"]), r["kernel"], times(r, "PyTorch"),
              times(r, "one product")] for r in results]
    return (blocks.table(["tokens, outputs × inputs, weights, type", "µs", "TFLOP/s", "kernel",
                          f"speed over PyTorch {run['pytorch']}", "over one product"], lines) +
            f"\nSpeed over PyTorch: {span(results, 'PyTorch')}.\n\n")
