"""The whole programs among the examples of the documents, and their output by the comments behind
their print statements.
"""
import pathlib
import re

DOCUMENTS = ["README.md", "docs/tour/c.md", "docs/tour/cpp.md", "docs/tour/fortran.md",
             "docs/tour/python.md"]
# For each language: a whole program, and a comment behind a statement that prints.
LANGUAGES = {
    "c": (r"\bint main\(", r"printf\(.*\); /\* (.*) \*/"),
    "cpp": (r"\bint main\(", r"printf\(.*\);  // (.*)"),
    "fortran": (r"(?m)^program ", r"print .*   ! (.*)"),
    "python": (r"(?m)^import mygemm", r"print\(.*\) +# (.*)"),
}


def programs(source):
    """(document, language, text, [output]) of each program."""
    for document in DOCUMENTS:
        text = (pathlib.Path(source) / document).read_text()
        for language, program in re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", text):
            whole, printed = LANGUAGES.get(language, (r"(?!)", ""))
            if re.search(whole, program):
                yield document, language, program, re.findall(printed, program)
