#!/usr/bin/python3
"""Tables of the kernels' speed over a copy for docs/kernels/, from the runs in bench/results/.

Usage: bench/kernel_tables.py [--write | --check] [--results FOLDER] [--documents FOLDER]

Each shape that moves 32 MiB or more counts for the kernel that the plan chose for it.
"""

import blocks
import runs
import tables

PAGES = {"softmax": "docs/kernels/softmax.md", "transpose": "docs/kernels/transpose.md"}
LEAST_BYTES = 32 << 20  # with less, the launch is a large part of the time


def element_of(result):
    """The type of a softmax's input, the bytes of a transpose's element."""
    shape = result["shape"]
    if "element_size" in shape:
        return f"{shape['element_size']} B"
    return "fp32" if shape["xtype"] == "f32" else "16 bits"


def call_of(result):
    """The gradient and transposes in place are not what a copy does once."""
    if result["shape"].get("direction") == "backward":
        return ", gradient"
    return ", in place" if result["shape"].get("in_place") else ""


def moved(result):
    """Bytes that a result reads and writes."""
    return result["rate"] * 1e9 * result["ms"]["median"] * 1e-3


def by_kernel(run, name):
    """A line for each kernel and kind of element."""
    groups = {}
    for result in tables.first_of_each(runs.measured(run, name)):
        speed = tables.ratio(result, "copy")
        if speed and moved(result) >= LEAST_BYTES:
            key = result["kernel"], element_of(result) + call_of(result)
            groups.setdefault(key, []).append(speed)
    lines = [[kernel, kind, len(speeds), f"{min(speeds):.2f}",
              f"{tables.geometric_mean(speeds):.2f}", f"{max(speeds):.2f}"]
             for (kernel, kind), speeds in sorted(groups.items())]
    return ("Shapes that read and write 32 MiB or more:\n\n" +
            blocks.table(["kernel", "elements", "shapes", "least speed over a copy",
                          "geometric mean", "most"], lines) + "\n" + tables.source(run, name))


def documents(all_runs):
    """{document: {block: text}}."""
    return {page: {"bench/kernel_tables.py": by_kernel(all_runs[name], name)}
            for name, page in PAGES.items()}


if __name__ == "__main__":
    tables.main(__doc__, documents)
