"""Links of documents: every relative link of a .md file leads to a file and a heading.

Usage: links.py FOLDER. FOLDER is the source tree or the documents of an installed one. Prints one
line for each link that leads nowhere or out of FOLDER; fails if there is one, or no document. Links
to other sites are not followed. Its own test is links_test.py.
"""
import pathlib
import re
import sys

# Links and images in Markdown, with a title or without; named references; links in HTML.
LINKS = [re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)"),
         re.compile(r"(?m)^ {0,3}\[[^\]]+\]:\s+<?(\S+?)>?\s*$"),
         re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)[\"']")]
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


def documents(root):
    """The .md files under a folder, without those of build folders and of hidden ones."""
    return sorted(path for path in root.rglob("*.md")
                  if not re.search(r"^build|(^|/)[._]", path.relative_to(root).as_posix()))


def without_blocks(text):
    return re.sub(r"(?ms)^```.*?^```", "", text)


def without_code(text):
    return re.sub(r"`[^`\n]*`|(?m:^    .*$)", "", without_blocks(text))


def anchors(path):
    """The #names that GitHub gives a document's headings: the second of a name ends with -1."""
    names, seen = set(), {}
    for heading in re.findall(r"(?m)^#+ +(.*?) *$", without_blocks(path.read_text())):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        names.add(f"{name}-{seen[name]}" if seen[name] else name)
    return names


def breaches(root):
    """A sentence for each link under a folder that leads nowhere."""
    root = root.resolve()
    for document in documents(root):
        text = without_code(document.read_text())
        for link in (link for kind in LINKS for link in kind.findall(text)):
            name, _, anchor = link.partition("#")
            if ELSEWHERE.match(link):
                continue
            where = f"{document.relative_to(root)}: {link}"
            target = (document.parent / name).resolve() if name else document
            if not target.exists():
                yield f"{where} is no file"
            elif not target.is_relative_to(root):
                yield f"{where} leads out of the folder"
            elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
                yield f"{where} is no heading"


def main():
    root = pathlib.Path(sys.argv[1])
    count = len(documents(root))
    if count == 0:
        sys.exit(f"no documents under {root}")
    found = list(breaches(root))
    print("".join(f"{sentence}\n" for sentence in found), end="")
    print(f"{count} documents, {len(found)} links that lead nowhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
