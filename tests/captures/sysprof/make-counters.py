#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes counters.syscap: counters, a log, and frames that are not shown, after
sysprof-capture-types.h of Sysprof 50."""

import pathlib
import struct

START = 1000
MS = 1_000_000


def frame(kind, time, body, pid=10):
    body += bytes(-len(body) % 8)
    return struct.pack("<HhiqB7x", 24 + len(body), 0, pid, START + time * MS, kind) + body


def text(value, size):
    return value.encode().ljust(size, b"\0")


def counter(number, kind, category, name, value):
    return (text(category, 32) + text(name, 32) + text("as of /proc", 52)
            + struct.pack("<I", number | kind << 24) + value)


def values(*pairs):
    pairs = list(pairs) + [(0, bytes(8))] * (-len(pairs) % 8)
    groups = [pairs[i:i + 8] for i in range(0, len(pairs), 8)]
    return struct.pack("<H6x", len(groups)) + b"".join(
        struct.pack("<8I", *(number for number, _ in group)) + b"".join(v for _, v in group)
        for group in groups)


def whole(value):
    return struct.pack("<q", value)


def real(value):
    return struct.pack("<d", value)


def sample(time):
    return frame(2, time, struct.pack("<HHi1Q", 1, 0, 10, 0x1010))


HEAD = (struct.pack("<IBBH", 0xFDCA975E, 1, 1, 0) + text("2026-01-02T03:04:05Z", 64)
        + struct.pack("<qq", START, START + 900 * MS)).ljust(256, b"\0")

pathlib.Path(__file__).with_name("counters.syscap").write_bytes(b"".join((
    HEAD,
    frame(4, 0, b"/usr/bin/demo --fast\0"),
    frame(3, 0, struct.pack("<4Q", 0x1000, 0x2000, 0, 7) + b"/usr/bin/demo\0"),
    frame(8, 0, struct.pack("<H6x", 2)
          + counter(1, 0, "Memory", "Used", whole(4096))
          + counter(2, 1, "CPU Percent", "CPU Percent: Total", real(12.5))),
    sample(100),
    # Later values first; 77 is not defined; a NaN is left out.
    frame(9, 400, values((1, whole(8192)), (2, real(99.6)))),
    frame(9, 200, values((1, whole(6000)), (77, whole(1)), (2, real(float("nan"))))),
    frame(9, 600, values(*[(1, whole(n)) for n in range(9)])),
    frame(12, 300, struct.pack("<H6x", 8) + text("demo", 32) + b"loaded 3 files\n\0"),
    frame(10, 500, whole(40 * MS) + text("gtk", 24) + text("frame", 40) + b"\0"),
    frame(17, 510, struct.pack("<HH", 0, 4) + b"dbus"),
    frame(16, 520, struct.pack("<HHi", 0, 0, 10)),
    frame(11, 530, text("user", 40) + b"data\0"),
    frame(13, 540, struct.pack("<HH", 1, 4) + text("/etc/os-release", 256) + b"text"),
    # A sample of nine addresses without them, and a log without a message.
    frame(2, 550, struct.pack("<HHi", 9, 0, 10)),
    frame(12, 560, struct.pack("<H6x", 8)),
    frame(6, 880, b""),
    sample(900),
)))
