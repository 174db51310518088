"""The reference of C, made of include/mygemm: its sections, its declarations and the comments above
them, which need nothing but what the header has. A declaration that this file cannot read is an
error: the reference is never silently short of one.
"""
import re
import textwrap

HEADERS = ["mygemm.h", "grouped.h", "types.h"]
KNOWN = re.compile(r"\b(mygemm_\w+|mygemm\w+_t|MYGEMM_\w+)\b(\(\))?")
TOKEN = re.compile(r"""
    /\*(?P<comment>.*?)\*/
  | \#define\ (?P<macro>\w+)(?P<value>(?:[^\n]*\\\n)*[^\n]*)
  | \#(?P<directive>(?:[^\n]*\\\n)*[^\n]*)
  | typedef\ (?P<kind>enum|struct)\ \{(?P<body>.*?)\}\ (?P<name>\w+);
  | typedef\ (?P<alias>[^{};]*\b(?P<alias_name>\w+));
  | MYGEMM_API\s(?P<function>[^;]*);
  | extern\ "C"\ \{ | \}
""", re.S | re.X)
FIELD = re.compile(r"(?:/\*(?P<above>.*?)\*/\s*)?(?P<base>(?:const )?\w+)\s(?P<names>[\w\s,*]*);"
                   r"(?:[ ]*/\*(?P<beside>.*?)\*/)?", re.S)
VALUE = re.compile(r"(?P<name>MYGEMM_\w+) = (?P<number>-?\d+),?(?:[ ]*/\*(?P<beside>.*?)\*/)?", re.S)


def plain(comment):
    """A comment's lines without their stars."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().split("\n")]
    return "\n".join(lines).strip()


def escaped(text, known):
    """Words as reStructuredText, with links to what is declared."""
    def linked(match):
        name = match[1]
        role = known.get(name)
        return f"``{match[0]}``" if role is None else f":c:{role}:`{name}`"
    parts, at = [], 0
    for match in KNOWN.finditer(text):
        parts += [re.sub(r"([\\*`|_])", r"\\\1", text[at:match.start()]), linked(match)]
        at = match.end()
        # A role ends at a word's end; a star that stands for more names would be a part of it.
        if text[at:at + 1] not in (" ", "\n", ".", ",", ";", ":", ")", ""):
            parts.append("\\ ")
    return "".join(parts + [re.sub(r"([\\*`|_])", r"\\\1", text[at:])])


def prose(comment, known, indent):
    """A comment as reStructuredText: indented lines stay as they are, others are paragraphs."""
    blocks = []
    for line in plain(comment).split("\n"):
        kind = "empty" if not line else "literal" if line.startswith(" ") else "text"
        if re.match(r" ?- ", line):
            kind, line = "item", line.strip()
            blocks.append([kind, []])
        elif kind == "literal" and blocks and blocks[-1][0] == "item":
            kind, line = "item", line.strip()
        elif not blocks or blocks[-1][0] != kind or line.startswith("Errors: "):
            blocks.append([kind, []])
        blocks[-1][1].append(line)
    lines = []
    for kind, text in blocks:
        if kind == "literal":
            least = min(len(line) - len(line.lstrip()) for line in text)
            lines += ["", "::", "", *("   " + line[least:] for line in text), ""]
        elif kind == "item":
            lines += ["", "- " + escaped(" ".join(text)[2:], known)]
        elif kind == "text":
            lines += ["", escaped(" ".join(text), known), ""]
    return "".join((" " * indent + line).rstrip() + "\n" for line in lines) + "\n"


def item(directive, signatures, text):
    """A directive of Sphinx's C domain."""
    head = f".. c:{directive}:: "
    lines = ("\n" + " " * len(head)).join(" ".join(line.split()) for line in signatures)
    return f"{head}{lines}\n\n{text}\n"


