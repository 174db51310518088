"""Every sentence of an error, as it stands in the sources: what the library leaves in
mygemm_last_error(), and what the command and the Python package say. "..." stands for what a call
puts there.
"""
import ast
import re

from markdown_text import escaped

GAP = "…"
CALL = re.compile(r"\b(refuse|fail|throw Error)\(")


def arguments(text, start):
    """The arguments of a C++ call whose parenthesis ends before `start`."""
    found, depth, begin, at = [], 1, start, start
    while depth:
        if text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found


def literal(argument):
    """The text of a C++ string literal, None where the argument is anything else."""
    if not re.fullmatch(r'(?s)(?:"(?:[^"\\]|\\.)*"\s*)+', argument):
        return None
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', argument))
    return re.sub(r"%[-+ #0-9.*]*(?:ll|z)?[diupsgx]", GAP, text).replace('\\"', '"')


def of_cpp(text):
    """(sentence, status) of each call of a C++ source that fails with a sentence of its own."""
    for call in CALL.finditer(text):
        words = arguments(text, call.end())
        status = "INVALID_VALUE"
        if call[1] == "fail":
            status = words.pop(0).removeprefix("MYGEMM_STATUS_")
        if call[1] == "throw Error":
            parts = [literal(word) for word in words]
            sentence = "".join(GAP if part is None else part for part in parts)
        else:
            sentence = literal(words[0]) if words else None
        if sentence and re.search(r"[a-z]{2}", sentence):
            yield sentence, status


def of_python(text):
    """(sentence, exception) of each raise of a Python source with a sentence of its own."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            said = node.exc.args[0]
            values = said.values if isinstance(said, ast.JoinedStr) else [said]
            sentence = "".join(value.value if isinstance(value, ast.Constant) else GAP
                               for value in values)
            if re.search(r"[a-z]{2}", sentence):
                yield sentence, node.exc.func.id


def table(heading, kind, rows):
    """A table of sentences in the order of the alphabet."""
    lines = sorted({f"| {escaped(sentence)} | `{what}` |" for sentence, what in rows},
                   key=lambda line: line.lower().lstrip(f"| {GAP}"))
    return f"## {heading}\n\n| sentence | {kind} |\n| --- | --- |\n" + "\n".join(lines) + "\n"


def sources(root, folder, *suffixes):
    """The texts of a folder's sources."""
    return [path.read_text() for path in sorted((root / folder).rglob("*"))
            if path.suffix in suffixes]


def markdown(root):
    """The page's contents."""
    library = [row for text in sources(root, "src", ".cpp", ".cu", ".h") for row in of_cpp(text)]
    command = [(sentence, "1") for text in sources(root, "bindings/cli", ".cpp", ".h")
               for sentence, _ in of_cpp(text)]
    python = [row for text in sources(root, "bindings/python/mygemm", ".py")
              for row in of_python(text)]
    return "\n".join([table("The library", "status", library),
                      table("The command", "exit status", command),
                      table("The Python package", "exception", python)])
