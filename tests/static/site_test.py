"""The site of the documents: it builds without a warning, its links lead somewhere, and its
references have every name of the interfaces.

Usage: site_test.py SOURCE_DIR [unittest options]. Exits with 77 where site/build.py does.
"""
import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SOURCE = SITE = None  # set by main()
SKIPPED = 77


class Page(html.parser.HTMLParser):
    """A page's links, and the names that links may lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, _tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                self.names.add(value)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path) for path in SITE.rglob("*.html")}

    def page(self, name):
        return self.pages[SITE / f"docs/reference/{name}.html"]

    def test_links(self):
        self.assertGreater(len(self.pages), 25)
        for path, page in self.pages.items():
            for link in page.links:
                url = urllib.parse.urlsplit(link)
                target = (path.parent / urllib.parse.unquote(url.path)).resolve()
                if url.scheme or not link or link == "#":
                    continue
                target = path if not url.path else target
                self.assertTrue(target.exists(), f"{path.name}: {link}")
                if url.fragment and target in self.pages:
                    self.assertIn(urllib.parse.unquote(url.fragment), self.pages[target].names,
                                  f"{path.name}: {link}")

    def test_reference_of_c(self):
        """Every function that the library exports; every name of the types."""
        names = re.findall(r"mygemm_\w+(?=;)", (SOURCE / "cmake/symbols.map").read_text())
        text = (SOURCE / "include/mygemm/types.h").read_text()
        names += re.findall(r"(?m)^\s*\} (\w+);$", text) + re.findall(r"(MYGEMM_\w+) = \d", text)
        self.assertGreater(len(names), 60)
        # Enumerators have their type's name before theirs.
        found = {name.rpartition(".")[2] for name in self.page("c").names}
        self.assertEqual([name for name in names if name not in found], [])

    def test_reference_of_fortran(self):
        text = (SITE / "docs/reference/fortran.html").read_text()
        module = (SOURCE / "bindings/fortran/mygemm.f90").read_text()
        for names in re.findall(r"public :: ((?:.*&\n)*.*)", module):
            for name in re.findall(r"\w+", names):
                self.assertRegex(text, rf"\b{name}\b")

    def test_reference_of_python(self):
        package = (SOURCE / "bindings/python/mygemm/__init__.py").read_text()
        for name in re.findall(r'"(\w+)"', package.split("__all__")[1]):
            self.assertTrue(name.startswith("__") or f"mygemm.{name}" in self.page("python").names,
                            name)

    def test_sentences(self):
        text = (SITE / "docs/reference/errors.html").read_text()
        for sentence in ("… = … is smaller than", "standard output cannot be written",
                         "… is read-only"):
            self.assertIn(sentence, text)


class Header(unittest.TestCase):
    def test_a_declaration_that_cannot_be_read(self):
        sys.path.insert(0, str(SOURCE / "site"))
        import c_reference
        for line in ("union mygemmPair { int a; };",
                     "typedef struct {\n  int (*call)(int);\n} mygemmOddity_t;",
                     "typedef enum { MYGEMM_ODD = 1 << 2 } mygemmOddity_t;"):
            with tempfile.TemporaryDirectory() as folder:
                include = pathlib.Path(folder) / "include/mygemm"
                include.mkdir(parents=True)
                for header in "mygemm.h", "grouped.h", "types.h":
                    text = (SOURCE / "include/mygemm" / header).read_text()
                    (include / header).write_text(f"{text}{line}\n")
                with self.assertRaisesRegex(ValueError, "cannot read '", msg=line):
                    c_reference.markdown(pathlib.Path(folder))


def main():
    global SOURCE, SITE
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    with tempfile.TemporaryDirectory() as folder:
        SITE = pathlib.Path(folder).resolve()
        built = subprocess.run([sys.executable, "-B", SOURCE / "site/build.py", SITE], check=False)
        if built.returncode != 0:
            sys.exit(built.returncode)
        unittest.main()


if __name__ == "__main__":
    main()
