# SPDX-License-Identifier: GPL-3.0-or-later
# The target of the tests of Python frames: frames.py CASE SECONDS [FILE]. A
# case works for this many seconds of its thread's CPU time. Calls whose lines
# are checked are marked: "# calls NAME". Python's own stack in spin() is
# written to FILE.
import asyncio
import ctypes
import functools
import os
import random
import subprocess
import sys
import threading
import time

try:
    clock = time.thread_time
except AttributeError:  # 3.6

    def clock():
        return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)
truth = None


def spin(until):
    global truth
    if truth:
        names = []
        frame = sys._getframe()
        while frame:
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            names.insert(0, "%s:%d" % (name, frame.f_lineno))
            frame = frame.f_back
        with open(truth, "w") as file:
            file.write("\n".join(names))
        truth = None
    while clock() < until:
        sum(range(50))
        sum(range(50))


# Known shares: 60 % heavy, 30 % through C that calls back, 10 % in a generator.


class Worker:
    def __init__(self, until):
        spin(until)  # calls spin


def heavy(until):
    Worker(until)  # calls Worker.__init__


def key(until):
    spin(until)  # calls spin
    return 0


def light(until):
    return sorted([until], key=key)  # calls key


def pieces(until):
    while clock() < until:
        yield sum(range(100))


def fold(total, until):
    return total + sum(pieces(until))  # calls pieces


def fine(until):
    return functools.reduce(fold, [until], 0)  # calls fold


def shares(seconds):
    end = clock() + seconds
    while clock() < end:
        heavy(clock() + 0.006)
        light(clock() + 0.003)
        fine(clock() + 0.001)


# One frame of the evaluation loop carries all of these.


def down(n, until):
    if n > 0:
        down(n - 1, until)
    else:
        spin(until)


def recursion(seconds):
    down(400, clock() + seconds)


def abyss(seconds):
    sys.setrecursionlimit(200000)
    down(1, clock() + seconds / 2)
    down(100000, clock() + seconds / 2)


def nested(seconds):
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    other = interpreters.create()
    text = "import time\ndef within(until):\n while time.thread_time() < until: pass\n"
    text += "within(time.thread_time() + %f)\n" % seconds
    run = getattr(interpreters, "run_string", None) or interpreters.exec
    run(other, text)


# Each of these has a frame of its own.


def through_c(n, until):
    if n == 0:
        return spin(until) or 0
    return sorted([n], key=lambda m: through_c(m - 1, until))[0]


def mutual(seconds):
    through_c(20, clock() + seconds)


def callback(seconds):
    libc = ctypes.CDLL(None)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    until = clock() + seconds

    def compare(a, b):
        spin(until)
        return 0

    libc.qsort((ctypes.c_int * 2)(1, 2), 2, 4, kind(compare))


async def inner(until):
    spin(until)  # calls spin


async def outer(until):
    await inner(until)  # calls inner


def coroutines(seconds):
    asyncio.run(outer(clock() + seconds))


# Each in a thread of its own.


def one(seconds):
    spin(clock() + seconds)


def two(seconds):
    spin(clock() + 2 * seconds)


def three(seconds):
    spin(clock() + 3 * seconds)


def threads(seconds):
    all = [threading.Thread(target=f, args=(seconds / 6,), name="the thread of " + f.__name__)
           for f in (one, two, three)]
    for thread in all:
        thread.start()
    for thread in all:
        thread.join()


def in_child(seconds):
    spin(clock() + seconds)


def fork(seconds):
    pid = os.fork()
    if pid == 0:
        in_child(seconds)
        os._exit(0)
    os.waitpid(pid, 0)


def spawn(seconds):
    subprocess.run([sys.executable, __file__, "in_child", str(seconds)], check=True)


def nap(seconds):
    time.sleep(seconds)


def sleep(seconds):
    spin(clock() + seconds / 10)
    nap(seconds)


# Functions that are created and dropped: their code objects replace each other
# in memory. One called made_N belongs to the file "made N".


def reuse(seconds):
    end = clock() + seconds
    while clock() < end:
        n = random.randrange(10)
        text = "def made_%d(until):\n while clock() < until: pass\n" % n
        space = {"clock": clock}
        exec(compile(text, "made %d" % n, "exec"), space)
        space.pop("made_%d" % n)(clock() + 0.002)


# Blocks of 100 kB: 20 each in first() and second(), 20 through C, 10 in a generator,
# and as many again in a child and in a thread.

kept = []


def block(n):
    kept.append(bytearray(100000))
    return n


def first(n):
    block(n)


def second(n):
    block(n)


def turns(n):
    for i in range(n):
        first(i)
        second(i)


def sort(n):
    sorted(range(n), key=block)


def make(n):
    for i in range(n):
        yield bytearray(100000)


def generate(n):
    kept.extend(make(n))


def rounds():
    turns(20)
    sort(20)
    generate(10)


def in_thread():
    rounds()


def memory(seconds):
    rounds()
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    pid = os.fork()
    if pid == 0:
        rounds()
        os._exit(0)
    os.waitpid(pid, 0)


def tiny():
    for i in range(10000):
        kept.append(i + 0.5)


def small(seconds):
    tiny()


def die(seconds):
    spin(clock() + seconds)
    os.kill(os.getpid(), 9)


def wait(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        spin(clock() + 0.1)


def main():
    global truth
    truth = sys.argv[3] if len(sys.argv) > 3 else None
    globals()[sys.argv[1]](float(sys.argv[2]))


if __name__ == "__main__":
    main()
