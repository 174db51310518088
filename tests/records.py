"""Records of tests that take too long for CI, or need a GPU: what passed, and a digest of the
sources that it passed on. Used by the *_record.py beside this file, whose `check` compares that
digest with the sources of today; a record that is missing or older is a skip, not a failure.
"""
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CODE = {".h", ".c", ".cpp", ".cu", ".cuh", ".inc", ".map", ".txt", ".cmake"}
SKIPPED = 77


def digest(folders, suffixes):
    """SHA-256 over the paths and contents of the files with these suffixes."""
    whole = hashlib.sha256()
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in suffixes:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                whole.update(f"{path.relative_to(SOURCE).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def answer_of(*command):
    """The output of a command, or None where it is not there or fails."""
    try:
        return subprocess.run(command, cwd=SOURCE, check=True, text=True,
                              capture_output=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def heading():
    """When, and on which commit, a record is made."""
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "commit": answer_of("git", "describe", "--always", "--dirty", "--abbrev=12")}


def read(file):
    """The record, or None where there is none."""
    return json.loads(file.read_text()) if file.exists() else None


def check(file, sources, layer, renewal):
    """The record. Ends with SKIPPED, and a sentence, where it is not of `sources`, a digest."""
    record = read(file)
    if record is None:
        print(f"skip: there is no record of the {layer}; {renewal} makes one")
        sys.exit(SKIPPED)
    if record["sources"] != sources:
        print(f"skip: the record of the {layer} ({record['device']}, {record['date']}) is older "
              f"than the sources; {renewal} renews it")
        sys.exit(SKIPPED)
    print(f"these sources passed the {layer} on {record['device']}, {record['date']}")
    return record
