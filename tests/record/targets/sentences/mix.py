# SPDX-License-Identifier: GPL-3.0-or-later
"""mix.py CASE: see mix.c."""

import json
import sys
import threading
import time


def checksum():
    end = time.thread_time() + 0.8
    total = 0
    while time.thread_time() < end:
        for number in range(2000):
            total ^= number * 7
    return total


def parse():
    end = time.thread_time() + 0.2
    total = 0
    while time.thread_time() < end:
        for number in range(2000):
            total ^= number * 7
    return total


def sort_rows():
    end = time.thread_time() + 0.8
    rows = [(number * 7919) % 100003 for number in range(100000)]
    while time.thread_time() < end:
        sorted(rows)


def encode_rows():
    end = time.thread_time() + 0.8
    rows = [{"number": number, "name": f"row {number}"} for number in range(1000)]
    while time.thread_time() < end:
        json.loads(json.dumps(rows))


def wait_for_lock():
    lock = threading.Lock()
    with lock:
        threads = [threading.Thread(target=queue_pop, args=[lock]) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(1)


def queue_pop(lock):
    with lock:
        pass


def pause():
    time.sleep(1)


def load():
    kept = []
    for _ in range(100):
        kept.append(bytes(100_000))
    return kept


def memory():
    kept = load()
    time.sleep(0.05)
    del kept


def cpu():
    checksum()
    parse()


{"cpu": cpu, "library": sort_rows, "json": encode_rows, "lock": wait_for_lock, "sleep": pause, "memory": memory}[sys.argv[1]]()
