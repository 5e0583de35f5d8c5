#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes Vftrace's files beside it, after the layout that
app/formats/gprof/flam-import-vftrace.c describes. nested.vfd is a real one
(nested.c)."""

import pathlib
import struct

here = pathlib.Path(__file__).parent
CALL, RETURN, MESSAGE = 0, 1, 2
STACKS = [(-1, "init"), (0, "main"), (1, "MPI_Send*"), (1, "solve"), (3, "dot")]
MS = 1000000
EVENTS = [(CALL, 1, 1), (CALL, 3, 2), (CALL, 4, 4), (RETURN, 4, 9),
          (RETURN, 3, 10), (CALL, 2, 11), (RETURN, 2, 14), (RETURN, 1, 15),
          (RETURN, 0, 16)]


def text(value):
    return struct.pack("<i", len(value) + 1) + value.encode() + b"\0"


def event(kind, stack, ms, counts):
    return struct.pack("<iiq", kind, stack, ms * MS) + struct.pack(f"<{len(counts)}q", *counts)


def message(received, rank, count, size, tag, begin, end):
    return struct.pack("<7i", MESSAGE, received, rank, 5, count, size, tag) + struct.pack(
        "<qqii", begin * MS, end * MS, 2, 0)


def write(name, ranks=1, rank=0, threads=1, interval=0, counters=0, messages=(),
          events=EVENTS, stacks=STACKS, version=3, ended=True, runtime=0.017, cut=None):
    date = b"Mon Nov 23 00:16:38 2026\0"
    head = struct.pack("<i", version) + text("Vftrace 2.0.0") + struct.pack("<i", len(date)) + date * 2
    body = b"".join(messages) + b"".join(
        event(*e, [e[2] * e[2] * (i + 1) for i in range(counters)]) for e in events)
    table = b"".join(struct.pack("<i", caller) + text(name) for caller, name in stacks)
    tree = struct.pack("<i", -1) * threads
    names = b"".join(text(f"counter {i}") + text(f"c{i}") for i in range(counters))
    at = len(head) + 80
    where = [at, at + len(body), at + len(body) + len(table), at + len(body) + len(table) + len(tree)]
    head += struct.pack("<qiiidIIIIIqqqq", interval, ranks, rank, threads, runtime, len(events),
                        len(messages), len(stacks), counters, 0, *where) if ended else bytes(80)
    (here / name).write_bytes((head + body + table + tree + names)[:cut])


write("rank.vfd", ranks=4, rank=2, messages=[message(0, 3, 100, 8, 5, 11, 13),
                                              message(1, 1, 1, 4, -1, 3, 4)])
write("counters.vfd", counters=2, interval=MS)
write("many.vfd", counters=20, threads=3)
write("open.vfd", events=EVENTS[:4], runtime=0.012)
write("none.vfd", events=[], runtime=0.0)
write("newer.vfd", version=4)
write("killed.vfd", ended=False)
write("later.vfd", stacks=[(-1, "init"), (2, "main"), (0, "solve")])
write("nowhere.vfd", events=[(CALL, 9, 1)])
write("other.vfd", events=[(7, 1, 1)])
write("cut.vfd", cut=200)
