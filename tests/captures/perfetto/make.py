#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes the Perfetto traces of this folder, after the comments of
perfetto's protos. Their content, by construction: samples.pftrace 5 samples, 3
of them main;parse, one without a stack; heap.pftrace 4096 bytes allocated of
which 1024 freed in main;parse, after an older dump; events.pftrace a slice
frame of 10 ms with draw 2..7 ms in it, on a clock of differences.
places.pftrace is flambeau-cli's export of ../chrome-trace/places.trace.json."""

import pathlib
import zlib

here = pathlib.Path(__file__).parent


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


def packet(*fields):
    return field(1, message(*fields))


def interned(first=1):
    return message(
        *((5, message((1, i), (2, name))) for i, name in
          enumerate(["main", "parse", "write"], first)),
        (16, message((1, 1), (2, bytes.fromhex("c0ffee01")))),
        (17, message((1, 1), (2, "opt"))),
        (17, message((1, 2), (2, "nest"))),
        (19, message((1, 1), (2, 1), (4, 0x1000), (5, 0x9000), (7, 1), (7, 2))),
        (6, message((1, 1), (2, first), (3, 1), (4, 0x1100))),
        (6, message((1, 2), (2, first + 1), (3, 1), (4, 0x1200))),
        (6, message((1, 3), (3, 1), (4, 0x1300))),
        (7, message((1, 1), (2, 1), (2, 2))),
        (7, message((1, 2), (2, varint(1) + varint(3)))),
    )


def samples():
    marker = bytes.fromhex("82477a76b28d42bba34d7c3f0a0b0c0d")
    out = packet((36, marker), (8, 5))
    out += packet((2, message(
        (1, message((1, 4711), (2, 1), (3, "/opt/nest"))),
        (2, message((1, 4711), (2, "nest"), (3, 4711))),
        (2, message((1, 4712), (2, "worker"), (3, 4711))))), (10, 1))
    out += packet((10, 2), (13, 1), (8, 1000), (12, interned()))
    for i, (tid, stack) in enumerate([(4711, 1), (4711, 1), (4712, 2), (4712, 1)]):
        out += packet((8, 2000 + 1000 * i), (10, 2), (13, 2),
                      (66, message((1, 0), (2, 4711), (3, tid), (4, stack))))
    out += packet((8, 9000), (10, 2),
                  (66, message((2, 4711), (3, 4712), (16, 2))))
    out += packet((8, 9500), (10, 2), (66, message((17, 7))))
    # The same numbers have other meanings in another sequence.
    out += packet((10, 3), (13, 1), (8, 1), (12, interned(7)))
    return out


def heap():
    names = [(1, message((1, i), (2, s))) for i, s in
             enumerate(["main", "parse", "libc.so"], 1)]
    def dump(allocated, freed, count):
        return message((5, message(
            (1, 4711),
            (2, message((1, 1), (2, allocated), (3, freed), (5, count))),
            (2, message((1, 2), (2, 100), (3, 100), (5, 1))))))
    first = message(
        *names,
        (4, message((1, 1), (7, 3))),
        (2, message((1, 1), (2, 1), (3, 1), (4, 0x10))),
        (2, message((1, 2), (2, 2), (3, 1), (4, 0x20))),
        (3, message((1, 1), (2, 1), (2, 2))),
        (3, message((1, 2), (2, 1))))
    return (packet((8, 1), (10, 4), (37, first + dump(512, 0, 2)))
            + packet((8, 2), (10, 4), (37, dump(4096, 1024, 9))))


def events():
    out = packet((10, 5), (13, 1), (6, message(
        (1, message((1, 6), (2, 1000000))),
        (1, message((1, 64), (2, 0), (3, 1), (4, 1000))))),
        (59, message((58, 64), (11, message((11, 77))))))
    out += packet((10, 5), (60, message(
        (1, 77), (4, message((1, 9), (2, 10), (5, "ui"))))))
    out += packet((10, 5), (60, message((1, 78), (2, "GPU"), (5, 77))))
    def event(delta, *fields):
        return packet((8, delta), (10, 5), (11, message(*fields)))
    out += packet((10, 5), (12, message((2, message((1, 3), (2, "frame"))))))
    out += event(0, (9, 1), (10, 3))
    out += event(2000, (9, 1), (23, "draw"))
    out += event(0, (9, 3), (23, "vsync"))
    out += event(5000, (9, 2))
    out += event(1000, (9, 1), (11, 78), (23, "shade"))
    out += event(2000, (9, 2))
    out += event(0, (9, 4), (30, 12))
    out += event(1000, (9, 2), (11, 78))
    return out


def main():
    (here / "samples.pftrace").write_bytes(samples())
    (here / "heap.pftrace").write_bytes(heap())
    (here / "events.pftrace").write_bytes(events())
    (here / "compressed.pftrace").write_bytes(
        packet((10, 1), (50, zlib.compress(samples()))))
    (here / "no-stacks.pftrace").write_bytes(packet((8, 5), (10, 1)))


main()
