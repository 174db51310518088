"""The site's configuration: `./dev docs` runs Sphinx with it over the documents as they lie in the
repository, so that their links are the same there. Pages of the reference have blocks that are
filled in here from the sources: the header, the Fortran modules, the Python package, all sentences
of errors. A page that is in no list of CONTENTS is a warning, and warnings are errors.
"""
import ctypes
import pathlib
import re
import sys
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python")]
import c_reference  # noqa: E402
import fortran_reference  # noqa: E402
import sentences  # noqa: E402

project = "mygemm"
version = release = re.search(r"project\(mygemm VERSION (\S+)",
                              (ROOT / "CMakeLists.txt").read_text())[1]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
include_patterns = ["*.md", "docs/**.md", "bindings/python/README.md",
                    "bench/experiments.md"]
root_doc = "README"
templates_path = ["."]
# The home page is README.html; index.html leads there.
html_additional_pages = {"index": "index.html"}

html_theme = "furo"
html_title = f"mygemm {version}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = html_copy_source = False
highlight_language = "text"
# CMake's and other lexers stop at what shows an output or a part of a program.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 4
smartquotes = False  # sentences of errors are quoted as they are
autodoc_typehints = "signature"
autodoc_type_aliases = {"AnyArray": "AnyArray"}
autodoc_member_order = "bysource"

CONTENTS = {
    "Start": ["docs/install", "docs/command", "docs/settings", "docs/troubleshooting"],
    "A tour a language": ["docs/tour/c", "docs/tour/cpp", "docs/tour/fortran", "docs/tour/python",
                          "docs/tour/blas", "docs/drop-in", "docs/scale-out", "docs/gemm", "docs/grouped", "bindings/python/README"],
    "Reference": ["docs/reference/c", "docs/reference/fortran", "docs/reference/python",
                  "docs/reference/errors", "CHANGELOG"],
    "Results": ["docs/performance", "docs/accuracy", "docs/invariance", "bench/experiments"],
    "Kernels": ["docs/kernels/README", "docs/kernels/gemm", "docs/kernels/gemm-tensor-cores",
                "docs/kernels/gemm-16-bit",
                "docs/kernels/softmax", "docs/kernels/cross_entropy", "docs/kernels/transpose",
                "docs/kernels/host",
                "CONTRIBUTING"],
}


def python_reference(_root):
    """Every public name of the package, by autodoc."""
    names = __import__("mygemm").__all__
    return "```{eval-rst}\n" + "".join(
        f".. auto{'exception' if name == 'Error' else 'function'}:: mygemm.{name}\n\n"
        for name in names if not name.startswith("__")) + "```\n"


BLOCKS = {"c": c_reference.markdown, "fortran": fortran_reference.markdown,
          "python": python_reference, "sentences": sentences.markdown}


def fill_in(_app, name, source):
    """Puts the reference in place of its mark, and the table of contents below the home page."""
    source[0] = re.sub(r"(?m)^<!-- site: (\w+) -->$", lambda mark: BLOCKS[mark[1]](ROOT), source[0])
    if name == root_doc:
        source[0] += "".join("\n```{toctree}\n:hidden:\n:caption: %s\n%s\n```\n"
                             % (caption, "\n".join(pages)) for caption, pages in CONTENTS.items())


def parameters_as_list(_app, _what, _name, _object, _options, lines):
    """Paragraphs of docstrings that begin with the names of parameters become items of a list."""
    end = r"(?!\w+(?:, \w+)*: |Returns|Raises|\s*$)"
    text = re.sub(rf"(?m)^((?:\w+, )*\w+): (.+(?:\n{end}.+)*)",
                  lambda found: f"\n* **{found[1]}**: " + found[2].replace("\n", "\n  ") + "\n",
                  "\n".join(lines))
    text = re.sub(r"(?m)((?:^explain\(.*\n(?: {8}.*\n)*)+)",
                  lambda found: "::\n\n" + re.sub("(?m)^", "    ", found[1]) + "\n", text)
    lines[:] = text.split("\n")


def setup(app):
    """Connects the functions above, and imports the Python package without its library."""
    library = mock.MagicMock()
    minor = re.match(r"(\d+)\.(\d+)", version)
    library.mygemm_version.return_value = int(minor[1]) * 10000 + int(minor[2]) * 100
    with mock.patch.object(ctypes, "CDLL", return_value=library):
        __import__("mygemm")
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-docstring", parameters_as_list)
