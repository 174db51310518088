"""Cells of the tables in the documents: figures, ratios to peers, means. Imported by tables.py."""
import math

import runs


def figure(value):
    """A figure with three digits, or with all that it has before the point."""
    digits = 3 - len(f"{value:.0f}") if value >= 0.995 else 3
    return f"{value:.{max(digits, 0)}f}"


def microseconds(timed):
    return figure(timed["ms"]["median"] * 1e3)


def ratio(result, peer):
    """How many times as fast as a peer; 0 of one that was not measured."""
    found = runs.peer(result, peer)
    return found["ratio"] if found else 0


def times(result, peer):
    return f"{ratio(result, peer):.2f}" if ratio(result, peer) else ""


def first_of_each(results):
    chosen = {}
    for result in results:
        chosen.setdefault(result["label"], result)
    return list(chosen.values())


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def span(results, peer):
    """"0.91 to 1.24 (geometric mean 1.07)": over the results that were compared with a peer."""
    values = [ratio(r, peer) for r in results if ratio(r, peer)]
    return (f"{min(values):.2f} to {max(values):.2f} (geometric mean {geometric_mean(values):.2f}, "
            f"{count(values)})")


def count(shapes):
    return f"{len(shapes)} shape{'s' if len(shapes) != 1 else ''}"
