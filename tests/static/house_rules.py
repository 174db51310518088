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
    r"gemm_steps\.(h|cpp)",
    r"gemm_triangle\.(h|cpp)",
    r"call\.(h|cpp)",
    r"context\.(h|cpp)|kernels/cuda_device\.cu",  # the .cu defines what these headers declare
    r"stream_workspaces\.(h|cpp)",
    r"(environment|validate(_gemm|_grouped|_softmax)?|rules)\.(h|cpp)",
    r"plan/.*",
    r"tighten\.(h|cpp)",
    r"kernels/configs\.h",                        # for the loop over an operation's kernels
    r"kernels/\w+/table\.cpp",
    r"(log|overlap)\.(h|cpp)",
    r"host/.*",
    r"kernels/grouped/.*",
    r"kernels/gemm/(tma|tf32x3|bf16x6|tensor16)/.*",
    r"kernels/gemm/tensor/.*",
    r"kernels/gemm/persistent/(?!stream_k\.h).*",
    r"kernels/cross_entropy/.*",
    r"kernels/(gemm|softmax|transpose)/(?!persistent/|tensor/).*",
    r"kernels/gemm/persistent/stream_k\.h",       # a part of every Config of a product
    r"kernels/.*",
    r"ptx/.*",
    r"launcher\.(h|cpp)",
    r"grouped_sizes\.h",
    r"problem\.h|device_traits\.h|devices\.cpp|status\.(h|cpp)",
    r"mygemm/(mygemm|grouped)\.h",
    r"mygemm/types\.h",
]
# The folders of kernels that other folders of kernels include.
SHARED_KERNELS = {"kernels/gemm/persistent", "kernels/gemm/tensor"}
# An operation that is made of the parts of another one.
MADE_OF = {"kernels/cross_entropy": "kernels/softmax", "kernels/grouped": "kernels/gemm"}
# The plan is the same loop for every operation: it includes these of kernels/ and names no
# algorithm, in code or in strings.
PLAN = r"plan/.*|call\.(h|cpp)"
PLAN_INCLUDES = {"kernels/kernel.h", "kernels/configs.h", "kernels/gemm/packed.h"}
ALGORITHM = re.compile(
    r"(?<![a-z])k?(tma|tf32|tensor|thin|slice|tiled|small|split|stream_?k|persistent|cluster|warp"
    r"|reread|narrow|shifted|in_place|naive|cblas|block_[mnk])", re.I)
# Headers that a machine without nvcc does not have.
CUDA_HEADERS = re.compile(r"#include <(cuda|cooperative_groups|nv/)[\w./]*>")
# Headers of .cu files only, which need them nevertheless.
HOST_CODE_WITH_CUDA = {"kernels/launch.h", "kernels/tensor_map.h"}

MACROS = {"RETURN_IF_ERROR", "CUDA_TRY"}
# asm takes lists of registers as literals only. These end with the file.
MACROS_OF_ASM = ("src/ptx/wgmma.cuh", r"WGMMA\w*")

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
# Text that may stand nowhere in the project.
NOWHERE = [
    ("unfinished work", r"\b(TODO|FIXME|XXX|HACK)\b"),
    ("a tab", r"\t"),
    ("blanks at the end of a line", r"[ \t]+$"),
]
# Beginnings of comments that promise a riddle: "What a block has" for "Shared memory of a block".
RIDDLE = re.compile(r"(What|Of|Whose)\b")
NO_RIDDLES = re.compile(r".*")
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


def folder_of_kernels(name):
    """kernels/<operation> or kernels/<operation>/<algorithm>; None for other files."""
    folder = name.rpartition("/")[0]
    return folder if folder.startswith("kernels/") else None


def are_apart(folder, other):
    """Neither folder of kernels lies in the other, and the other is not shared."""
    made_of = MADE_OF.get(folder)
    if other in SHARED_KERNELS or (made_of and f"{other}/".startswith(f"{made_of}/")):
        return False
    return not f"{folder}/".startswith(f"{other}/") and not f"{other}/".startswith(f"{folder}/")


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
                continue
            folder, other = folder_of_kernels(name), folder_of_kernels(match[1])
            if folder and other and are_apart(folder, other):
                yield number, f"includes {match[1]}, which belongs to other kernels"
            if re.fullmatch(r"plan/.*", name) and match[1].startswith("kernels/") and \
                    match[1] not in PLAN_INCLUDES:
                yield number, f"includes {match[1]}; the plan knows no kernel"


def algorithm_breaches(name, lines):
    """Algorithms in code of the plan, comments blanked."""
    for number, line in enumerate(lines, 1):
        match = ALGORITHM.search(line)
        if match and not line.startswith("#include"):
            yield number, f"names an algorithm, {match[0]}; the plan knows none"


def comment_beginnings(path, text):
    """(line, text) of each comment, without the lines that continue one."""
    marker = {".py": "#", ".sh": "#", ".f90": "!", ".inc": "!"}.get(path.suffix, "//")
    continues = False
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix in C_SUFFIXES and (block := re.search(r"/\*+ +(.*)", line)):
            yield number, block[1]
        if path.suffix == ".py" and (docstring := re.match(r' *"""(.*)', line)):
            yield number, docstring[1]
        # Behind code, a comment stands two blanks apart; a marker within a string seldom does.
        comment = re.match(rf"(.*?)(?:^ *|  ){re.escape(marker)} ?(.*)", line)
        if comment and not (continues and not comment[1].strip()):
            yield number, comment[2]
        continues = comment is not None


def code_breaches(name, lines):
    """Rules on C, C++ and CUDA, comments blanked."""
    for number, line in enumerate(lines, 1):
        line = without_literals(line)
        for what, pattern, where in ONLY_IN:
            if re.search(pattern, line) and not re.fullmatch(where, name):
                yield number, f"{what} is only for {where}"
        match = re.match(r"\s*#\s*define\s+(\w+)", line)
        of_asm = match and name == MACROS_OF_ASM[0] and re.fullmatch(MACROS_OF_ASM[1], match[1])
        if match and name.startswith("src/") and match[1] not in MACROS and not of_asm:
            yield number, f"a macro, {match[1]}; the library has two, and lists for asm"


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
        if NO_RIDDLES.fullmatch(name):
            found += [(number, f"a comment that begins with \"{comment.split()[0]}\"")
                      for number, comment in comment_beginnings(path, text)
                      if RIDDLE.match(comment)]
        if path.suffix in C_SUFFIXES:
            lines = without_comments(text).splitlines()
            if name.startswith("src/"):
                below_src = name.removeprefix("src/")
                found += include_breaches(below_src, lines)
                if re.fullmatch(PLAN, below_src):
                    found += algorithm_breaches(below_src, lines)
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
