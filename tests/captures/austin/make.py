#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes MOJO files beside it, after the layout that
app/formats/python/flam-mojo.c describes. The texts were written by hand, those
of version 1 in the form that Debian 12's austin 1.0.1 prints."""

import pathlib

here = pathlib.Path(__file__).parent


def number(n):
    sign = 0x40 if n < 0 else 0
    n = abs(n)
    out = [n & 0x3F | sign]
    n >>= 6
    while n:
        out[-1] |= 0x80
        out.append(n & 0x7F)
        n >>= 7
    return bytes(out)


def text(string):
    return string.encode() + b"\0"


def metadata(key, value):
    return b"\1" + text(key) + text(value)


def stack(version, pid, tid, interpreter=0):
    return (b"\2" + number(pid) + (number(interpreter) if version > 2 else b"")
            + text(tid))


def frame(version, key, file, name, line):
    ends = number(line + 1) + number(5) + number(9) if version > 1 else b""
    return b"\3" + number(key) + number(file) + number(name) + number(line) + ends


def string(key, value):
    return b"\13" + number(key) + text(value)


def file(version, mode):
    out = b"MOJ" + number(version) + metadata("austin", "3.7.0") + metadata("mode", mode)
    out += stack(version, 4711, "1a2b")
    out += string(70, "/home/cook/app.py") + string(71, "cook") + string(72, "chop")
    out += string(73, "/lib/libc.so.6") + string(74, "read")
    out += frame(version, 500, 70, 71, 21) + frame(version, 501, 70, 72, 5)
    out += frame(version, 502, 73, 74, 0) + frame(version, 503, 70, 1, 7)
    out += b"\5" + number(500) + b"\5" + number(501) + b"\5" + number(502)
    out += b"\6" + text("vfs_read") + b"\11" + number(100)
    if mode == "full":
        out += b"\12" + number(-70000)
    out += stack(version, 4711, "7f0011223344", 1) + b"\5" + number(500) + b"\7"
    out += b"\11" + number(250)
    if mode == "full":
        out += b"\10\12" + number(4096)
    out += stack(version, 4711, "1a2b") + b"\5" + number(503) + b"\4"
    if version > 3:
        out += b"\15"
    return out + b"\11" + number(300) + metadata("duration", "650")


for version in (1, 2, 3, 4):
    (here / f"version{version}.mojo").write_bytes(file(version, "wall"))
(here / "full.mojo").write_bytes(file(3, "full"))
(here / "cut.mojo").write_bytes(file(3, "wall")[:-30])
(here / "wrong.mojo").write_bytes(file(3, "wall") + b"\77\0")
(here / "headless.mojo").write_bytes(b"MOJ\3\77\0")


def native():
    """Native frames as in austinp's output: unresolved, resolved, and without a
    file."""
    out = b"MOJ" + number(3) + metadata("mode", "cpu")
    out += metadata("map", "400000-423000 /opt/python3") + metadata("map", "423000-671000 /opt/python3")
    out += metadata("map", "7f9005a2c000-7f9005a2f000 /opt/libm.so") + metadata("map", "what")
    out += stack(3, 4711, "1a2b")
    out += string(70, "native@424010") + string(71, "PyLong_New") + string(72, "native@99")
    out += string(73, "/opt/python3") + string(74, "pack") + string(75, "pack.h")
    out += frame(3, 500, 70, 71, 0) + frame(3, 501, 72, 1, 0) + frame(3, 502, 73, 71, 0x24010)
    out += frame(3, 503, 74, 74, 0) + frame(3, 504, 75, 74, 40)
    for key in range(500, 505):
        out += b"\5" + number(key)
    return out + b"\11" + number(100)


(here / "native.mojo").write_bytes(native())
