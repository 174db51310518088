#!/usr/bin/python3
"""Draws results of mygemm-bench (bench/results/*.json) as figures for the README and the documents.

Usage: bench/plot.py [RESULT.json ...] [--out docs/images] [--format svg]

Without files, takes bench/results/*.json. Every figure names the device, date and commit of the run
that it shows. Products of the suite "random" become a map of ratios, those of "squares" a line, and
errors (`mygemm-bench accuracy`) one panel for each kind of data.
Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
import accuracy  # noqa: E402
import runs  # noqa: E402

OURS = "#1b6ca8"
PEERS = ["#e08e2b", "#8a8a8a", "#5b9c5a"]
FORCED = ["#7fb6dd", "#123f63", "#9a6fb0"]  # kernels of ours that the plan did not choose
NAIVE = "naive"
LARGE = 1 << 20  # elements; smaller memory-bound problems measure a cache
THIN = 16  # rows or columns of C; fewer make a product thin


def peer_rate(result, name):
    peer = runs.peer(result, name)
    return peer["rate"] if peer else None


def peer_names(results):
    """Names of the peers of some results, without our own naive kernel, in order."""
    names = [peer["name"] for result in results for peer in result["peers"]]
    return [name for name in dict.fromkeys(names) if name != NAIVE]


def finish(figure, run, path):
    figure.text(0.01, 0.005, runs.caption(run), fontsize=7, color="#555555")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(path)


def square_products(run):
    """Single square products without transposes and padding, smallest first. Odd sizes, which
    belong to another suite, would make a saw of the line."""
    chosen = {}
    for result in runs.measured(run, "sgemm"):
        s = result["shape"]
        square = s["m"] == s["n"] == s["k"] == s["lda"] == s["ldb"] == s["ldc"]
        plain = s["form"] == "single" and s["transa"] == s["transb"] == "N"
        if square and plain and s["m"] % 128 == 0:
            chosen.setdefault(s["m"], result)
    return [chosen[size] for size in sorted(chosen)]


def plot_sgemm(run, path):
    """Rate over size, ours and the libraries."""
    results = square_products(run)
    if len(results) < 2 or any(runs.data(r) != runs.USUAL_DATA for r in run["results"]):
        return  # products of several kinds of data make a table
    sizes = [r["shape"]["m"] for r in results]
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot(sizes, [r["rate"] for r in results], "o-", color=OURS, label="mygemm")
    for colour, name in zip(PEERS, peer_names(results)):
        axes.plot(sizes, [peer_rate(r, name) for r in results], "s--", color=colour, label=name,
                  markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("m = n = k")
    axes.set_ylabel(results[0]["unit"])
    axes.set_ylim(bottom=0)
    axes.set_title("FP32 matrix product")
    axes.grid(alpha=0.3)
    axes.legend()
    finish(figure, run, path)


def plot_ratios(run, path):
    """Our speed over the library's for each single product of a run with the suite "random": where
    in the space of shapes we are ahead, by C's size and k, and by work."""
    results = runs.measured(run, "sgemm")
    peers = peer_names(results)
    if "random" not in ",".join(run["command_line"]).split(",") or not peers:
        return
    peer = peers[0]
    results = [r for r in results if r["shape"]["form"] == "single" and peer_rate(r, peer)]
    ratios = [r["rate"] / peer_rate(r, peer) for r in results]
    shapes = [r["shape"] for r in results]
    areas, depths = [s["m"] * s["n"] for s in shapes], [s["k"] for s in shapes]
    aligned = [all(s[name] % 4 == 0 for name in ("lda", "ldb", "ldc")) for s in shapes]
    panels = [
        ("leading dimensions multiples of 4", areas, depths, "m n", "k", [True]),
        ("others", areas, depths, "m n", "k", [False]),
        ("all", [2.0 * a * k for a, k in zip(areas, depths)], ratios, "FLOP", "ratio",
         [True, False]),
    ]
    figure, all_axes = plt.subplots(1, 3, figsize=(13, 4.4))
    for axes, (title, x, y, xlabel, ylabel, alignments) in zip(all_axes, panels):
        axes.set_xscale("log", base=10)
        axes.set_yscale("log", base=2)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.set_title(title, fontsize=9)
        axes.grid(alpha=0.3)
        for thin, marker, name in [(False, "o", f"m and n from {THIN} on"),
                                   (True, "^", f"m or n under {THIN}")]:
            chosen = [i for i, s in enumerate(shapes) if (min(s["m"], s["n"]) < THIN) == thin
                      and aligned[i] in alignments]
            dots = axes.scatter([x[i] for i in chosen], [y[i] for i in chosen], s=22,
                                c=[math.log2(ratios[i]) for i in chosen], marker=marker,
                                cmap="RdBu", vmin=-1, vmax=1, edgecolors="#777777",
                                linewidths=0.4, label=name)
    all_axes[2].legend(fontsize=7, loc="upper left", frameon=False)
    all_axes[2].axhline(1.0, color="#555555", linewidth=0.8)
    all_axes[2].yaxis.set_major_formatter("{x:g}")
    bar = figure.colorbar(dots, ax=all_axes[2], ticks=[-1, -0.5, 0, 0.5, 1], extend="both")
    bar.ax.set_yticklabels(["0.5", "0.71", "1", "1.41", "2"])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    figure.suptitle(f"Speed of mygemm over {peer}: {len(ratios)} single FP32 products on "
                    f"{run['machine']['name']}, geometric mean {mean:.2f}; blue: mygemm is faster",
                    fontsize=11)
    finish(figure, run, path)


