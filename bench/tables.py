#!/usr/bin/python3
"""Tables of speed for README.md, docs/performance.md, docs/invariance.md and docs/scale-out.md,
from bench/results/.

Usage: bench/tables.py             prints the tables
       bench/tables.py --write     puts them into the blocks of the documents
       bench/tables.py --check     fails unless they are there

Every figure of these documents, in a table or in a sentence, is in such a block. A shape that a run
measured more than once is shown with its first measurement.
"""

import argparse
import pathlib

import blocks
import runs
import scale_out_table
import tables_16
from cells import (figure, first_of_each, geometric_mean, microseconds, ratio, span,
                   times)

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = {"default": "h200-sgemm-default.json", "strict": "h200-sgemm.json",
         "short": "h200-sgemm-short.json", "random": "h200-sgemm-random.json",
         "random_default": "h200-sgemm-random-default.json",
         "data": "h200-sgemm-data.json", "triangles": "h200-gemm-triangles.json",
         "softmax": "h200-softmax.json", "cross_entropy": "h200-cross-entropy.json",
         "transpose": "h200-transpose.json", "hot": "h200-transpose-hot.json",
         "overhead": "h200-overhead.json", "products_16": "h200-products-16.json",
         "products_mixed": "h200-products-mixed.json", "grouped": "h200-grouped.json",
         "invariant_16": "h200-products-16-invariant.json",
         "scale_out": "h200-scale-out.json"}
NO_RUN = "No such run is in the repository yet.\n"
SHORT = 5e-3  # ms; the launch is a large part of a cuBLAS product that takes no longer
LARGE = 1000  # smallest m, n and k of a large product
SMALL = 1 << 20  # bytes read and written by a small transpose
SLOWER = 0.95  # of a peer's speed; random products below are listed


def load_all(folder):
    """The runs that the documents quote and that are there, by name."""
    return {name: runs.load(folder / file) for name, file in FILES.items()
            if (folder / file).exists()}


# ---- matrix products ---------------------------------------------------------------------------

def product_name(result):
    s = result["shape"]
    sides = f"{s['m']}³" if s["m"] == s["n"] == s["k"] else f"{s['m']} × {s['n']} × {s['k']}"
    batch = "" if s["form"] == "single" else f", {s['batch']} {s['form']}"
    return f"{sides} {s['transa']}{s['transb']}{batch}"


def product_order(result):
    s = result["shape"]
    return s["m"] * s["n"] * s["k"], s["m"], s["n"], s["transa"], s["transb"]


def square(result):
    s = result["shape"]
    return s["m"] == s["n"] == s["k"] and s["form"] == "single"


def aligned(result):
    """Whether all leading dimensions are multiples of 4: 16 bytes, as copies of tiles need."""
    return all(result["shape"][name] % 4 == 0 for name in ("lda", "ldb", "ldc"))


def product_groups(results):
    single = [r for r in results if r["shape"]["form"] == "single"]
    return {
        "Square products, leading dimensions multiples of 4":
            [r for r in single if square(r) and aligned(r)],
        "Leading dimensions that are no multiples of 4": [r for r in single if not aligned(r)],
        "Other products, leading dimensions multiples of 4":
            [r for r in single if not square(r) and aligned(r)],
        "Batches (of strided matrices or of pointers)":
            [r for r in results if r["shape"]["form"] != "single"],
    }


PEERS = {"cublas": "cuBLAS, `CUBLAS_DEFAULT_MATH`", "cublas_pedantic": "`CUBLAS_PEDANTIC_MATH`"}


def product_table(results, peers):
    heading = ["m × n × k, op", "µs", "TFLOP/s", "kernel", "cuBLAS, µs",
               *(f"speed over {PEERS[peer]}" for peer in peers)]
    return blocks.table(heading, [
        [product_name(r), microseconds(r), figure(r["rate"]), r["kernel"],
         microseconds(runs.peer(r, "cublas")), *(times(r, peer) for peer in peers)]
        for r in results])


