"""The text of the ABI's headers, for tests that compare others' declarations with it."""


def abi_headers(source):
    """mygemm.h with what it includes of the project, in the source folder `source`."""
    folder = source / "include/mygemm"
    return "".join((folder / name).read_text() for name in ("types.h", "mygemm.h", "grouped.h"))
