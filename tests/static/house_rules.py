"""The rules of the house (CONTRIBUTING.md), checked on the text of the sources.

Usage: house_rules.py SOURCE_DIR. Prints one line for each breach; fails if there is one. Its own
test, house_rules_test.py, plants a breach of every rule.
"""
import pathlib
import re
import sys

# The library from top to bottom. A file may include files of its own line and of lines below it.
# Where a path fits several patterns, the first counts.
LAYERS = [
    r"api(_\w+)?\.(h|cpp)",
    r"call\.(h|cpp)",
    r"context\.(h|cpp)|kernels/cuda_device\.cu",  # the .cu defines what context.h declares
    r"(environment|validate)\.(h|cpp)",
    r"plan/\w+\.cpp|kernels/\w+/rows\.cpp",       # the tables are the plan's data
    r"(log|overlap)\.(h|cpp)",
    r"host/.*",
    r"kernels/(gemm|softmax|transpose)/.*",
    r"kernels/(?!rows\.h).*",
    r"kernels/rows\.h|plan/plan\.h",              # what a row is
    r"ptx/.*",
    r"problem\.h|status\.(h|cpp)",
    r"mygemm/mygemm\.h",
]
# Headers that a machine without nvcc does not have.
CUDA_HEADERS = re.compile(r"#include <(cuda|cooperative_groups|nv/)[\w./]*>")
# Headers of .cu files only, which need them nevertheless.
HOST_CODE_WITH_CUDA = {"kernels/launch.h", "kernels/tensor_map.h"}

MACROS = {"RETURN_IF_ERROR", "CUDA_TRY"}

# Text that may stand in files of src/ and bindings/ that match the pattern only.
ONLY_IN = [
    ('extern "C"', r'extern "C"', r"src/api(_\w+)?\.cpp|bindings/(blas|cublas)/.*"),
    ("a kernel launch", r"<<<|\bcudaLaunch\w*\(", r"src/kernels/.*|bench/gpu\.cu"),
    ("asm", r"\basm\b", r"src/ptx/.*"),
    ("getenv", r"\bgetenv\b",
     r"src/environment\.cpp|bench/.*|bindings/(cli|drop_in|blas|cublas)/.*"),
    ("throw", r"\bthrow\b", r"bindings/.*|bench/.*"),
    ("printing", r"\bstd::(cout|cerr)\b|\bprintf\(", r"bindings/.*|bench/.*"),
    ("abort or exit", r"\b(abort|exit|_Exit|terminate)\(", r"bindings/.*|bench/.*"),
]
# What stands nowhere in the project.
NOWHERE = [
    ("unfinished work", r"\b(TODO|FIXME|XXX|HACK)\b"),
    ("a tab", r"\t"),
    ("blanks at the end of a line", r"[ \t]+$"),
]
FOLDERS = ["src", "include", "bench", "bindings", "tests"]
C_SUFFIXES = {".h", ".c", ".cpp", ".cu", ".cuh"}
SOURCE_SUFFIXES = C_SUFFIXES | {".f90", ".inc", ".py", ".sh"}
MAX_LINES = 400
MAX_COLUMNS = 100


def sources(root):
    return sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")
                  if path.suffix in SOURCE_SUFFIXES)


def without_comments(text):
    """C and C++ comments replaced with blanks; line numbers stay. String literals stay."""
    def blank(match):
        token = match.group()
        return token if token[0] in "\"'" else re.sub(r"[^\n]", " ", token)
    literal = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(rf"{literal}|//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def without_literals(line):
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', line) if 'extern "C"' not in line else line


def layer_of(name):
    """How deep a file of src/ lies; None where LAYERS does not know it."""
    fits = [depth for depth, pattern in enumerate(LAYERS) if re.fullmatch(pattern, name)]
    return fits[0] if fits else None


def include_breaches(name, lines):
    depth = layer_of(name)
    if depth is None:
        yield 1, f"src/{name} has no place in LAYERS of house_rules.py"
        return
    needs_no_nvcc = not name.endswith((".cu", ".cuh")) and name not in HOST_CODE_WITH_CUDA
    for number, line in enumerate(lines, 1):
        if needs_no_nvcc and CUDA_HEADERS.match(line):
            yield number, "a CUDA header, where a machine without nvcc compiles"
        match = re.match(r'#include "(.*)"', line)
        if match:
            included = layer_of(match[1])
            if included is None:
                yield number, f"{match[1]} has no place in LAYERS of house_rules.py"
            elif included < depth:
                yield number, f"includes {match[1]}, which is above it"


def code_breaches(name, lines):
    """Rules on C, C++ and CUDA, comments blanked."""
    for number, line in enumerate(lines, 1):
        line = without_literals(line)
        for what, pattern, where in ONLY_IN:
            if re.search(pattern, line) and not re.fullmatch(where, name):
                yield number, f"{what} is only for {where}"
        match = re.match(r"\s*#\s*define\s+(\w+)", line)
        if match and name.startswith("src/") and match[1] not in MACROS:
            yield number, f"a macro, {match[1]}; the library has two"


def text_breaches(path, text):
    """Rules on any source file."""
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield MAX_LINES + 1, f"{len(lines)} lines; at most {MAX_LINES}"
    if not re.match(r'//|/\*|"""|#|!', text) or text.startswith(("#include", "#pragma", "#if")):
        yield 1, "does not begin with a comment that says what the file is"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; at most {MAX_COLUMNS}"
        for what, pattern in NOWHERE:
            if re.search(pattern, line) and path.name != "house_rules.py":
                yield number, what


def breaches(root):
    """(path, line, sentence) of every breach under `root`."""
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        found = list(text_breaches(path, text))
        if path.suffix in C_SUFFIXES:
            lines = without_comments(text).splitlines()
            if name.startswith("src/"):
                found += include_breaches(name.removeprefix("src/"), lines)
            if name.startswith(("src/", "bindings/", "bench/")):
                found += code_breaches(name, lines)
        yield from ((name, number, sentence) for number, sentence in found)


def main():
    root = pathlib.Path(sys.argv[1])
    if not sources(root):
        sys.exit(f"no sources under {root}")
    found = list(breaches(root))
    for name, number, sentence in found:
        print(f"{name}:{number}: {sentence}")
    print(f"{len(sources(root))} files, {len(found)} breaches")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