def source(run, name):
    return f"{runs.caption(run)}; bench/results/{FILES[name]}.\n"


def products(run, name, mode, peers):
    results = first_of_each(runs.measured(run, "sgemm"))
    text = f"mygemm in {mode} math mode; the peer is `cublasSgemm` and its batched siblings.\n"
    for title, chosen in product_groups(results).items():
        if not chosen:
            continue
        text += f"\n{title}:\n\n" + product_table(sorted(chosen, key=product_order), peers)
        text += "\n" + source(run, name)
        text += f"\nSpeed over {PEERS[peers[-1]]}: {span(chosen, peers[-1])}"
        large = [r for r in chosen if min(r["shape"][side] for side in "mnk") >= LARGE]
        if 1 < len(large) < len(chosen):
            text += f"; m, n and k from {LARGE} on: {span(large, peers[-1])}"
        text += ".\n"
    return text


def random_products(run, name, math, peers):
    """How random products compare with cuBLAS, and all that are clearly slower."""
    results = runs.measured(run, "sgemm")
    leading_dimensions, lines = ("lda", "ldb", "ldc"), []
    for leading, aligned in [("multiples of 4", True), ("others", False)]:
        group = [r for r in results
                 if aligned == all(r["shape"][ld] % 4 == 0 for ld in leading_dimensions)]
        for title, is_short in [("more than 5 µs", False), ("at most 5 µs", True)]:
            for peer in peers:
                values = [ratio(r, peer) for r in group
                          if is_short == (runs.peer(r, "cublas")["ms"]["median"] <= SHORT)]
                if values:
                    lines.append([leading, title, PEERS[peer], len(values),
                                  f"{geometric_mean(values):.2f}", sum(v < 1 for v in values),
                                  sum(v < SLOWER for v in values), f"{min(values):.2f}",
                                  f"{max(values):.2f}"])
    slower = sorted((r for r in results if ratio(r, "cublas") < SLOWER),
                    key=lambda r: ratio(r, "cublas"))
    listed = [[product_name(r), *(r["shape"][ld] for ld in leading_dimensions),
               microseconds(r), r["kernel"], times(r, "cublas")] for r in slower]
    return (f"mygemm in {math} math mode, {len(results)} products.\n\n" +
            blocks.table(["leading dimensions", "cuBLAS takes", "peer", "products",
                          "geometric mean of the speed over it", "slower than it",
                          f"below {SLOWER}", "least", "most"], lines) +
            f"\n<details><summary>The {len(slower)} products with less than {SLOWER} of cuBLAS's "
            "speed</summary>\n\n" +
            blocks.table(["m × n × k, op", "lda", "ldb", "ldc", "µs", "kernel",
                          f"speed over {PEERS['cublas']}"], listed) +
            "\n</details>\n\n" + source(run, name))


def products_by_data(run):
    """A table for each shape: times with every kind of data over those with the usual one."""
    text = "mygemm in default math mode; the peer is `cublasSgemm` in `CUBLAS_DEFAULT_MATH`.\n"
    results = runs.measured(run, "sgemm")
    for usual in (r for r in results if runs.data(r) == runs.USUAL_DATA):
        def over_usual(timed, of):
            return f"{timed['ms']['median'] / of['ms']['median']:.2f}"

        theirs = runs.peer(usual, "cublas")
        lines = [[f"`{runs.data(r)}`", r["kernel"], microseconds(r), over_usual(r, usual),
                  microseconds(runs.peer(r, "cublas")),
                  over_usual(runs.peer(r, "cublas"), theirs), times(r, "cublas")]
                 for r in results if product_name(r) == product_name(usual)]
        text += f"\n{product_name(usual)}:\n\n" + blocks.table(
            ["data", "kernel", "µs", f"over `{runs.USUAL_DATA}`", "cuBLAS, µs",
             f"over `{runs.USUAL_DATA}`", "speed over cuBLAS"], lines)
    return text + "\n" + source(run, "data")


