# SPDX-License-Identifier: GPL-3.0-or-later
# Works 30 calls deep, and prints its CPU time in seconds. A just-in-time compiler has
# more turns to do.
import sys
import time


def leaf(x):
    s = 0
    for i in range(40):
        s = (s * 31 + x + i) & 0xFFFFFF
    return s


def deep(n):
    return 1 if n < 2 else deep(n - 1) + leaf(n)


for i in range(500000 if sys.implementation.name == "pypy" else 30000):
    deep(30)
print(time.process_time())
