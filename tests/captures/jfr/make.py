#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes the fixtures beside it, after the layout that
app/formats/java/flam-jfr.h describes; recordings of the JDK itself, which are too
large to be kept, are made and compared in tests/formats/oracles.py."""

import pathlib
import struct

here = pathlib.Path(__file__).parent


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    for _ in range(8):
        if n < 0x80:
            return bytes(out) + bytes([n])
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def text(string, form=3):
    if string is None:
        return b"\0"
    if form == 4:
        units = string.encode("utf-16-le")
        units = struct.unpack(f"<{len(units) // 2}H", units)
        return b"\4" + varint(len(units)) + b"".join(map(varint, units))
    if form == 5:
        raw = string.encode("latin-1")
        return b"\5" + varint(len(raw)) + raw
    raw = string.encode()
    return b"\3" + varint(len(raw)) + raw


def event(type, body):
    """Sizes take four bytes, as the JDK writes them."""
    body = varint(type) + body
    size = len(body) + 4
    return bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80,
                  size >> 14 & 0x7F | 0x80, size >> 21]) + body


# id: name, fields (name, class, flags: c a constant, a an array)
CLASSES = {
    4: ("boolean", ()), 5: ("char", ()), 6: ("float", ()), 7: ("double", ()),
    8: ("byte", ()), 9: ("short", ()), 10: ("int", ()), 11: ("long", ()),
    20: ("java.lang.String", ()),
    21: ("java.lang.Class", (("classLoader", 30, "c"), ("name", 23, "c"),
                             ("modifiers", 10, ""))),
    22: ("java.lang.Thread", (("osName", 20, ""), ("osThreadId", 11, ""),
                              ("javaName", 20, ""), ("javaThreadId", 11, ""))),
    23: ("jdk.types.Symbol", (("string", 20, ""),)),
    24: ("jdk.types.ThreadState", (("name", 20, ""),)),
    25: ("jdk.types.FrameType", (("description", 20, ""),)),
    26: ("jdk.types.StackTrace", (("truncated", 4, ""), ("frames", 27, "a"))),
    27: ("jdk.types.StackFrame", (("method", 28, "c"), ("lineNumber", 10, ""),
                                  ("bytecodeIndex", 10, ""), ("type", 25, "c"))),
    28: ("jdk.types.Method", (("type", 21, "c"), ("name", 23, "c"),
                              ("descriptor", 23, "c"), ("modifiers", 10, ""),
                              ("hidden", 4, ""))),
    30: ("jdk.types.ClassLoader", (("name", 23, "c"), ("weight", 6, ""),
                                   ("share", 7, ""))),
    101: ("jdk.ExecutionSample", (("startTime", 11, ""), ("sampledThread", 22, "c"),
                                  ("stackTrace", 26, "c"), ("state", 24, "c"))),
    102: ("profiler.WallClockSample", (("startTime", 11, ""), ("sampledThread", 22, "c"),
                                       ("stackTrace", 26, "c"), ("state", 24, "c"),
                                       ("samples", 10, ""))),
    103: ("jdk.ObjectAllocationInNewTLAB", (
        ("startTime", 11, ""), ("eventThread", 22, "c"), ("stackTrace", 26, "c"),
        ("objectClass", 21, "c"), ("allocationSize", 11, ""), ("tlabSize", 11, ""))),
    104: ("jdk.JavaMonitorEnter", (
        ("startTime", 11, ""), ("duration", 11, ""), ("eventThread", 22, "c"),
        ("stackTrace", 26, "c"), ("monitorClass", 21, "c"))),
    105: ("profiler.Malloc", (("startTime", 11, ""), ("eventThread", 22, "c"),
                              ("stackTrace", 26, "c"), ("address", 11, ""),
                              ("size", 11, ""))),
    106: ("profiler.Free", (("startTime", 11, ""), ("eventThread", 22, "c"),
                            ("stackTrace", 26, "c"), ("address", 11, ""))),
    107: ("jdk.JVMInformation", (("startTime", 11, ""), ("javaArguments", 20, ""),
                                 ("pid", 11, ""))),
    108: ("jdk.GCPhasePause", (("startTime", 11, ""), ("duration", 11, ""),
                               ("eventThread", 22, "c"), ("gcId", 10, ""),
                               ("name", 20, ""))),
    109: ("jdk.GCHeapSummary", (("startTime", 11, ""), ("heapUsed", 11, ""))),
    110: ("jdk.CPUTimeSample", (("startTime", 11, ""), ("stackTrace", 26, "c"),
                                ("eventThread", 22, "c"), ("failed", 4, ""),
                                ("samplingPeriod", 11, ""))),
    111: ("jdk.SocketRead", (("startTime", 11, ""), ("duration", 11, ""),
                             ("eventThread", 22, "c"), ("stackTrace", 26, "c"),
                             ("host", 20, ""), ("bytesRead", 11, ""))),
    112: ("jdk.DataLoss", (("startTime", 11, ""), ("amount", 11, ""))),
    113: ("shop.Order", (("startTime", 11, ""), ("weight", 11, ""))),
}


def metadata():
    words = []

    def word(string):
        if string not in words:
            words.append(string)
        return varint(words.index(string))

    def element(name, attributes, children):
        out = word(name) + varint(len(attributes))
        for key, value in attributes:
            out += word(key) + word(value)
        return out + varint(len(children)) + b"".join(children)

    classes = []
    for id, (name, fields) in CLASSES.items():
        inner = []
        for field, type, flags in fields:
            attributes = [("name", field), ("class", str(type))]
            if "c" in flags:
                attributes.append(("constantPool", "true"))
            if "a" in flags:
                attributes.append(("dimension", "1"))
            note = element("annotation", [("class", "9")], [])
            inner.append(element("field", attributes, [note]))
        classes.append(element("class", [("name", name), ("id", str(id))], inner))
    root = element("root", [], [
        element("metadata", [], classes),
        element("region", [("locale", "en"), ("gmtOffset", "0")], [])])
    head = varint(0) + varint(0) + varint(1)
    return event(0, head + varint(len(words)) + b"".join(map(text, words)) + root)


def pool(type, constants):
    return varint(type) + varint(len(constants)) + b"".join(
        varint(key) + value for key, value in constants)


def checkpoint(*pools):
    return event(1, varint(0) * 3 + b"\1" + varint(len(pools)) + b"".join(pools))


def stack(truncated, *frames):
    return bytes([truncated]) + varint(len(frames)) + b"".join(
        varint(method) + varint(line) + varint(7) + varint(type)
        for method, line, type in frames)


SYMBOLS = {1: "com/shop/Cart", 2: "total", 3: "main", 4: "()V", 5: "[B",
           6: "java/util/HashMap$Node", 7: "get", 8: "()L;", 9: "libc.so.6",
           10: "__poll", 11: "do_syscall_64", 12: "", 13: "com/shop/Cart$Item",
           14: "price"}


def constants(threads):
    return checkpoint(
        pool(20, [(1, text("a text kept once"))]),
        pool(23, [(k, text(v, 5 if k == 3 else 4 if k == 2 else 3))
                  for k, v in SYMBOLS.items()]),
        pool(21, [(1, varint(0) + varint(1) + varint(1)),
                  (2, varint(0) + varint(5) + varint(1)),
                  (3, varint(0) + varint(6) + varint(1)),
                  (4, varint(0) + varint(9) + varint(0)),
                  (5, varint(0) + varint(12) + varint(0)),
                  (6, varint(0) + varint(13) + varint(0))]),
        pool(28, [(1, varint(1) + varint(3) + varint(4) + varint(9) + b"\0"),
                  (2, varint(1) + varint(2) + varint(4) + varint(1) + b"\0"),
                  (3, varint(3) + varint(7) + varint(4) + varint(1) + b"\0"),
                  (4, varint(4) + varint(10) + varint(8) + varint(0) + b"\0"),
                  (5, varint(5) + varint(11) + varint(8) + varint(0) + b"\0"),
                  (6, varint(6) + varint(14) + varint(4) + varint(1) + b"\0")]),
        pool(25, [(1, text("Interpreted")), (2, text("JIT compiled")),
                  (3, text("Inlined")), (4, text("Native")), (5, text("Kernel"))]),
        pool(26, [(1, stack(0, (2, 31, 2), (1, 12, 1))),
                  (2, stack(0, (3, 590, 3), (6, 44, 3), (2, 33, 2), (1, 12, 1))),
                  (3, stack(1, (5, 0xFFFFFFFF, 5), (4, 0, 4), (2, 35, 2)))]),
        pool(24, [(1, text("STATE_RUNNABLE")), (2, text("STATE_SLEEPING")),
                  (3, text("STATE_PARKED_TIMED")),
                  (4, text("STATE_BLOCKED_ON_MONITOR_ENTER"))]),
        pool(22, threads))


THREADS = [(1, text("java") + varint(4711) + text("main") + varint(1)),
           (2, text("GC Thread#0") + varint(4713) + text(None) + varint(0)),
           (3, text(None) + varint(0) + text("virtual-7") + varint(31))]


def chunk(events, unix_ns, cut=False, major=2):
    start = 1000
    body = b"".join(events)
    size = 0 if cut else 68 + len(body)
    return (b"FLR\0" + struct.pack(">HHqqqqqqqI", major, 1, size, 68, 68, unix_ns,
                                   10**9, start, 10**6, 3) + body)


def ticks(n):
    return varint(1000 + n)


first = [
    metadata(),
    event(107, ticks(0) + text("Shop --open") + varint(4711)),
    event(101, ticks(10) + varint(1) + varint(1) + varint(1)),
    event(101, ticks(20010) + varint(1) + varint(2) + varint(1)),
    event(101, ticks(20020) + varint(3) + varint(1) + varint(1)),
    event(102, ticks(50) + varint(1) + varint(3) + varint(2) + varint(40)),
    event(102, ticks(60) + varint(2) + varint(0) + varint(1) + varint(2)),
    event(103, ticks(70) + varint(1) + varint(2) + varint(2) + varint(64)
          + varint(1 << 20)),
    event(103, ticks(75) + varint(1) + varint(1) + varint(3) + varint(32)
          + varint(4096)),
    event(104, ticks(80) + varint(250) + varint(1) + varint(1) + varint(1)),
    event(110, ticks(90) + varint(1) + varint(1) + b"\0" + varint(10000)),
    event(111, ticks(95) + varint(30) + varint(1) + varint(3) + text("localhost", 5)
          + varint(512)),
    event(108, ticks(100) + varint(900) + varint(2) + varint(1) + text("GC Pause")),
    event(108, ticks(1500) + varint(100) + varint(2) + varint(2) + b"\2" + varint(1)),
    event(109, ticks(101) + varint(123456789)),
    event(113, ticks(101) + varint(5)),
    constants(THREADS),
]
second = [
    constants(THREADS[:1]),
    event(105, ticks(30) + varint(1) + varint(3) + varint(0x1000) + varint(100)),
    event(105, ticks(10) + varint(1) + varint(1) + varint(0x2000) + varint(50)),
    event(106, ticks(40) + varint(1) + varint(0) + varint(0x1000)),
    event(106, ticks(41) + varint(1) + varint(0) + varint(0x9000)),
    event(101, ticks(50) + varint(1) + varint(9) + varint(1)),
    event(112, ticks(51) + varint(7)),
    metadata(),
]
T = 1_700_000_000_000_000_000
(here / "two-chunks.jfr").write_bytes(chunk(first, T) + chunk(second, T + 10**9))
(here / "execution.jfr").write_bytes(chunk(first[:4] + [constants(THREADS[:1])], T))
(here / "cut.jfr").write_bytes(chunk(first, T) + chunk(second, T + 10**9)[:-40])
(here / "unfinished.jfr").write_bytes(
    chunk(first[:4] + [constants(THREADS)] + first[2:5], T, cut=True)[:-3])
(here / "old.jfr").write_bytes(chunk(first[:3], T, major=0))
(here / "headless.jfr").write_bytes(chunk(first[1:4], T))
(here / "nothing.jfr").write_bytes(chunk(first[:2], T))
# The wall clock as async-profiler before 4.0 writes it.
(here / "wall.jfr").write_bytes(chunk(
    first[:2] + [event(101, ticks(10 * n) + varint(1) + varint(1) + varint(n))
                 for n in range(5)] + [constants(THREADS[:1])], T))