def triangles(run):
    results = runs.measured(run, "gemm")
    lines = [[product_name(r), "yes" if r["shape"]["reads_c"] else "no", microseconds(r),
              figure(r["rate"]), microseconds(runs.peer(r, "cublas")), times(r, "cublas"),
              times(r, "plain")] for r in results]
    return ("mygemm in default math mode; TFLOP/s count a triangle's operations.\n\n" +
            blocks.table(["n × n × k, op", "reads C", "µs", "TFLOP/s", "cuBLAS, µs",
                          "speed over `cublasSsyrkx`", "over mygemm's own whole product"], lines) +
            "\n" + source(run, "triangles") +
            f"\nSpeed over `cublasSsyrkx`: {span(results, 'cublas')}.\n")


# ---- softmax and transposes --------------------------------------------------------------------

def softmax_groups(results):
    def of(mode, direction, *types):
        return [r for r in results if (r["shape"]["mode"], r["shape"]["direction"]) == (
            mode, direction) and r["shape"]["xtype"] in types]
    return {
        "Softmax, fp32": of("softmax", "forward", "f32"),
        "Softmax, fp16 and bf16": of("softmax", "forward", "f16", "bf16"),
        "Log-softmax": of("log", "forward", "f32", "f16", "bf16"),
        "Gradient of softmax": of("softmax", "backward", "f32", "f16", "bf16"),
        "Gradient of log-softmax": of("log", "backward", "f32", "f16", "bf16"),
    }


def softmax(run):
    text = ""
    for title, chosen in softmax_groups(first_of_each(runs.measured(run, "softmax"))).items():
        compared = any(ratio(r, "PyTorch") for r in chosen)
        heading = ["rows × columns", "type", "µs", "GB/s", "kernel", "speed over a copy"]
        lines = [[f"{r['shape']['rows']} × {r['shape']['cols']}", r["shape"]["xtype"],
                  microseconds(r), figure(r["rate"]), r["kernel"], times(r, "copy"),
                  *([times(r, "PyTorch")] if compared else [])] for r in chosen]
        text += f"{title}:\n\n" + blocks.table(heading + ["speed over PyTorch"] * compared, lines)
        text += "\n" + source(run, "softmax") + f"\nSpeed over a copy: {span(chosen, 'copy')}"
        text += f"; over PyTorch {run['pytorch']}: {span(chosen, 'PyTorch')}" if compared else ""
        text += ".\n\n"
    return text.rstrip("\n") + "\n"


def cross_entropy(run):
    lines = [[r["label"].replace(" x ", " × "), microseconds(r), figure(r["rate"]), r["kernel"],
              times(r, "copy"), times(r, "PyTorch")]
             for r in first_of_each(runs.measured(run, "cross_entropy"))]
    return blocks.table(["rows × classes", "µs", "GB/s", "kernel", "speed over a copy",
                         f"over PyTorch {run['pytorch']}"], lines) + "\n" + source(
                             run, "cross_entropy")


def transpose_groups(results):
    plain = [r for r in results if r["shape"]["batch"] == 1 and not r["shape"]["in_place"]]
    large = [r for r in plain if moved(r) >= SMALL]
    return {
        "4-byte elements, square": [r for r in large if fp32(r) and same_sides(r)],
        "4-byte elements, not square": [r for r in large if fp32(r) and not same_sides(r)],
        "Elements of 1, 2, 8 and 16 bytes": [r for r in large if not fp32(r)],
        "Less than 1 MiB read and written": [r for r in plain if moved(r) < SMALL],
        "Batches": [r for r in results if r["shape"]["batch"] > 1],
        "In place": [r for r in results if r["shape"]["in_place"]],
    }


def moved(result):
    """Bytes that a transpose reads and writes."""
    s = result["shape"]
    return 2 * s["rows"] * s["cols"] * s["batch"] * s["element_size"]


