# SPDX-License-Identifier: GPL-3.0-or-later
# tasks.py SECONDS: two tasks take turns for each name, and one thread of another
# loop. Each measures the CPU time of its own turns; written as "NAME TAB SECONDS".
import asyncio
import sys
import threading
import time

spent = {}


def turn(rounds):
    a = 1
    for i in range(rounds):
        a = (a * 31 + i) & 0xFFFFFF
    return a


async def worker(rounds, end):
    name = asyncio.current_task().get_name()
    while time.monotonic() < end:
        before = time.thread_time()
        turn(rounds)
        spent[name] = spent.get(name, 0) + time.thread_time() - before
        await asyncio.sleep(0)


async def main(names, end):
    await asyncio.gather(
        *(asyncio.create_task(worker(rounds, end), name=name) for name, rounds in names))


end = time.monotonic() + float(sys.argv[1])
other = threading.Thread(target=lambda: asyncio.run(main([("aside", 20000)], end)))
other.start()
asyncio.run(main([("größer", 60000), ("lesser", 20000)], end))
other.join()
for name, seconds in spent.items():
    print(name, f"{seconds:.9f}", sep="\t")
