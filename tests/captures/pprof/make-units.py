#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes units.pb: a sample with a value in each of several spellings of units."""

import pathlib

UNITS = [("wall", "μs"), ("cpu", "µs"), ("lock", "Milliseconds"), ("idle", "sec"),
         ("space", "KB"), ("big", "Megabytes"), ("ops", "things")]


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


words = ["", "main"]
out = b""
for pair in UNITS:
    words += pair
    out += field(1, field(1, words.index(pair[0])) + field(2, words.index(pair[1])))
out += field(2, field(1, b"\1") + field(2, b"".join(map(varint, range(1, 1 + len(UNITS))))))
out += field(4, field(1, 1) + field(4, field(1, 1)))
out += field(5, field(1, 1) + field(2, 1))
out += b"".join(field(6, word.encode()) for word in words)
(pathlib.Path(__file__).resolve().parent / "units.pb").write_bytes(out)
