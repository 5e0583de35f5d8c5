#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes small.simpleperf, after the comments of simpleperf's
cmd_report_sample.proto: 3 samples of 1000 in main;parse of thread 11 and one of
500 in an address without a symbol of thread 12; 2 lost."""

import pathlib
import struct


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def record(number, *fields):
    body = message((number, message(*fields)))
    return struct.pack("<I", len(body)) + body


def entry(address, file, symbol, how=0):
    return (3, message((1, address), (2, file), (3, symbol), (4, how)))


out = b"SIMPLEPERF" + struct.pack("<H", 1)
for i in range(3):
    out += record(1, (1, 5000 + i), (2, 11), entry(0x20, 0, 1), entry(0x10, 0, 0, 1),
                  (4, 1000), (5, 0))
out += record(1, (1, 6000), (2, 12), entry(0x30, 1, -1), (4, 500), (5, 0))
out += record(2, (1, 4), (2, 2))
out += record(3, (1, 0), (2, "/system/app.oat"), (3, "main"), (3, "parse"))
out += record(3, (1, 1), (2, "/system/lib64/libc.so"))
out += record(4, (1, 11), (2, 11), (3, "app"))
out += record(4, (1, 12), (2, 11), (3, "worker"))
out += record(5, (1, "cpu-clock"))
out += struct.pack("<I", 0)
(pathlib.Path(__file__).parent / "small.simpleperf").write_bytes(out)
