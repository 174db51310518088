"""Builds the site: build.py FOLDER. Exits with 77 where Sphinx, its Markdown or its theme is missing
(Debian: python3-sphinx, python3-myst-parser, furo). A warning is an error.
"""
import importlib.util
import pathlib
import sys

SITE = pathlib.Path(__file__).resolve().parent


def main():
    missing = [name for name in ("sphinx", "myst_parser", "furo")
               if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skip: no {' and no '.join(missing)} for {sys.executable}; ./dev docs installs them")
        sys.exit(77)
    from sphinx.cmd.build import main as sphinx
    sys.exit(sphinx(["-q", "-W", "--keep-going", "-b", "html", "-c", str(SITE), str(SITE.parent),
                     sys.argv[1]]))


if __name__ == "__main__":
    main()