def bars(run, results, labels, title, path):
    """One group of bars a result: ours and the libraries; the copy of as many bytes as a line."""
    if not results:
        return
    names = [name for name in peer_names(results) if name != "copy"]
    width = 0.8 / (1 + len(names))
    places = range(len(results))
    figure, axes = plt.subplots(figsize=(max(7, 0.5 * len(results) + 2), 4.2))
    axes.bar(places, [r["rate"] for r in results], width, color=OURS, label="mygemm")
    for i, (colour, name) in enumerate(zip(PEERS, names), start=1):
        axes.bar([x + i * width for x in places], [peer_rate(r, name) or 0 for r in results],
                 width, color=colour, label=name)
    axes.plot([x + width * len(names) / 2 for x in places],
              [peer_rate(r, "copy") for r in results], "k_", markersize=14,
              label="copy of as many bytes")
    axes.set_xticks([x + width * len(names) / 2 for x in places])
    axes.set_xticklabels(labels, rotation=60, ha="right", fontsize=8)
    axes.set_ylabel(results[0]["unit"] + " read + written")
    axes.set_title(title, loc="left")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=4, frameon=False, fontsize=8)
    finish(figure, run, path)


def plot_softmax(run, path):
    """fp32 softmax over the number of columns, the largest problem of each."""
    chosen = {}
    for result in runs.measured(run, "softmax"):
        s = result["shape"]
        plain = s["mode"] == "softmax" and s["direction"] == "forward"
        if plain and s["rows"] * s["cols"] >= LARGE and s["xtype"] == s["ytype"] == "f32":
            best = chosen.get(s["cols"])
            if best is None or s["rows"] > best["shape"]["rows"]:
                chosen[s["cols"]] = result
    results = [chosen[cols] for cols in sorted(chosen)]
    bars(run, results, [str(r["shape"]["cols"]) for r in results],
         "FP32 softmax over the columns of a row", path)


def plot_transpose(run, path):
    """Transposes of 4-byte elements out of place, by size; not of runs with everything in cache."""
    if "--hot" in run["command_line"]:
        return
    chosen = {}
    for result in runs.measured(run, "transpose"):
        s = result["shape"]
        large = s["rows"] * s["cols"] >= 16 * LARGE  # larger than a cache of 60 MB
        if large and s["element_size"] == 4 and s["batch"] == 1 and not s["in_place"]:
            chosen.setdefault((s["rows"] * s["cols"], s["rows"], s["cols"]), result)
    results = [chosen[key] for key in sorted(chosen)]
    bars(run, results, [f"{r['shape']['rows']} × {r['shape']['cols']}" for r in results],
         "Transpose of 4-byte elements", path)


def products_to_plot(run):
    """Errors of the first operation that a run measured at several k; or none."""
    products = accuracy.read_products(run)
    products = [p for p in products if p.op == products[0].op]
    return products if len(accuracy.depths(products)) > 1 else []


