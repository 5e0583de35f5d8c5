#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small.perfparser: a stream as Hotspot's perfparser writes it (see
app/formats/perf/flam-import-perfparser.c), with an inlined function, a location
whose symbol is its parent's, two threads, two events and one that makes no
sense; and older.perfparser, whose members end earlier."""

import pathlib
import struct

NONE = -1
here = pathlib.Path(__file__).resolve().parent


def text(value):
    data = value.encode()
    return struct.pack(">I", len(data)) + data


def record(pid, tid, time):
    return struct.pack(">IIQI", pid, tid, time, 0)


def event(kind, body):
    body = bytes([kind]) + body
    return struct.pack("<I", len(body)) + body


class Stream:
    def __init__(self):
        self.out = b"QPERFSTREAM\0" + struct.pack("<i", 19)
        self.strings = []

    def add(self, kind, body):
        self.out += event(kind, body)

    def string(self, value):
        if value not in self.strings:
            self.add(5, struct.pack(">i", len(self.strings)) + text(value))
            self.strings.append(value)
        return self.strings.index(value)

    def attributes(self, row, name, varies, period):
        self.add(11, struct.pack(">iIQi?Q", row, 0, 0, self.string(name), varies, period))

    def features(self):
        body = b"".join(map(text, ["box", "6.1", "6.1", "x86_64"]))
        body += struct.pack(">II", 2, 2) + text("a CPU") + text("id") + struct.pack(">Q", 1 << 20)
        body += struct.pack(">I", 3) + text("perf") + text("record") + text("./cook")
        body += struct.pack(">I", 1) + struct.pack(">i", -1) + struct.pack(">I", 3) + b"\xab\xcd\xef"
        body += text("/opt/cook")
        self.add(7, body)

    def location(self, row, line, parent, address, newer=True):
        file = self.string("cook.c") if line else NONE
        body = struct.pack(">iQiIiii", row, 0x400000 + address, file, 7, line, 0, parent)
        self.add(3, body + (struct.pack(">Q", address) if newer else b""))

    def symbol(self, row, name, path, kernel=False, newer=True):
        body = struct.pack(
            ">iiii?", row, self.string(name) if name else NONE,
            self.string(path.rsplit("/", 1)[-1]), self.string(path), kernel,
        )
        self.add(4, body + (struct.pack(">QQi?", 0, 16, NONE, False) if newer else b""))

    def command(self, pid, tid, name):
        self.add(2, record(pid, tid, 0) + struct.pack(">i", self.string(name)))

    def sample(self, pid, tid, time, frames, costs, kind=13):
        body = record(pid, tid, time) + struct.pack(f">I{len(frames)}i", len(frames), *frames)
        body += b"\0" + struct.pack(">I", len(costs))
        self.add(kind, body + b"".join(struct.pack(">iQ", *cost) for cost in costs))


def small():
    stream = Stream()
    stream.attributes(0, "cycles", True, 1000)
    stream.attributes(1, "faults", False, 1)
    stream.features()
    stream.add(0, record(7, 7, 100) + struct.pack(">I", 1))
    stream.command(7, 7, "cook")
    stream.command(7, 8, "helper")
    stream.location(0, 0, NONE, 0x10)  # main begins
    stream.symbol(0, "main", "/opt/cook")
    stream.location(1, 12, 0, 0x14)  # in main
    stream.location(2, 3, NONE, 0x40)  # stir begins
    stream.symbol(2, "stir", "/opt/cook")
    stream.location(3, 5, 2, 0x44)  # taste, inlined into stir
    stream.symbol(3, "taste", "/opt/cook")
    stream.location(4, 0, NONE, 0)
    stream.symbol(4, "do_syscall", "[kernel.kallsyms]", kernel=True)
    stream.location(5, 0, NONE, 0x999)
    stream.symbol(5, "", "/opt/libspoon.so")
    stream.location(6, 0, 6, 0x1)  # its own parent: makes no sense
    stream.sample(7, 7, 1000, [3, 1], [(0, 250)])
    stream.sample(7, 7, 2000, [4, 3, 1], [(0, 300), (1, 0)])
    stream.sample(7, 8, 1500, [5], [(0, 10)], kind=14)
    stream.sample(7, 8, 2500, [], [(0, 5)])
    stream.sample(7, 8, 2600, [6], [(9, 5)])
    stream.add(6, record(7, 7, 3000) + struct.pack(">Q", 4))
    stream.add(9, struct.pack(">f", 1.0))
    stream.add(1, record(7, 7, 4000))
    (here / "small.perfparser").write_bytes(stream.out)
    (here / "cut.perfparser").write_bytes(stream.out[:-4])
    (here / "empty.perfparser").write_bytes(stream.out[:16])


def older():
    stream = Stream()
    stream.attributes(0, "cpu-clock:u", False, 250000)
    stream.location(0, 0, NONE, 0, newer=False)
    stream.symbol(0, "main", "/opt/cook", newer=False)
    stream.sample(7, 7, 10, [0], [(0, 0)])
    (here / "older.perfparser").write_bytes(stream.out)


small()
older()