def fp32(result):
    return result["shape"]["element_size"] == 4


def same_sides(result):
    return result["shape"]["rows"] == result["shape"]["cols"]


def transpose_name(result):
    s = result["shape"]
    return f"{s['rows']} × {s['cols']}" + (f", {s['batch']} of them" if s["batch"] > 1 else "")


def transpose_order(result):
    s = result["shape"]
    return s["element_size"], s["rows"] * s["cols"], s["rows"]


def transpose_tables(run, name, groups):
    text = ""
    for title, chosen in groups.items():
        if not chosen:
            continue
        compared = any(ratio(r, "cublas") for r in chosen)
        heading = ["rows × columns", "bytes of an element", "µs", "GB/s", "kernel",
                   "speed over a copy"] + ["speed over `cublasSgeam`"] * compared
        lines = [[transpose_name(r), r["shape"]["element_size"], microseconds(r), figure(r["rate"]),
                  r["kernel"], times(r, "copy"), *([times(r, "cublas")] * compared)]
                 for r in sorted(chosen, key=transpose_order)]
        text += f"{title}:\n\n" + blocks.table(heading, lines) + "\n" + source(run, name)
        text += f"\nSpeed over a copy: {span(chosen, 'copy')}"
        text += f"; over `cublasSgeam`: {span(chosen, 'cublas')}" if compared else ""
        text += ".\n\n"
    return text.rstrip("\n") + "\n"


# ---- the rest ----------------------------------------------------------------------------------

def overhead(run):
    lines = []
    for entry in run["overhead"]:
        in_us = entry["unit"] == "ms" and entry["median"] < 0.1
        scale, unit = (1e3, "µs") if in_us else (1, entry["unit"])
        lines.append([entry["name"], figure(entry["median"] * scale), unit])
    return blocks.table(["call", "median", "unit"], lines) + "\n" + source(run, "overhead")


# The lines of the README's table: a run, the label of a result, its peer.
SUMMARY = [
    ("default", "1024 x 1024 x 1024 NN", "cublas"), ("default", "4096 x 4096 x 4096 NN", "cublas"),
    ("default", "2047 x 2047 x 2047 NN", "cublas"), ("default", "513 x 513 x 513 NN", "cublas"),
    ("strict", "4096 x 4096 x 4096 NN", "cublas_pedantic"),
    ("products_16", "4096 x 4096 x 4096 NN bf16", "PyTorch"),
    ("products_16", "4095 x 4095 x 4095 NN bf16", "PyTorch"),
    ("softmax", "65536 x 4096 f32", "copy"), ("softmax", "65536 x 4096 bf16", "copy"),
    ("transpose", "16384 x 16384, 4 B", "copy"), ("transpose", "16384 x 16385, 4 B", "copy"),
]
OPERATIONS = {"default": "product, default math", "strict": "product, strict math",
              "random": "product, strict math, random shapes",
              "random_default": "product, default math, random shapes",
              "products_16": "product of 16 bits", "softmax": "softmax",
              "transpose": "transpose"}
SPANS = {"default": ["cublas"], "strict": ["cublas_pedantic"], "random": ["cublas_pedantic"],
         "random_default": ["cublas"], "softmax": ["copy", "PyTorch"],
         "transpose": ["copy", "cublas"]}


def peer_name(run, operation, name):
    if operation == "transpose" and name == "cublas":
        return "`cublasSgeam`"
    return {"copy": "a device copy of as many bytes", "PyTorch": f"PyTorch {run.get('pytorch')}",
            "cublas_pedantic": "cuBLAS, " + PEERS["cublas_pedantic"]}.get(name) or PEERS[name]