def style(name, products):
    """Line styles of ours, of the library and of forced kernels of ours."""
    if name == accuracy.OURS:
        return {"color": OURS, "marker": "o", "label": "mygemm"}
    if name == accuracy.STRICT:
        return {"color": PEERS[2], "marker": "^", "linestyle": "-.", "label": "mygemm, strict"}
    if name == products[0].peer:
        return {"color": PEERS[0], "marker": "s", "linestyle": "--", "label": name}
    known = (accuracy.OURS, accuracy.STRICT, products[0].peer)
    forced = [other for other in accuracy.names_to_show(products) if other not in known]
    return {"color": FORCED[forced.index(name) % len(FORCED)], "marker": ".", "linestyle": ":",
            "label": f"{name}, forced"}


def plot_errors(run, path, measure, title):
    """Errors over k, a panel for each kind of data that has any."""
    products = products_to_plot(run)
    if not products:
        return
    names = accuracy.names_to_show(products)
    kinds = [data for data in accuracy.kinds(products)
             if any(accuracy.series(products, data, name, measure) for name in names)]
    columns = 4
    rows = -(-len(kinds) // columns)
    figure, all_axes = plt.subplots(rows, columns, figsize=(13, 2.7 * rows + 0.6), sharex=True,
                                    sharey=True, squeeze=False)
    for axes, data in zip(all_axes.flat, kinds):
        for name in names:
            points = accuracy.series(products, data, name, measure)
            axes.plot([k for k, _ in points], [error for _, error in points], markersize=4,
                      linewidth=1.2, **style(name, products))
        axes.set_title(data, fontsize=10)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(alpha=0.3)
    for axes in all_axes.flat[len(kinds):]:
        axes.axis("off")
    for axes in all_axes.flat[max(len(kinds) - columns, 0):len(kinds)]:  # nothing below
        axes.set_xlabel("k")
        axes.tick_params(labelbottom=True)
    figure.suptitle(title, fontsize=11)
    handles, labels = all_axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower right", fontsize=9, frameon=False,
                  ncol=1 if len(kinds) % columns else len(labels))
    finish(figure, run, path)


def plot_largest_errors(run, path):
    plot_errors(run, path, "max", "Largest error of an element of C, as a share of its |A||B|")


def plot_frobenius_errors(run, path):
    plot_errors(run, path, "frobenius", "Error of C in the Frobenius norm, as a share of its norm")


def plot_grades(run, path):
    """How fast the largest error grows with k: grade A is for no faster than k, a slope of 1."""
    products = products_to_plot(run)
    if not products:
        return
    names = accuracy.names_to_show(products)
    slopes = {(data, name): accuracy.slope(accuracy.series(products, data, name, "max"))
              for data in accuracy.kinds(products) for name in names}
    kinds = [data for data in accuracy.kinds(products)
             if any(slopes[data, name] is not None for name in names)]
    figure, axes = plt.subplots(figsize=(9, 4.2))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        shown = style(name, products)
        axes.bar([x + i * width for x in range(len(kinds))],
                 [slopes[data, name] or 0 for data in kinds], width, color=shown["color"],
                 label=shown["label"])
    axes.axhline(1.0, color="#555555", linewidth=0.8)
    axes.text(0, 0.96, "grade A up to here", fontsize=8, color="#555555", va="top")
    axes.set_xticks([x + width * (len(names) - 1) / 2 for x in range(len(kinds))])
    axes.set_xticklabels(kinds, rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("slope of log(error) over log(k)")
    axes.set_title("Growth of the largest error", loc="left")
    axes.set_ylim(top=1.1)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.9), ncol=2, fontsize=8)
    finish(figure, run, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=BENCH.parent / "docs" / "images")
    parser.add_argument("--format", choices=["svg", "png"], default="svg")
    arguments = parser.parse_args()
    files = arguments.results or sorted((BENCH / "results").glob("*.json"))
    if not files:
        sys.exit("no results: run mygemm-bench with --json bench/results/NAME.json first")
    plt.rcParams["svg.hashsalt"] = "mygemm"  # the same figure gives the same file
    arguments.out.mkdir(parents=True, exist_ok=True)
    for file in files:
        run = runs.load(file)
        if "command_line" not in run:  # of drop_in.py or blas_offload.py, which make tables
            continue
        for name, plot in [("sgemm", plot_sgemm), ("ratios", plot_ratios),
                           ("softmax", plot_softmax), ("transpose", plot_transpose),
                           ("errors", plot_largest_errors), ("frobenius", plot_frobenius_errors),
                           ("grades", plot_grades)]:
            plot(run, arguments.out / f"{file.stem}-{name}.{arguments.format}")


if __name__ == "__main__":
    main()
