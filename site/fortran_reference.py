"""The reference of Fortran, made of the sources of the modules: the constants, the types and every
public function of the module mygemm, with the declarations of each form that it has.
"""
import re
import textwrap

from markdown_text import escaped

FOLDER = "bindings/fortran"
FUNCTION = re.compile(r"(?m)^  function (\w+)\((?:.*\n)*?  end function \1$")
INTERFACE = re.compile(r"(?m)((?:^  ! .*\n)*)^  interface (\w+)\n((?:.*\n)*?)  end interface \2$")


def comment(text):
    """The paragraphs of a comment."""
    lines = (line.strip().lstrip("!").strip() for line in text.strip().split("\n"))
    return escaped("\n".join(lines))


def declarations(function, name):
    """A function's first lines, under its generic name, and the declarations of its arguments."""
    head, body = re.match(r"(?s)((?:[^\n]*&\n)*[^\n]*\n)(.*)", function).groups()
    arguments = set(re.findall(r"\w+", head))
    kept = []
    for line in body.split("\n"):
        names = re.sub(r"\([^)]*\)", "", line.partition("::")[2])
        if names and {word.strip() for word in names.split(",")} <= arguments:
            kept.append(line[2:])
    head = re.sub(r"(?m)^  ", "", re.sub(r"function \w+", f"function {name}", head))
    return head + "\n".join(kept)


def markdown(root):
    """The page's contents."""
    sources = {path.name: path.read_text() for path in sorted((root / FOLDER).glob("mygemm*.*"))
               if path.suffix in (".f90", ".inc")}
    module = sources["mygemm.f90"]
    public = [name.strip() for names in re.findall(r"(?m)^  public :: (.*)$", re.sub(r"&\s*\n", "", module))
              for name in names.split(",")]
    everything = "\n".join(sources.values())
    functions = {match[1]: match[0] for match in FUNCTION.finditer(everything)}
    comments = {match[2]: comment(match[1]) for match in
                re.finditer(r"(?m)((?:^  ! .*\n)+)^  (?:function|type, bind\(C\) ::) (\w+)",
                            everything)}
    generic = {match[2]: (comment(match[1]), re.findall(r"\w+", match[3].replace(
        "module procedure", ""))) for match in INTERFACE.finditer(everything)}
    out = [comment(module.split("module mygemm")[0]) + "\n", "## Constants\n"]
    constants = [name for name in public if name.isupper()]
    values = dict(re.findall(r"(MYGEMM_\w+) = (-?\d+)", sources["mygemm_abi.f90"]))
    out += ["| name | value |", "| --- | --- |",
            *(f"| `{name}` | {values[name]} |" for name in constants), "", "## Functions and types\n"]
    for name in (name for name in public if not name.isupper()):
        out.append(f"### {name}\n")
        said, forms = generic.get(name, (comments.get(name, ""), [name]))
        type_text = re.search(rf"(?ms)^  type, bind\(C\) :: {name}$.*?^  end type {name}$",
                              everything)
        texts = [textwrap.dedent(type_text[0])] if type_text else [declarations(functions[form], name) for form in forms]
        out += [said + "\n"] if said else []
        out += [f"```fortran\n{text}\n```\n" for text in texts]
    return "\n".join(out)
