#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes .jlprof files beside it, after the layout that
app/formats/julia/flam-import-jlprof.c describes."""

import pathlib
import struct

here = pathlib.Path(__file__).parent
HEAD = b"JLPROF\1\0" + struct.pack("<I", 0x01020304)


def frame(function, file, line, from_c=0, inlined=0):
    function, file = function.encode(), file.encode()
    return (struct.pack("<i", len(function)) + function + struct.pack("<i", len(file))
            + file + struct.pack("<qBB", line, from_c, inlined))


PLACES = [
    (0x10, [frame("_start", "", -1, 1)]),
    (0x20, [frame("cook", "/home/cook/kitchen.jl", 30)]),
    (0x30, [frame("+", "int.jl", 87, 0, 1), frame("chop", "/home/cook/kitchen.jl", 4)]),
    (0x40, [frame("jl_gc_collect", "gc.c", 3000, 1)]),
    (0x50, []),
]
STACKS = [[0x30, 0x20, 0x10], [0x40, 0x20, 0x10], [0x30, 0x20, 0x10], [0x99, 0x50, 0x10]]


def data(words):
    out = HEAD + b"\1" + struct.pack(f"<q{len(words)}Q", len(words), *words)
    out += struct.pack("<q", len(PLACES))
    for ip, frames in PLACES:
        out += struct.pack("<Qi", ip, len(frames)) + b"".join(frames)
    return out


def node(text, first, last, *children, status=0):
    return b"\xff" + text + struct.pack("<Bqq", status, first, last) + b"".join(children) + b"\0"


plain = sum(([*ips, 0] for ips in STACKS), [])
meta = sum(([*ips, i % 2 + 1, 0 if i == 2 else 0x7f0000, 123456 + i, 1 + i % 2, 0, 0]
            for i, ips in enumerate(STACKS)), [])
chop = frame("chop", "/home/cook/kitchen.jl", 4)
graph = HEAD + b"\2" + node(
    frame("ROOT", "", 0), 1, 20,
    node(PLACES[1][1][0], 1, 18, node(chop, 1, 9, node(PLACES[2][1][0], 3, 5)),
         node(PLACES[3][1][0], 10, 12, status=2)),
    node(PLACES[0][1][0], 19, 20))
# Statuses that names alone do not show: hidden frames of C, and ProfileCanvas's.
status = HEAD + b"\2" + node(
    frame("ROOT", "", 0), 1, 20,
    node(PLACES[1][1][0], 1, 18, node(chop, 1, 6, node(PLACES[2][1][0], 1, 2, status=2), status=1),
         node(chop, 7, 9), node(frame("infer", "./compiler/typeinfer.jl", 12), 10, 15, status=8 | 2),
         node(frame("abstract", "./compiler/typeinfer.jl", 90), 16, 17, status=8)),
    node(frame("eval_user_input", "/usr/share/julia/REPL.jl", 9), 19, 19, status=4),
    node(frame("task_done_hook", "./task.jl", 7), 20, 20, status=16))
(here / "status.jlprof").write_bytes(status)
(here / "plain.jlprof").write_bytes(data(plain))
(here / "threads.jlprof").write_bytes(data(meta))
(here / "graph.jlprof").write_bytes(graph)
(here / "cut.jlprof").write_bytes(graph[:-40])
(here / "cut-data.jlprof").write_bytes(data(meta)[:100])
(here / "swapped.jlprof").write_bytes(b"JLPROF\1\0\1\2\3\4\2")
