# SPDX-License-Identifier: GPL-3.0-or-later
# storm.py ROUNDS: exceptions, collections of garbage, functions that end, children.
import gc
import os
import subprocess
import sys


def fail(depth):
    if depth == 0:
        raise KeyError("storm")
    return 1 + fail(depth - 1)


def survive():
    try:
        return fail(50)
    except KeyError as error:
        return len(error.args)


def litter():
    kept = [[i] for i in range(3000)]
    for one in kept:
        one.append(kept)
    del kept
    return gc.collect() > 0


def fresh(number):
    names = {}
    exec(f"def made():\n    s = {number}\n    for i in range(2000):\n        s += i\n    return s\n", names)
    return names["made"]()


def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(survive())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


total = 0
for number in range(int(sys.argv[1])):
    total += survive() + litter() + fresh(number)
    if number % 20 == 0:
        total += fork() + subprocess.run(["true"], check=True).returncode
print(total)
