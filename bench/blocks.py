"""Markdown for the documents: tables, and blocks of a document that a script writes.

A block lies between two comments that name it, <!-- NAME: begin --> and <!-- NAME: end -->, each in
a line of its own. Used by the scripts beside it that write tables.
"""

import pathlib
import sys


def line(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def table(heading, lines):
    return line(*heading) + line(*["---"] * len(heading)) + "".join(line(*cells) for cells in lines)


def begin(name):
    return f"<!-- {name}: begin -->\n"


def end(name):
    return f"<!-- {name}: end -->\n"


def split(path, text, name):
    """A document's text before, in and after a block; the comments belong to what is around it."""
    before, first, rest = text.partition(begin(name))
    inside, last, after = rest.partition(end(name))
    if not first or not last:
        sys.exit(f"{path} has no lines {begin(name).strip()} and {end(name).strip()}")
    return before + first, inside, last + after


def write(path, contents):
    """Puts `contents`, {name: text}, into a document's blocks."""
    text = path.read_text()
    for name, inside in contents.items():
        before, _, after = split(path, text, name)
        text = f"{before}\n{inside}\n{after}"
    path.write_text(text)


def check(path, contents):
    """Fails unless a document's blocks have `contents`, {name: text}."""
    text = path.read_text()
    different = [name for name, inside in contents.items()
                 if split(path, text, name)[1] != f"\n{inside}\n"]
    if different:
        sys.exit(f"{path} differs from bench/results in {', '.join(different)}: use --write")


def add_arguments(parser):
    """Those of put(), and the run."""
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--write", type=pathlib.Path, metavar="DOCUMENT")
    parser.add_argument("--check", type=pathlib.Path, metavar="DOCUMENT")


def put(arguments, name, text):
    """Writes a block to the document that --write names, checks that of --check, or prints it."""
    if arguments.write:
        write(arguments.write, {name: text})
    elif arguments.check:
        check(arguments.check, {name: text})
    else:
        print(text.strip())
