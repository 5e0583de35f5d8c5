#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes the fixtures beside it. cProfile and profile run with a clock
of their own, which ticks each time it is read, so that all runs are equal."""

import cProfile
import marshal
import pathlib
import profile
import struct

here = pathlib.Path(__file__).parent

PROGRAM = """
def chop(n):
    return sum(i * i for i in range(n))

def stir(depth):
    return chop(9) if depth == 0 else stir(depth - 1)

def bake(n):
    return sorted(map(chop, range(n)))

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def cook():
    for i in range(3):
        bake(4)
        stir(i)
    even(5)
    import_like()

import_like = eval("lambda: 1 + 1")
"""


class Clock:
    now = 0.0

    def __call__(self):
        Clock.now += 0.001
        return Clock.now


def run(profiler):
    scope = {}
    exec(compile(PROGRAM, "/home/cook/kitchen.py", "exec"), scope)
    profiler.runcall(scope["cook"])
    return profiler


def text(string):
    """An interned string as Python 2 has it."""
    return b"t" + struct.pack("<i", len(string)) + string


def python2():
    """Python 2 numbers no objects except its interned strings."""
    def number(n):
        return b"i" + struct.pack("<i", n)

    def seconds(x):
        return b"g" + struct.pack("<d", x)

    def old_seconds(x):
        digits = repr(x).encode()
        return b"f" + bytes([len(digits)]) + digits

    main = b"(" + struct.pack("<i", 3) + text(b"a.py") + number(1) + text(b"main")
    work = (b"(" + struct.pack("<i", 3) + b"R" + struct.pack("<i", 0) + number(4)
            + text(b"work"))
    again = (b"(" + struct.pack("<i", 3) + b"R" + struct.pack("<i", 0) + number(1)
             + b"R" + struct.pack("<i", 1))
    five = b"(" + struct.pack("<i", 5)
    four = b"(" + struct.pack("<i", 4)
    long_calls = b"l" + struct.pack("<iHH", 2, 1, 2)  # 2 * 2^15 + 1
    return (b"{" + main + five + number(1) + number(1) + seconds(0.25)
            + seconds(1.0) + b"{0"
            + work + five + long_calls + b"I" + struct.pack("<q", 65537)
            + old_seconds(0.75) + seconds(0.75)
            + b"{" + again + four + long_calls + long_calls + seconds(0.75)
            + seconds(0.75) + b"00")


run(cProfile.Profile(Clock())).dump_stats(here / "cprofile.prof")
clock = profile.Profile(Clock(), bias=0)
run(clock).dump_stats(here / "profile.prof")
whole = (here / "cprofile.prof").read_bytes()
(here / "python2.prof").write_bytes(python2())
(here / "cut.prof").write_bytes(whole[:len(whole) * 2 // 3])
(here / "wrong.prof").write_bytes(marshal.dumps({("a", 1, "b"): (1, 2)}))

main, join, work = ("a.py", 1, "main"), ("threading.py", 9, "join"), ("a.py", 5, "work")
nothing = (0, 0, 0.0, 0.0)
(here / "threads.prof").write_bytes(marshal.dumps({
    main: (1, 1, 0.2, 1.0, {}),
    join: (1, 1, 0.0, 0.5, {main: nothing}),
    work: (2, 2, 0.8, 0.8, {main: (1, 1, 0.3, 0.3), join: nothing})}))
first, second = ("a.py", 20, "__init__"), ("a.py", 40, "__init__")
(here / "namesakes.prof").write_bytes(marshal.dumps({
    main: (1, 1, 0.25, 1.0, {}),
    first: (1, 1, 0.25, 0.25, {main: (1, 1, 0.25, 0.25)}),
    second: (2, 2, 0.5, 0.5, {main: (2, 2, 0.5, 0.5)})}))
