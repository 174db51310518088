"""The mygemm command's files: pipes, standard streams, signals, modes; progress on a terminal.

Usage: files_test.py MYGEMM [unittest options]. Needs NumPy.
"""
import io
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import cli_test


def npy_bytes(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


class Streams(cli_test.CommandTest):
    def run_with_input(self, content, *arguments):
        return subprocess.run([cli_test.MYGEMM, *arguments], cwd=self.folder, input=content,
                              capture_output=True, timeout=120, check=False)

    def test_a_minus_is_standard_input_and_output(self):
        x = self.save("x.npy", self.matrix(3, 5))
        for command, expected in ((("transpose", "-"), x.T), (("sgemm", "-", "x.npy", "--transb",
                                                                "T"), None),
                                  (("softmax", "-"), None)):
            result = self.run_with_input(npy_bytes(x), *command, "-o", "-")
            self.assertEqual((result.returncode, result.stderr), (0, b""), command)
            y = np.load(io.BytesIO(result.stdout))
            if expected is not None:
                np.testing.assert_array_equal(y, expected)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.npy"])

    def test_standard_input_is_read_once(self):
        self.fail_with("standard input (-) is named for two matrices", "sgemm", "-", "-", "-o",
                       "c.npy")

    def test_standard_input_is_named_where_it_is_bad(self):
        result = self.run_with_input(b"1.0 2.0\n", "transpose", "-", "-o", "y.npy")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"mygemm: error: standard input: not a .npy file", result.stderr)

    def test_output_devices_are_written_where_they_are(self):
        x = self.save("x.npy", self.matrix(3, 5))
        result = self.run_with_input(b"", "transpose", "x.npy", "-o", "/dev/stdout")
        np.testing.assert_array_equal(np.load(io.BytesIO(result.stdout)), x.T)
        self.succeed("transpose", "x.npy", "-o", "/dev/null")
        self.assertFalse(os.path.isfile("/dev/null"))
        # Through a link to a descriptor that is a pipe.
        read, write = os.pipe()
        subprocess.run([cli_test.MYGEMM, "transpose", "x.npy", "-o", f"/dev/fd/{write}"],
                       cwd=self.folder, pass_fds=[write], timeout=120, check=True)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            np.testing.assert_array_equal(np.load(io.BytesIO(pipe.read())), x.T)

    def test_fifos_are_read_and_written(self):
        x = self.matrix(400, 300)  # more than a pipe holds
        os.mkfifo(self.folder / "in.npy")
        os.mkfifo(self.folder / "out.npy")
        process = subprocess.Popen([cli_test.MYGEMM, "transpose", "in.npy", "-o", "out.npy"],
                                   cwd=self.folder)
        (self.folder / "in.npy").write_bytes(npy_bytes(x))
        y = np.load(io.BytesIO((self.folder / "out.npy").read_bytes()))
        self.assertEqual(process.wait(120), 0)
        np.testing.assert_array_equal(y, x.T)

    def test_a_truncated_stream_is_refused(self):
        result = self.run_with_input(npy_bytes(self.matrix(3, 5))[:-1], "transpose", "-", "-o", "-")
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(b"standard input: truncated: the shape (3, 5)", result.stderr)


class Places(cli_test.CommandTest):
    def test_a_signal_leaves_nothing(self):
        old = self.save("y.npy", self.matrix(2, 2))
        self.save("x.npy", np.zeros((6000, 6000), np.float32))
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            for _ in range(20):  # now and then the command is faster than the signal
                process = subprocess.Popen([cli_test.MYGEMM, "transpose", "x.npy", "-o", "y.npy"],
                                           cwd=self.folder)
                partial = self.folder / f"y.npy.{process.pid}.partial"
                while process.poll() is None and not partial.exists():
                    time.sleep(0.001)
                process.send_signal(number)
                if process.wait(120) != 0:
                    break
                self.save("y.npy", old)
            self.assertEqual(process.returncode, -number)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                             ["x.npy", "y.npy"])
            np.testing.assert_array_equal(self.load("y.npy"), old)

    def test_a_file_keeps_its_mode(self):
        self.save("x.npy", self.matrix(2, 2))
        for mode in 0o600, 0o664, 0o755:
            self.save("y.npy", self.matrix(1, 1))
            os.chmod(self.folder / "y.npy", mode)
            self.succeed("transpose", "x.npy", "-o", "y.npy")
            self.assertEqual(os.stat(self.folder / "y.npy").st_mode & 0o7777, mode)
            self.assertEqual(self.load("y.npy").shape, (2, 2))


class Progress(cli_test.CommandTest):
    def on_a_terminal(self, *arguments, feed=None):
        """Runs the command with a terminal as its standard error; returns the text there."""
        terminal, side = pty.openpty()
        process = subprocess.Popen([cli_test.MYGEMM, *map(str, arguments)], cwd=self.folder,
                                   stderr=side)
        os.close(side)
        if feed:
            threading.Thread(target=feed).start()
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:  # the other side is closed
            pass
        os.close(terminal)
        self.assertEqual(process.wait(120), 0, text)
        return text.decode()

    def test_reading(self):
        content = npy_bytes(self.matrix(10, 10))
        os.mkfifo(self.folder / "x.npy")

        def feed():
            with open(self.folder / "x.npy", "wb") as pipe:
                pipe.write(content[:200])
                pipe.flush()
                time.sleep(1.5)
                pipe.write(content[200:])

        text = self.on_a_terminal("transpose", "x.npy", "-o", "y.npy", feed=feed)
        self.assertRegex(text, r"\rreading +1 s")
        self.assertTrue(text.endswith("\r\x1b[K"), text)

    def test_computing(self):
        n = int(1000 * os.cpu_count() ** (1 / 3))  # takes longer than half a second
        self.save("a.npy", self.matrix(n, n))
        arguments = ("sgemm", "a.npy", "a.npy", "--force", "host_naive", "--backend", "host", "-o")
        text = self.on_a_terminal(*arguments, "c.npy")
        self.assertRegex(text, r"\rsgemm +\d s")
        self.succeed(*arguments, "d.npy")  # says nothing where there is no terminal
        np.testing.assert_array_equal(self.load("c.npy"), self.load("d.npy"))

    def test_short_jobs_show_nothing(self):
        self.save("a.npy", self.matrix(9, 9))
        self.assertEqual(self.on_a_terminal("sgemm", "a.npy", "a.npy", "-o", "c.npy"), "")


if __name__ == "__main__":
    cli_test.MYGEMM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
