#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes pieces.pb: lists of locations in one piece, in several, as single
numbers, empty, with a location that is not in the file and with half a number;
a value below 0; and the types of the values after the samples."""

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


def packed(*ids):
    return field(1, bytes(ids))


LISTS = [
    packed(1, 2, 3),
    packed(1) + packed(2, 3),
    field(1, 1) + field(1, 2) + field(1, 3),
    packed() + packed(1, 2, 3),
    packed(1, 2) + field(1, 3),
    field(1, 1) + packed(2, 3),
    packed(1, 9, 3),
    packed(1, 9, 3),
    packed(),
    b"",
    packed(*[4] * 40),
    field(1, b"\1\x80"),
]
words = ["", "samples", "count", "a", "b", "c", "d"]
out = b""
for index, locations in enumerate(LISTS):
    out += field(2, locations + field(2, varint(1 << index)))
    out += field(2, field(2, varint(2)) + locations)
out += field(2, packed(2) + field(2, varint(2**64 - 1)))
for i in range(1, 5):
    out += field(4, field(1, i) + field(4, field(1, i) + field(2, 5)))
    out += field(5, field(1, i) + field(2, i + 2))
out += b"".join(field(6, word.encode()) for word in words)
out += field(1, field(1, 1) + field(2, 2))
(pathlib.Path(__file__).resolve().parent / "pieces.pb").write_bytes(out)
