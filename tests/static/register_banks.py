"""Static test: register-bank conflicts of multiply-adds, in what ptxas made of kernels.

register_banks.py TABLE [--update] CUBIN...

Registers of sm_90 lie in two banks, by parity of their number. A multiply-add that reads two
different registers of a bank takes twice as long, unless one of them stands in the same place of
the instruction before it and is kept there (.reuse). Which registers the compiler takes is chance:
the same source came out at 55 or at 47 TFLOP/s. TABLE has the share of such multiply-adds in each
kernel's main loop, where hardly anything else stands between them; the test fails where one has
grown by more than two points, and where a kernel is missing.
"""

import argparse
import pathlib
import re
import struct
import sys

FFMA_OF_REGISTERS = 0x223  # the low 12 bits of the instruction
MOST_GROWTH = 2.0  # points
# In a main loop, of so many instructions around a multiply-add so many are multiply-adds.
AROUND, LEAST = 32, 26


def code_of(cubin):
    """The kernels of an ELF file: name and machine code."""
    data = pathlib.Path(cubin).read_bytes()
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections = []
    for i in range(count):
        name, _, _, _, at, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        sections.append((name, at, length))
    names = sections[names_index][1]
    for name, at, length in sections:
        text = data[names + name : data.index(b"\0", names + name)].decode()
        if text.startswith(".text."):
            yield text[len(".text.") :], data[at : at + length]


def conflict_share(code):
    """Percent of a main loop's multiply-adds that read two registers of a bank; None where there
    are few multiply-adds."""
    kept = [None] * 3
    conflicts = []  # by instruction; None: no multiply-add
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        if low & 0xFFF != FFMA_OF_REGISTERS:
            kept = [None] * 3
            conflicts.append(None)
            continue
        registers = (low >> 24 & 0xFF, low >> 32 & 0xFF, high & 0xFF)
        read = {r for slot, r in enumerate(registers) if kept[slot] != r}
        kept = [r if high >> (58 + slot) & 1 else None for slot, r in enumerate(registers)]
        conflicts.append(len({r % 2 for r in read}) < len(read))
    if len(conflicts) - conflicts.count(None) < 256:
        return None
    in_loop = [conflict for at, conflict in enumerate(conflicts)
               if conflict is not None and is_main_loop(conflicts, at)]
    return 100 * sum(in_loop) / len(in_loop)


def is_main_loop(conflicts, at):
    around = conflicts[max(0, at - AROUND // 2) : at + AROUND // 2]
    return len(around) - around.count(None) >= LEAST


def readable(name):
    """tma 256 x 128, A transposing, B by TMA, fused: of the mangled name of a TMA-fed kernel."""
    tile = re.search(r"(Tma|Short)TileILi(\d+)ELi(\d+)E", name)
    loads = re.search(r"OperandLoadE(\d)ELS\w*?_(\d)E(?:Lb(\d)E)?", name)
    if not tile or not loads:
        return name
    kinds = ("by TMA", "by shifted maps", "by 16 bytes", "by 4 bytes", "transposing")  # OperandLoad
    a, b = (kinds[int(load)] for load in loads.groups()[:2])
    fused = ", fused" if loads[3] == "1" else ""
    return f"{tile[1].lower()} {tile[2]} x {tile[3]}, A {a}, B {b}{fused}"


def measure(cubins):
    shares = {}
    for cubin in cubins:
        for name, code in code_of(cubin):
            share = conflict_share(code)
            if share is not None:
                shares[readable(name)] = share
    return shares


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("cubins", nargs="+", metavar="CUBIN")
    parser.add_argument("--update", action="store_true", help="write the table")
    options = parser.parse_args()
    shares = measure(options.cubins)
    if options.update:
        lines = [f"{share:5.1f}  {name}\n" for name, share in sorted(shares.items())]
        options.table.write_text("".join(lines))
        return 0
    expected = {}
    for line in options.table.read_text().splitlines():
        share, name = line.split(maxsplit=1)
        expected[name] = float(share)
    failures = [f"no longer compiled: {name}" for name in expected.keys() - shares.keys()]
    for name, share in sorted(shares.items()):
        if name not in expected:
            failures.append(f"not in the table: {name}, {share:.1f} %")
        elif share > expected[name] + MOST_GROWTH:
            failures.append(f"{name}: {share:.1f} %, {expected[name]} % in the table")
    print("\n".join(failures) or f"{len(shares)} kernels as in the table")
    return 1 if failures or not shares else 0


if __name__ == "__main__":
    sys.exit(main())
