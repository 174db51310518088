"""Test of links.py: links of every form that lead nowhere, and text that only looks like a link.

Usage: links_test.py [unittest options].
"""
import pathlib
import tempfile
import unittest

import links


class Links(unittest.TestCase):
    def check(self, text, path="docs/a.md"):
        """The sentences on a tree with this document, another one and an image."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "tree"
            (root / "docs/images").mkdir(parents=True)
            (root / "docs/images/a.svg").write_text("<svg/>")
            (root / "docs/b.md").write_text("# Some `code`, and more\n\n## Twice\n\n## Twice\n\n"
                                            "```\n# a comment\n```\n\n## [A link](b.md)\n")
            (root.parent / "outside.md").write_text("# Outside\n")
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            return list(links.breaches(root))

    def test_links_that_lead_somewhere(self):
        for link in ["b.md", "b.md#some-code-and-more", "b.md#twice", "b.md#twice-1", "#here",
                     "b.md#a-link", "images", "images/a.svg", "../docs/b.md", "https://a.b/c",
                     "mailto:a@b", "<b.md>", 'b.md "a title"']:
            self.assertEqual(self.check(f"# Here\n\nSee [it]({link}).\n"), [], link)

    def test_links_that_lead_nowhere(self):
        for link, what in [("c.md", "is no file"), ("docs/b.md", "is no file"),
                           ("b.md#more", "is no heading"), ("b.md#twice-2", "is no heading"),
                           ("b.md#a-comment", "is no heading"), ("#there", "is no heading"),
                           ("images/a.svg#a", "is no heading"),
                           ("../../outside.md", "leads out of the folder")]:
            self.assertEqual(self.check(f"# Here\n\nSee [it]({link}).\n"),
                             [f"docs/a.md: {link} {what}"])

    def test_every_form_of_a_link(self):
        for text in ["![a picture](c.svg)", "[![a picture](images/a.svg)](c.svg)",
                     "[it]: c.svg", '<img src="c.svg" width="3">', '<a href="c.svg">it</a>',
                     "[two\nlines](c.svg)"]:
            self.assertEqual(self.check(text + "\n"), ["docs/a.md: c.svg is no file"], text)

    def test_code_has_no_links(self):
        for text in ["`[it](c.md)`", "```\n[it](c.md)\n```", "    a[i](c.md)"]:
            self.assertEqual(self.check(text + "\n"), [], text)

    def test_documents_of_builds_are_left_out(self):
        for path in "build/a/b.md", ".git/a.md", "docs/_deps/a.md":
            self.assertEqual(self.check("[it](c.md)\n", path), [], path)


if __name__ == "__main__":
    unittest.main()
