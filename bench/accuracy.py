#!/usr/bin/python3
"""Tables of errors from a run of `mygemm-bench accuracy`, in Markdown, for docs/accuracy.md.

Usage: bench/accuracy.py RESULT.json                      prints the tables
       bench/accuracy.py RESULT.json --write DOCUMENT     puts them between the document's markers
       bench/accuracy.py RESULT.json --check DOCUMENT     fails unless they are there

bench/plot.py draws the same runs, and takes from here what a run holds.
"""

import argparse
import collections
import math
import pathlib

import blocks
import runs

OURS, STRICT = "default", "strict"
UNIT = 2.0**-24  # unit roundoff of FP32
LARGE = 512  # k from which the tables say how large errors are
DEPTHS = [512, 1024, 4096, 16384]  # columns of those tables, of the k that were measured
MEASURES = {"max": "largest error of an element, as a share of its |A||B|",
            "frobenius": "error in the Frobenius norm, as a share of the result's"}
BLOCK = "bench/accuracy.py"  # the name of the document's block
NOTHING = "No run of `mygemm-bench accuracy` over several k is in the repository yet.\n"

# A product that was measured. `errors` maps names to {"kernel": ..., "max": ..., "frobenius": ...}.
Product = collections.namedtuple("Product", "data op m n k peer errors")


def read_products(run):
    """The products of a run that did not fail; none of a run from before there were several k."""
    return [Product(r["data"], r["op"], r["m"], r["n"], r["k"], r["peer"],
                    {entry["name"]: entry for entry in r["errors"]})
            for r in run.get("accuracy", []) if "k" in r and "failure" not in r]


def names_to_show(products):
    """Ours in both modes, the library, forced kernels of ours, as far as they were measured."""
    present = list(dict.fromkeys(name for p in products for name in p.errors))
    forced = [name for name in present
              if all(p.errors.get(name, {}).get("kernel") == name for p in products)
              and not name.endswith("naive")]
    wanted = [OURS, STRICT, products[0].peer, *forced]
    return [name for name in wanted if name in present]


def series(products, data, name, measure):
    """[(k, error)] of one kind of data, by rising k; without errors of 0."""
    found = {p.k: p.errors[name][measure] for p in products if p.data == data and name in p.errors}
    return [(k, found[k]) for k in sorted(found) if found[k]]


def slope(points):
    """Slope of log error over log k by least squares; None for fewer than two points."""
    x, y = ([math.log(point[i]) for point in points] for i in (0, 1))
    if len(x) < 2:
        return None
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) /
            sum((a - middle_x)**2 for a in x))


def kinds(products):
    return list(dict.fromkeys(p.data for p in products))


def depths(products):
    return sorted({p.k for p in products})


def worst_ratio(products, name, other, measure):
    """"0.83 (wide)": over all kinds of data whose `other` error is not 0."""
    ratios = [(p.errors[name][measure] / p.errors[other][measure], p.data) for p in products
              if name in p.errors and p.errors[other][measure]]
    return "{:.2f} ({})".format(*max(ratios, key=lambda ratio: ratio[0])) if ratios else "-"


def comparison(products, names):
    """By k: the kernel, and the largest ratio of its errors to the others'."""
    others = [name for name in (STRICT, products[0].peer) if name in names]
    forced = [name for name in names if name not in (OURS, *others)]
    pairs = [(OURS, other) for other in others] + [(name, others[0]) for name in forced if others]
    heading = ["k", "kernel of the default mode"]
    for name, other in pairs:
        heading += [f"{name} / {other}: largest", "Frobenius"]
    rows = []
    for k in depths(products):
        here = [p for p in products if p.k == k]
        kernels = dict.fromkeys(p.errors[OURS]["kernel"] for p in here if OURS in p.errors)
        rows.append([k, ", ".join(kernels)] +
                    [worst_ratio(here, name, other, measure)
                     for name, other in pairs for measure in MEASURES])
    return blocks.table(heading, rows)


def sizes(products, names, measure):
    """Errors in units of 2^-24, by kind of data and k, of all `names` in a cell."""
    columns = [k for k in depths(products) if k in DEPTHS] or depths(products)
    rows = []
    for data in kinds(products):
        cells = []
        for k in columns:
            found = [p for p in products if p.data == data and p.k == k]
            cells.append(" / ".join(f"{found[0].errors[name][measure] / UNIT:.2g}"
                                    for name in names if name in found[0].errors) if found else "")
        rows.append([data, *cells])
    return blocks.table(["", *(f"k = {k}" for k in columns)], rows)


def grades(products, names):
    """Slopes of the largest error over k, and the largest share of the bound k 2^-24."""
    rows = []
    for data in kinds(products):
        cells = []
        for name in names:
            points = series(products, data, name, "max")
            steepness = slope(points)
            share = max((error / (k * UNIT) for k, error in points if k >= LARGE), default=0)
            cells.append("-" if steepness is None else f"{steepness:.2f}, {share:.3f}")
        rows.append([data, *cells])
    return blocks.table(["", *names], rows)


def source(run, products, file):
    machine = run["machine"]
    sides = sorted({f"{p.m} × {p.n}" for p in products})
    library = f", cuBLAS {runs.cublas_version(run)}" if run.get("cublas") else ""
    return (f"{machine['name']}, {run['date'][:10]}, commit {run['commit']}{library}; C is "
            f"{', '.join(sides)}; {file.name}.\n")


def figures(file):
    """Links to the figures that bench/plot.py draws of the same file, relative to docs/."""
    return "".join(f"\n![{meaning}](images/{file.stem}-{name}.svg)\n" for name, meaning in [
        ("errors", "Largest error of an element over k"),
        ("frobenius", "Error in the Frobenius norm over k"),
        ("grades", "Growth of the largest error with k")])


def document(run, file):
    products = read_products(run)
    if not products:
        return NOTHING
    text = source(run, products, file) + figures(file)
    for op in dict.fromkeys(p.op for p in products):
        chosen = [p for p in products if p.op == op]
        names = names_to_show(chosen)
        columns = [name for name in names if name in (OURS, STRICT, chosen[0].peer)]
        text += (f"\nProducts {op}. The largest ratio of two errors over all kinds of data (where "
                 "the second is not 0), and the kind that has it:\n\n" + comparison(chosen, names))
        for measure, meaning in MEASURES.items():
            text += (f"\nProducts {op}: {meaning}, in units of 2⁻²⁴; {' / '.join(columns)}:\n\n" +
                     sizes(chosen, columns, measure))
        text += (f"\nProducts {op}: slope of log(largest error) over log(k), and the largest share "
                 f"of k 2⁻²⁴ that it reaches from k = {LARGE} on:\n\n" + grades(chosen, names))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, metavar="DOCUMENT")
    parser.add_argument("--check", type=pathlib.Path, metavar="DOCUMENT")
    arguments = parser.parse_args()
    text = document(runs.load(arguments.result), arguments.result)
    blocks.put(arguments, BLOCK, text)


if __name__ == "__main__":
    main()
