#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py FLAMBEAU_CLI FOLDER: exports the captures beside this folder as SQLite, in
small pages, and changes them."""
import pathlib
import sqlite3
import subprocess
import sys


def write(cli, name, capture, *statements):
    path = pathlib.Path(sys.argv[2], name)
    path.unlink(missing_ok=True)
    capture = pathlib.Path(__file__).resolve().parent.parent / capture
    subprocess.run([cli, "export", capture, "--to", "sqlite", "--output", path], check=True)
    base = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA page_size = 512", *statements, "VACUUM"):
        base.execute(statement)
    base.close()
    return path


def main():
    cli = sys.argv[1]
    write(cli, "off-cpu.sqlite", "perf-data/off-cpu@little-endian.perf.data")
    memory = write(cli, "memory.sqlite", "heaptrack/v3.heaptrack").read_bytes()
    pathlib.Path(sys.argv[2], "cut.sqlite").write_bytes(memory[:len(memory) * 2 // 3])
    # Numbers that are out of range, rows that refer to none or to later ones, and a
    # column and a table that are missing.
    write(cli, "changed.sqlite", "perf-data/off-cpu@little-endian.perf.data",
          "UPDATE sample SET state = 99, time = -1000 WHERE rowid = 1",
          "UPDATE sample SET thread = 4294967296 WHERE rowid = 2",
          "UPDATE sample SET stack = NULL WHERE rowid = 3",
          "INSERT INTO stack VALUES (1099511627776, 0, 0), (-1, 0, 0), (1000, 1001, 0)",
          "INSERT INTO fact VALUES ('has-times', '0'), ('unknown', 'kept')",
          "UPDATE measure SET spans = 77, denominator = 0",
          "ALTER TABLE function DROP COLUMN kind",
          "DROP TABLE module")


main()
