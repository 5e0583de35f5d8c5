#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make-threads.py: writes threads.pb, a profile whose labels are threads, as
Python's and Ruby's profilers write them: three samples of 4711 (main), two of
4712 (worker) of which one has another label."""

import pathlib


def varint(n):
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
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


texts = ["", "samples", "count", "main", "work", "thread_id", "thread_name",
         "worker", "tenant", "red", "4712"]
text = texts.index


def sample(location, count, *labels):
    return (2, message((1, location), (2, count),
                       *((3, message(*label)) for label in labels)))


name = lambda s: ((1, text("thread_name")), (2, text(s)))
profile = message(
    (1, message((1, text("samples")), (2, text("count")))),
    sample(1, 3, ((1, text("thread_id")), (3, 4711)), name("main")),
    sample(2, 1, ((1, text("thread_id")), (2, text("4712"))), name("worker")),
    sample(2, 1, ((1, text("thread_id")), (3, 4712)), name("worker"),
           ((1, text("tenant")), (2, text("red")))),
    sample(1, 5),
    (4, message((1, 1), (4, message((1, 1))))),
    (4, message((1, 2), (4, message((1, 2))))),
    (5, message((1, 1), (2, text("main")))),
    (5, message((1, 2), (2, text("work")))),
    *((6, t.encode()) for t in texts))
here = pathlib.Path(__file__).parent
(here / "threads.pb").write_bytes(profile)
(here / "two.pb").write_bytes(profile + profile)
