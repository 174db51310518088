"""Text from sources as Markdown."""
import re


def escaped(text):
    """Text whose characters all mean themselves."""
    return re.sub(r"([\\*_`<|\[])", r"\\\1", text)
