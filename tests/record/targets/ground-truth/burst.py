# SPDX-License-Identifier: GPL-3.0-or-later
# burst.py SECONDS: works for 2 ms or so, three quarters of it in one function,
# and sleeps for 5 ms. What it writes, and when: as truth.h says.
import os
import sys
import time

start = time.monotonic()
# PyPy compiles the loops.
times = 25 if sys.implementation.name == "pypy" else 1
spent = {"heavy": 0, "light": 0, "rest": 0}


def heavy():
    a = 1
    for i in range(18000 * times):
        a = (a * 31 + i) & 0xFFFFFF


def light():
    a = 1
    for i in range(6000 * times):
        a = (a * 31 + i) & 0xFFFFFF


def rest():
    time.sleep(0.005)


def timed(part):
    before = time.thread_time_ns()
    part()
    spent[part.__name__] += time.thread_time_ns() - before


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        timed(heavy)
        timed(light)
        timed(rest)


if "TRUTH_GO" in os.environ:
    with open(os.environ["TRUTH_GO"], encoding="ascii") as go:
        go.read(1)
began = time.process_time()
work(float(sys.argv[1]))
with open(os.environ.get("TRUTH", 1), "w") as file:
    for name, ns in spent.items():
        print("part", name, f"{ns / 1e9:.9f}", sep="\t", file=file)
    with open("/proc/self/schedstat", encoding="ascii") as schedstat:
        waited = int(schedstat.read().split()[1]) / 1e9
    print("thread", "python", os.getpid(), f"{time.thread_time():.9f}", f"{waited:.9f}",
          f"{time.monotonic() - start:.9f}", sep="\t", file=file)
    print("process", f"{began:.9f}", f"{time.process_time():.9f}", sep="\t", file=file)
