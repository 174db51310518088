"""Test of what mutants.py does before it builds anything: comments, anchors, what has changed.

Usage: mutants_test.py [unittest options].
"""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import mutants
from mutant_list import Mutant

SOURCE = '''// A file.
int f() {
  // A line of its own.
  wait();  // one
  const char* url = "http://a";  /* two */
  wait();
}
'''


def mutant(name="m", find="wait();", replace="", **others):
    return Mutant(name, "kernels/f.cu", find, replace, "F.*", **others)


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "src/kernels").mkdir(parents=True)
        self.write(SOURCE)
        noticed = mutants.NOTICED
        mutants.NOTICED = self.root / "noticed.json"
        self.addCleanup(setattr, mutants, "NOTICED", noticed)

    def write(self, text):
        (self.root / "src/kernels/f.cu").write_text(text)

    def test_comments_are_no_code(self):
        self.assertEqual(mutants.without_comments(SOURCE),
                         'int f() {\n  wait();\n  const char* url = "http://a";\n  wait();\n}\n')

    def test_an_edit_replaces_the_occurrence_that_it_names(self):
        text = mutants.without_comments(SOURCE)
        edited = mutants.edit(text, mutant(occurrence=2, occurrences=2))
        self.assertEqual(edited.count("wait();"), 1)
        self.assertLess(edited.index("wait();"), edited.index("url"))
        for wrong in mutant(), mutant(find="wait();  // one"), mutant(replace="//"):
            with self.assertRaises(mutants.MutantError):
                mutants.edit(text, wrong)

    def test_all_missing_anchors_are_listed(self):
        found = io.StringIO()
        with contextlib.redirect_stdout(found):
            fine = mutants.check_anchors(self.root, [mutant("one", find="gone"), mutant("two"),
                                                     mutant("three", find="url"),
                                                     mutant("four", find="url", compiled="no.cu")])
        self.assertFalse(fine)
        named = [line.split(":")[0] for line in found.getvalue().splitlines()]
        self.assertEqual(named[:-1], ["one", "two", "four"])

    def test_what_is_noticed_is_run_again_when_its_code_changes(self):
        everything = [mutant(str(i), find="url") for i in range(mutants.SAMPLE + 20)]
        self.assertEqual(mutants.changed(self.root, everything), everything)
        digests = {m.name: mutants.digest(self.root, m) for m in everything}
        mutants.NOTICED.write_text(json.dumps(digests))
        self.assertEqual(len(mutants.changed(self.root, everything)), mutants.SAMPLE)
        self.write(SOURCE.replace("// one", "// another word"))
        self.assertEqual(len(mutants.changed(self.root, everything)), mutants.SAMPLE)
        self.write(SOURCE.replace("http", "https"))
        self.assertEqual(mutants.changed(self.root, everything), everything)

    def test_the_order_is_random_and_changes_with_the_code_alone(self):
        everything = [mutant(str(i), find="url") for i in range(30)]
        first = mutants.in_random_order(self.root, everything)
        self.assertNotEqual(first, everything)
        self.assertEqual(sorted(first), sorted(everything))
        self.assertEqual(mutants.in_random_order(self.root, everything), first)
        self.write(SOURCE.replace("http", "https"))
        self.assertNotEqual(mutants.in_random_order(self.root, everything), first)

    def test_a_baseline_runs_once_and_only_where_a_mutant_needs_it(self):
        ran = []
        one, two, three = (mutant(str(i), **{"few_blocks": i == 2}) for i in range(3))
        build = mutants.Build(None, None, self.root / "library.so", None, None)
        with mock.patch.object(mutants, "check_mutant", lambda build, m: "killed"), \
             mock.patch.object(mutants, "run_tests", lambda build, selection, folder:
                               (ran.append(selection) or not selection[1], "failed")), \
             contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(mutants.check(build, [one, two, three], 2, 1000),
                             ([one, two], [three]))
            self.assertEqual(len(ran), 2)
            self.assertEqual(mutants.check(build, [one, two, three], 2, 0), ([], []))
        self.assertEqual(len(ran), 2)


if __name__ == "__main__":
    unittest.main()
