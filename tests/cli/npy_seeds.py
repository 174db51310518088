"""Writes the seed corpus of npy_fuzz: small .npy files of NumPy's, good and bad, one folder."""
import io
import pathlib
import sys

import numpy as np


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def seeds():
    for name in "b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 c8 f16 c16".split():
        yield name, npy(np.zeros((2, 3), name))
    for name in ">f4 O S3 U2 M8[s] V4".split():
        yield name.replace("[", "_"), npy(np.zeros(2, name))
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    for version in (1, 0), (2, 0), (3, 0):
        yield "v%d" % version[0], npy(matrix, version)
    yield "fortran", npy(np.asfortranarray(matrix))
    yield "record", npy(np.zeros(2, [("a", "f4"), ("b", "i2")]))
    for shape in (), (0,), (1, 0, 2), (1,) * 32:
        yield "shape%d" % len(shape), npy(np.zeros(shape, np.float16))
    yield "truncated", npy(matrix)[:-5]
    yield "huge", npy(matrix).replace(b"(2, 3)", b"(2147483648, 4294967296)")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds():
        (folder / ("seed_" + name)).write_bytes(content)


main()