def summary(all_runs):
    lines = []
    for name, label, peer in SUMMARY:
        run = all_runs[name]
        result = next(r for r in run["results"] if r["label"] == label)
        operation = result["operation"]
        shape = product_name(result) if operation == "sgemm" else label.replace(" x ", " × ")
        lines.append([OPERATIONS[name], shape, microseconds(result),
                      f"{figure(result['rate'])} {result['unit']}",
                      peer_name(run, operation, peer), times(result, peer)])
    return blocks.table(["operation", "shape", "µs", "rate", "peer", "speed over the peer"], lines)


def spans(all_runs):
    text = "Speed over the peers, from the least of all shapes that were measured to the most:\n\n"
    for name, peers in SPANS.items():
        run = all_runs[name]
        results = first_of_each(run["results"])
        operation = results[0]["operation"]
        over = "; ".join(f"speed over {peer_name(run, operation, peer)}: {span(results, peer)}"
                         for peer in peers if any(ratio(r, peer) for r in results))
        text += f"- {OPERATIONS[name]}; {over}. {source(run, name)}"
    return text


def documents(all_runs):
    """{document: {block: text}}."""
    def named(texts):
        return {f"bench/tables.py {name}": text for name, text in texts.items()}
    return {
        "README.md": named({"summary": summary(all_runs)}),
        "docs/performance.md": named({
            "spans": spans(all_runs),
            "default": products(all_runs["default"], "default", "default", ["cublas"]),
            "short": (products(all_runs["short"], "short", "default", ["cublas"])
                      if "short" in all_runs else NO_RUN),
            "strict": products(all_runs["strict"], "strict", "strict", list(PEERS)),
            **{name: random_products(all_runs[name], name, math, peers) for name, math, peers in
               [("random_default", "default", ["cublas"]), ("random", "strict", list(PEERS))]},
            "data": products_by_data(all_runs["data"]) if "data" in all_runs else NO_RUN,
            "triangles": triangles(all_runs["triangles"]) if "triangles" in all_runs else NO_RUN,
            **{name: (tables_16.products(all_runs[name]) + source(all_runs[name], name)
                      if name in all_runs else NO_RUN)
               for name in ["products_16", "products_mixed"]},
            "grouped": (tables_16.grouped(all_runs["grouped"]) +
                        source(all_runs["grouped"], "grouped")
                        if "grouped" in all_runs else NO_RUN),
            "softmax": softmax(all_runs["softmax"]),
            "cross_entropy": cross_entropy(all_runs["cross_entropy"]),
            "transpose": transpose_tables(all_runs["transpose"], "transpose", transpose_groups(
                first_of_each(runs.measured(all_runs["transpose"], "transpose")))),
            "hot": transpose_tables(all_runs["hot"], "hot", {
                "4-byte elements, square": runs.measured(all_runs["hot"], "transpose")}),
            "overhead": overhead(all_runs["overhead"])}),
        "docs/invariance.md": named({
            "invariant_16": (tables_16.invariance(all_runs["invariant_16"],
                                                  all_runs["products_16"]) +
                             source(all_runs["invariant_16"], "invariant_16")
                             if "invariant_16" in all_runs else NO_RUN)}),
        "docs/scale-out.md": named({
            "scale_out": (scale_out_table.table(all_runs["scale_out"], FILES["scale_out"])
                          if "scale_out" in all_runs else NO_RUN)}),
    }


def main(description, documents_of):
    """The jobs of this script and of kernel_tables.py; documents_of: see documents()."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    job = parser.add_mutually_exclusive_group()
    job.add_argument("--write", action="store_true", help="put the tables into the documents")
    job.add_argument("--check", action="store_true", help="fail unless the documents have them")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--documents", type=pathlib.Path, default=ROOT,
                        help="the folder of README.md and docs")
    arguments = parser.parse_args()
    for document, contents in documents_of(load_all(arguments.results)).items():
        if arguments.write:
            blocks.write(arguments.documents / document, contents)
        elif arguments.check:
            blocks.check(arguments.documents / document, contents)
        else:
            print("\n".join(contents.values()))


if __name__ == "__main__":
    main(__doc__, documents)
