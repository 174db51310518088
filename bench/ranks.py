"""The processes of one job on this machine: started together, ended together where one fails or is
too slow. They find each other by the variables that torchrun sets. Used by bench/scale_out.py and
by the tests of several GPUs.
"""
import collections
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

Rank = collections.namedtuple("Rank", "status stdout stderr")
# The end of a process's report of calls by libmygemm_cublas.so, MYGEMM_REPORT=1.
SHARE = re.compile(r"^mygemm: (\d+) of (\d+) calls taken", re.M)
HEADING = re.compile(r"^mygemm: calls of process \d+(?:, rank \d+)?((?:, device \d+)*)$", re.M)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(preload, **more):
    """The variables of a process with the drop-in `preload`, or without one where it is None."""
    variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    variables.update(more, MYGEMM_REPORT="1")
    if preload:
        variables["LD_PRELOAD"] = str(preload)
    return variables


def end(processes):
    """Ends processes with all that they have started."""
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def wait(processes, timeout):
    """Waits for all, or until one has failed and the others have had two seconds to say why. The
    numbers of those that have not ended."""
    deadline = time.monotonic() + timeout
    while True:
        statuses = [process.poll() for process in processes]
        if None not in statuses or time.monotonic() > deadline:
            break
        if any(statuses):
            deadline = min(deadline, time.monotonic() + 2)
        time.sleep(0.05)
    return [number for number, status in enumerate(statuses) if status is None]


def run(command, count, variables, timeout):
    """[Rank] of `count` processes of a command, each with its number; status None: it was ended."""
    common = {**variables, "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
              "GLOO_SOCKET_IFNAME": "lo"}  # also where the machine's own name leads nowhere
    with tempfile.TemporaryDirectory() as folder:
        files = [[pathlib.Path(folder) / f"{number}.{name}" for name in ("out", "err")]
                 for number in range(count)]
        processes = []
        try:
            for number, (out, err) in enumerate(files):
                with out.open("w") as stdout, err.open("w") as stderr:
                    processes.append(subprocess.Popen(
                        [str(word) for word in command], stdout=stdout, stderr=stderr,
                        start_new_session=True,
                        env={**common, "RANK": str(number), "LOCAL_RANK": str(number)}))
            slow = wait(processes, timeout)
        finally:
            end(processes)
        return [Rank(None if number in slow else process.returncode,
                     *(file.read_text(errors="replace") for file in files[number]))
                for number, process in enumerate(processes)]


def taken(rank):
    """(calls taken, calls seen, devices) by the report of a process; of none, zeros."""
    share, heading = SHARE.search(rank.stderr), HEADING.search(rank.stderr)
    if not share:
        return 0, 0, []
    devices = re.findall(r"device (\d+)", heading[1]) if heading else []
    return int(share[1]), int(share[2]), [int(device) for device in devices]


def report(rank):
    """The lines of a process's report of calls."""
    return [line.removeprefix("mygemm:").strip() for line in rank.stderr.splitlines()
            if line.startswith("mygemm:")]