def members(kind, body, known):
    """The enumerators or the fields of a type, each with its comment."""
    pattern = VALUE if kind == "enum" else FIELD
    rest = re.sub(r"(?s)/\*.*?\*/", "", pattern.sub("", body)).strip()
    if rest:
        raise ValueError(f"cannot read {rest[:60]!r} in a type")
    if kind == "enum":
        for found in VALUE.finditer(body):
            note = f"   ``= {found['number']}``\n\n" + prose(found["beside"] or "", known, 3)
            yield item("enumerator", [found["name"]], note)
    else:
        for found in FIELD.finditer(body):
            note = prose(found["above"] or "", known, 3) + prose(found["beside"] or "", known, 3)
            yield item("member", [f"{found['base']} {name}" for name in found["names"].split(",")],
                       note)


def declared(text):
    """Names and the roles that link to them."""
    names = {}
    for token in TOKEN.finditer(text):
        if token["function"]:
            names[re.search(r"(\w+)\(", token["function"])[1]] = "func"
        elif token["macro"] and token["value"].strip() and token["macro"] != "MYGEMM_API":
            names[token["macro"]] = "macro"
        elif token["kind"] or token["alias"]:
            role = {"enum": "enum", "struct": "struct", None: "type"}[token["kind"]]
            names[token["name"] or token["alias_name"]] = role
            for value in VALUE.finditer(token["body"] or "") if token["kind"] == "enum" else ():
                names[value["name"]] = "enumerator"
    return names


def tokens(text, header):
    """The header's parts, each with whether a blank line comes before it."""
    at = 0
    for token in TOKEN.finditer(text):
        between = text[at:token.start()].strip()
        if between:
            break
        yield token, "\n\n" in text[at:token.start()]
        at = token.end()
    if text[at:].strip():
        raise ValueError(f"{header}: cannot read {text[at:].strip()[:60]!r}")


def declaration(token, comment, known):
    """The directive of a type or of a macro."""
    note = prose(comment, known, 3)
    if token["kind"]:
        body = "".join(members(token["kind"], token["body"], known))
        return item(token["kind"], [token["name"]], note + textwrap.indent(body, "   "))
    if token["alias"]:
        return item("type", [token["alias"]], note)
    value = " ".join(token["value"].replace("\\\n", " ").split())
    return item("macro", [token["macro"]], f"{note}   ``{value}``\n\n")


def header_markdown(text, header, known):
    """One header as Markdown with blocks of reStructuredText. A comment belongs to what follows it;
    functions without one share that of the function above."""
    out, comment, functions = [], "", []

    def add(block):
        out.append("```{eval-rst}\n" + block + "```\n")

    def end_functions():
        if functions:
            note = prose(functions.pop(0), known, 3)
            add(item("function", functions, note))
            functions.clear()

    for token, apart in tokens(text, header):
        heading = re.fullmatch(r" -+ (.*?) -+ ", token["comment"] or "")
        if token["function"]:
            if comment or apart or not functions:
                end_functions()
                functions.append(comment)
            functions.append(token["function"])
            comment = ""
            continue
        end_functions()
        if heading:
            out.append(f"## {heading[1].capitalize()}\n")
        elif token["comment"] is not None:
            if not out:  # the header's first lines
                add(prose(token["comment"], known, 0))
            else:
                comment = token["comment"]
                continue
        elif (token["macro"] or token["alias_name"] or token["name"]) in known:
            add(declaration(token, comment, known))
        comment = ""
    return "\n".join(out)


def markdown(root):
    """The page's contents."""
    texts = {header: (root / "include/mygemm" / header).read_text() for header in HEADERS}
    known = {name: role for text in texts.values() for name, role in declared(text).items()}
    text = "\n".join(f"## {header}\n\n{header_markdown(text, header, known)}"
                     for header, text in texts.items()).replace("\n## ", "\n### ")
    for header in HEADERS:
        text = text.replace(f"### {header}", f"## {header}")
    return text
