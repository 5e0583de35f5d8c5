#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py FOLDER: databases in the shape of the SQLite schema reference in the
manual of Nsight Systems, with the tables and columns that are read."""
import sqlite3
import sys
from pathlib import Path

PID, TID, OTHER = 4711, 4711, 4712
HARDWARE = 0x01
PROCESS = HARDWARE << 56 | PID << 24
GLOBAL, SECOND = PROCESS | TID, PROCESS | OTHER
NAMES = ["cook_kernel(float*, int)", "cudaLaunchKernel_v7000", "cudaMemcpy_v3020", "MPI_Allreduce",
         "iteration", "pthread_cond_wait", "main", "waiter"]
NAME = {name: i + 1 for i, name in enumerate(NAMES)}
SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
  text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
  textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER,
  callchainId INTEGER NOT NULL);
CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER,
  threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL);
"""
ROWS = {
    "StringIds": [(number, name) for name, number in NAME.items()],
    "PROCESSES": [(PROCESS, PID, "/home/user/cook")],
    "ThreadNames": [(NAME["main"], 10, GLOBAL), (NAME["waiter"], 10, SECOND)],
    # Two streams at once.
    "CUPTI_ACTIVITY_KIND_KERNEL": [
        (2000, 5000, 0, 1, 7, 101, PROCESS, NAME["cook_kernel(float*, int)"], 1),
        (3000, 4000, 0, 1, 14, 102, PROCESS, NAME["cook_kernel(float*, int)"], 1)],
    "CUPTI_ACTIVITY_KIND_MEMCPY": [(5200, 5900, 0, 1, 7, 103, PROCESS, 4096, 2)],
    "CUPTI_ACTIVITY_KIND_RUNTIME": [
        (1100, 1400, 0, GLOBAL, 101, NAME["cudaLaunchKernel_v7000"], 0),
        (1500, 1600, 0, GLOBAL, 102, NAME["cudaLaunchKernel_v7000"], 0),
        (1700, 6000, 0, GLOBAL, 103, NAME["cudaMemcpy_v3020"], 0)],
    # A range of the thread, one within it, one from start to end, a mark, one that is still open.
    "NVTX_EVENTS": [
        (1000, 7000, 59, 0, None, GLOBAL, NAME["iteration"], 0),
        (1050, 1650, 59, 0, "launch", GLOBAL, None, 0),
        (1200, 6500, 60, 1, "request 1", GLOBAL, None, 0),
        (1800, 6800, 60, 2, "request 2", GLOBAL, None, 0),
        (6100, None, 34, 0, "converged", GLOBAL, None, 0),
        (6200, 6200, 75, 0, "a domain", GLOBAL, None, 1),
        (8000, None, 59, 0, "shutdown", GLOBAL, None, 0)],
    "MPI_COLLECTIVES_EVENTS": [(6300, 6700, GLOBAL, NAME["MPI_Allreduce"], 1, 0, 8, 8)],
    "OSRT_API": [(1000, 9000, 27, SECOND, 5, NAME["pthread_cond_wait"], 0, 0, 0)],
    "COMPOSITE_EVENTS": [(1, 2500, 0, 1, GLOBAL, 1000)],
}


def write(path, schema, rows):
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute("PRAGMA page_size = 512")
    base.executescript(schema)
    for table, values in rows.items():
        base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    base.commit()
    base.execute("VACUUM")
    base.close()


def main():
    folder = Path(sys.argv[1])
    whole = folder / "cook.sqlite"
    write(whole, SCHEMA, ROWS)
    # Views are not read: this one never ends.
    write(folder / "view.sqlite",
          "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
          "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER);"
          "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
          "SELECT i AS start, i + 1 AS end, 59 AS eventType, 'x' AS text, 1 AS globalTid, NULL AS textId FROM n;", {})
    cut = whole.read_bytes()
    (folder / "cut.sqlite").write_bytes(cut[:len(cut) - 1024])


main()
