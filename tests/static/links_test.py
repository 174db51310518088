"""Links of the documents: every relative link of a .md file leads to a file and a heading.

Usage: links_test.py SOURCE_DIR. Prints one line for each link that leads nowhere; fails if there is
one.
"""

import pathlib
import re
import sys

FOLDERS = ["docs", "bindings", "bench", "tests"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def documents(root):
    return sorted([*root.glob("*.md"),
                   *(path for folder in FOLDERS for path in (root / folder).rglob("*.md"))])


def without_code(text):
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|^    .*?$", "", text)


def anchors(path):
    """The #names that GitHub gives a document's headings."""
    headings = re.findall(r"(?m)^#+ +(.*)$", re.sub(r"(?ms)^```.*?^```", "", path.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def breaches(root):
    for document in documents(root):
        for link in LINK.findall(without_code(document.read_text())):
            name, _, anchor = link.partition("#")
            if "://" in link or link.startswith("mailto:"):
                continue
            target = document.parent / name if name else document
            if not target.exists():
                yield f"{document.relative_to(root)}: {link} is no file"
            elif anchor and anchor not in anchors(target):
                yield f"{document.relative_to(root)}: {link} is no heading"


def main():
    found = list(breaches(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
