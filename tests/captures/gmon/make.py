#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes gmon.out files beside it, after the layout that
app/formats/gprof/flam-import-gmon.c describes. Real ones, with their programs,
are made and compared with gprof's output in tests/formats/oracles.py."""

import pathlib
import struct

here = pathlib.Path(__file__).parent
MAIN, WORK, LEAF = 0x1100, 0x1200, 0x1300


def histogram(word, counts, low=0x1000, high=0x1400, rate=100):
    n = 128
    bins = [0] * n
    for address, count in counts.items():
        bins[(address - low) * n // (high - low)] += count
    return (b"\0" + struct.pack(f"<{word}{word}ii15sc", low, high, n, rate,
                                b"seconds", b"s") + struct.pack(f"<{n}H", *bins))


def arc(word, caller, callee, count):
    return b"\1" + struct.pack(f"<{word}{word}I", caller, callee, count)


def blocks(word):
    return b"\2" + struct.pack(f"<I{word}{word}", 1, MAIN, 7)


ARCS = [(0x9000, MAIN, 1), (MAIN + 9, WORK, 30), (MAIN + 30, LEAF, 10),
        (WORK + 5, LEAF, 30), (WORK + 8, WORK, 200), (LEAF + 3, WORK, 4)]


def gmon(word, arcs=ARCS):
    return (b"gmon" + struct.pack("<I12x", 1)
            + histogram(word, {WORK + 16: 30, LEAF + 8: 60, LEAF + 24: 10, 0x1010: 1})
            + blocks(word) + b"".join(arc(word, *each) for each in arcs))


# One program, whatever the word size and the order in which its table was walked.
(here / "same@wide.gmon").write_bytes(gmon("Q"))
(here / "same@narrow.gmon").write_bytes(gmon("I"))
(here / "same@backwards.gmon").write_bytes(gmon("Q", ARCS[::-1]))
(here / "same@turned.gmon").write_bytes(gmon("Q", ARCS[3:] + ARCS[:3]))
(here / "cut.gmon").write_bytes(gmon("Q")[:-30])
(here / "wrong.gmon").write_bytes(b"gmon" + struct.pack("<I12x", 1) + b"\7")
