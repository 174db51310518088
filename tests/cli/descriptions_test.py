"""Manual pages and completion: they have every option that --help has, groff finds nothing wrong in
the pages, and shells complete lines by the scripts.

Usage: descriptions_test.py MYGEMM MYGEMM_BENCH [unittest options]. What needs groff, fish or zsh is
skipped where they are not installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = []  # set from the command line


def run(*command, said=""):
    """A command's output; it must succeed and say nothing else."""
    result = subprocess.run([str(word) for word in command], input=said, text=True, check=False,
                            capture_output=True)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"{command} gave {result.returncode}\n{result.stderr}")
    return result.stdout


def subcommands(program, *path):
    """Paths of all subcommands, as --help names them."""
    listed = run(program, *path, "--help").partition("Subcommands:\n")[2]
    for name in re.findall(r"(?m)^  (\w[\w-]*)", listed):
        yield (*path, name)
        yield from subcommands(program, *path, name)


class Manual(unittest.TestCase):
    def test_every_option_and_subcommand(self):
        for program in PROGRAMS:
            page = run(program, "--manual").replace("\\-", "-")
            self.assertIn(f".TH {program.name.upper()} 1", page)
            for path in [(), *subcommands(program)]:
                if path:
                    section = page.partition(f".SS {program.name} {' '.join(path)}\n")[2]
                    self.assertTrue(section, path)
                else:
                    section = page
                for option in re.findall(r"(?m)^  (--?[\w-]+)(?:,(--[\w-]+))?",
                                         run(program, *path, "--help")):
                    for name in filter(None, option):
                        self.assertTrue(f"\\fB{name}\\fR" in section.partition("\n.SS ")[0],
                                        f"{path} {name}")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff(self):
        for program in PROGRAMS:
            text = run("groff", "-man", "-ww", "-Tutf8", "-P-cbu",
                       said=run(program, "--manual"))
            self.assertTrue("SUBCOMMANDS" in text, text[:200])


class Completion(unittest.TestCase):
    """Each shell completes the same lines."""

    LINES = {
        "mygemm so": {"softmax"},
        "mygemm explain t": {"transpose"},
        "mygemm sgemm --tr": {"--transa", "--transb"},
        "mygemm sgemm --transa ": {"N", "T", "C"},
        "mygemm explain softmax --mode ": {"softmax", "log"},
        "mygemm --completion ": {"bash", "fish", "zsh"},
        "mygemm-bench tr": {"transpose"},
        "mygemm-bench sgemm --back": {"--backend"},
        "mygemm-bench softmax --backend ": {"auto", "cuda", "host"},
    }

    def scripts(self, shell):
        return "".join(run(program, "--completion", shell) for program in PROGRAMS)

    def test_bash(self):
        for line, expected in self.LINES.items():
            words = line.split(" ")
            function = "_" + words[0].replace("-", "_")
            said = run("bash", "-c", f"{self.scripts('bash')}\nCOMP_WORDS=({' '.join(words[:-1])} "
                       f"'{words[-1]}'); COMP_CWORD={len(words) - 1}; {function}; "
                       "printf '%s\\n' \"${COMPREPLY[@]}\"")
            self.assertEqual(set(said.split()), expected, line)

    def test_bash_files(self):
        said = run("bash", "-c", f"{self.scripts('bash')}\nCOMP_WORDS=(mygemm softmax "
                   f"'{__file__[:-2]}'); COMP_CWORD=2; _mygemm; echo \"${{COMPREPLY[@]}}\"")
        self.assertEqual(said.strip(), __file__)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = self.scripts("fish")
        for line, expected in self.LINES.items():
            said = run("fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'")
            self.assertEqual({found.split("\t")[0] for found in said.splitlines()}, expected, line)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        """The arguments that the functions give to zsh's own _arguments, which is a stand-in."""
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "script"
            script.write_text("compdef() {}\n_arguments() { state=command; print -rl -- \"$@\" }\n"
                              "_describe() { print -rl -- $commands }\n" + self.scripts("zsh"))
            run("zsh", "-n", script)
            for function, expected in {
                    "_mygemm_sgemm": r"(?m)^\(--transa\)--transa\[op.*\]:WORD:\(N T C\)$",
                    "_mygemm_explain": r"(?m)^1: :->command$",
                    "_mygemm_softmax": r"(?m)^:X.npy:_files$",
                    "_mygemm_bench_sgemm": r"(?m)^\(--backend\)--backend\[.*\(auto cuda host\)$",
            }.items():
                self.assertRegex(run("zsh", "-f", "-c", f"source {script}; {function}"), expected)
            said = run("zsh", "-f", "-c", f"source {script}; _mygemm")
            self.assertIn("explain", said)


if __name__ == "__main__":
    PROGRAMS = [pathlib.Path(sys.argv.pop(1)) for _ in range(2)]
    unittest.main()
