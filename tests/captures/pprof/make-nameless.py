#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes nameless.pb: a table of texts that contains the empty text twice, as
Pyroscope writes it for a function without a file. It is still one profile."""

import pathlib


def varint(n):
    out = []
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + [n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


words = ["", "cpu", "nanoseconds", "main", "", "parse"]
out = field(1, field(1, 1) + field(2, 2))
out += field(2, field(1, b"\2\1") + field(2, varint(70)))
out += field(2, field(1, b"\1") + field(2, varint(30)))
for i, name in enumerate((3, 5), 1):
    out += field(4, field(1, i) + field(4, field(1, i) + field(2, i)))
    out += field(5, field(1, i) + field(2, name) + field(4, 4))
out += b"".join(field(6, word.encode()) for word in words)
out += field(9, 1_700_000_000_000_000_000)
(pathlib.Path(__file__).resolve().parent / "nameless.pb").write_bytes(out)
