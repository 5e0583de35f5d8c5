#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes method traces beside it, after the layout that
app/formats/java/flam-import-art.c describes."""

import pathlib
import struct

here = pathlib.Path(__file__).parent
METHODS = {0x10: ("app.Main", "main", "([Ljava/lang/String;)V", "Main.java"),
           0x14: ("app.Parser", "parse", "()V", "Parser.java"),
           0x18: ("app.Parser", "next", "()I", "Parser.java")}
THREADS = {4711: "main", 4713: "Binder:4711_1"}
ENTER, LEAVE, THROW = 0, 1, 2
# thread, method, kind, µs of CPU, µs
EVENTS = [(4711, 0x10, ENTER, 0, 100), (4711, 0x14, ENTER, 300, 1100),
          (4711, 0x18, ENTER, 400, 2100), (4713, 0x18, ENTER, 10, 2500),
          (4711, 0x18, THROW, 900, 3100), (4711, 0x14, LEAVE, 1000, 5100),
          (4713, 0x20, ENTER, 30, 5500), (4713, 0x20, LEAVE, 40, 6500),
          (4713, 0x18, LEAVE, 50, 7500), (4713, 0x18, LEAVE, 60, 7600),
          (4711, 0x18, ENTER, 1100, 8100)]


def text(version, clock, ids=1 << 16):
    lines = ["*version", str(version), "data-file-overflow=false",
             f"clock={clock}", "elapsed-time-usec=9100",
             f"num-method-calls={len(EVENTS)}", "vm=art", "pid=4711", "*threads"]
    lines += [f"{tid % ids}\t{name}" for tid, name in THREADS.items()]
    lines += ["*methods"]
    lines += [f"{number:#x}\t" + "\t".join(method) for number, method in METHODS.items()]
    return "\n".join(lines + ["*end", ""]).encode()


def head(version, size):
    return (b"SLOW" + struct.pack("<HHQ", version, 32, 1 << 40)
            + (struct.pack("<H", size) if size else b"")).ljust(32, b"\0")


def record(event, tid, clocks):
    thread, method, what, cpu, wall = event
    return struct.pack("<" + tid + "I", thread % 256 if tid == "B" else thread,
                       method | what) + struct.pack(
        "<" + "I" * len(clocks), *[{"cpu": cpu, "wall": wall}[clock] for clock in clocks])


def records(tid, *clocks):
    return b"".join(record(event, tid, clocks) for event in EVENTS)


def streamed():
    out = head(0xf3, 14)
    for number, method in METHODS.items():
        line = (f"{number:#x}\t" + "\t".join(method) + "\n").encode()
        out += struct.pack("<HBH", 0, 1, len(line)) + line
    for tid, name in THREADS.items():
        out += struct.pack("<HBHH", 0, 2, tid, len(name)) + name.encode()
    end = text(3, "dual")
    return out + records("H", "cpu", "wall") + struct.pack("<HBI", 0, 3, len(end)) + end


def write(name, data):
    (here / name).write_bytes(data)


write("dual.trace", text(3, "dual") + head(3, 14) + records("H", "cpu", "wall"))
write("cut.trace", (text(3, "dual") + head(3, 14) + records("H", "cpu", "wall"))[:-20])
write("cpu.trace", text(2, "thread-cpu") + head(2, 0) + records("H", "cpu"))
write("first.trace", text(1, "wall", 256) + head(1, 0) + records("B", "wall"))
write("streamed.trace", streamed())
write("none.trace", text(3, "dual") + head(3, 14))
write("newer.trace", head(0xf5, 0))
