#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tracers.py CLI CAPTURES: the times of calls in what tracers wrote, against the
sums that the same tracers printed of the same run, or of the file; and R's."""

import collections
import json
import pathlib
import re
import subprocess
import sys

cli, captures = sys.argv[1], pathlib.Path(sys.argv[2])
faults = []
checked = 0


def rows(path, *words):
    run = subprocess.run([cli, "top", path, "--json", *words], capture_output=True, text=True)
    if run.returncode != 0:
        faults.append(f"{path}: {run.stderr.strip()}")
        return {}
    return {row["function"]: row for row in json.loads(run.stdout)["rows"]}


def hold(what, ours, theirs, within):
    global checked
    checked += 1
    if abs(ours - theirs) > within:
        faults.append(f"{what}: {ours}, should be {theirs} within {within}")


def own(table, name, column="self"):
    return table[name][column] if name in table else 0


# strace -C -w: "  5.48    0.004646         464        10         1 read". Each
# call is printed without what is below 1 µs.
path = captures / "strace/calls.strace"
times, calls = rows(path), rows(path, "--measure", "calls")
failed = [rows(path, "--measure", "calls", "--label", f"error={error}")
          for error in ("ENOENT", "ERESTART_RESTARTBLOCK")]
for seconds, n, errors, name in re.findall(
        r"^ *[\d.]+ +([\d.]+) +\d+ +(\d+) +(\d*) +(\w+)$", path.read_text(), re.M):
    if name == "total":
        continue
    hold(f"strace, time of {name}", own(times, name), float(seconds) * 1e9, (int(n) + 1) * 1000)
    hold(f"strace, calls of {name}", own(calls, name), int(n), 0)
    hold(f"strace, errors of {name}", sum(own(table, name) for table in failed),
         int(errors or 0), 0)

# perf trace -S: a table for each thread, in ms. A call that began before the
# trace is in it without a time.
path = captures / "perf-trace/calls.trace"
for tid, table in re.findall(r"^ calls \((\d+)\), .*?\n\n(.*?)\n\n\n", path.read_text(), re.M | re.S):
    times, calls = (rows(path, "--thread", tid, "--measure", m) for m in ("wall-time", "calls"))
    for name, n, total in re.findall(r"^ +(\w+) +(\d+) +\d+ +([\d.]+) ", table, re.M):
        if float(total) > 0:
            hold(f"perf trace, time of {name} in {tid}", own(times, name), float(total) * 1e6,
                 (int(n) + 1) * 1000)

# ltrace -T: every line that ends a call has its duration, with what it called.
path = captures / "ltrace/sort.ltrace"
sums = collections.Counter()
for resumed, name, seconds in re.findall(
        r"^\d+ [\d.]+ (<\.\.\. )?(\w+).*<([\d.]+)>$", path.read_text(), re.M):
    sums[name] += round(float(seconds) * 1e9)
times = rows(path)
for name, total in sums.items():
    hold(f"ltrace, time of {name}", own(times, name, "total"), total, 0)
hold("ltrace, own time of qsort", own(times, "qsort"), sums["qsort"] - sums["strcmp"], 0)

# uftrace report: "  90.084 us    8.192 us           6  read_file", rounded.
path = captures / "uftrace/calls"
times, calls = rows(path), rows(path, "--measure", "calls")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
for total, unit, self, self_unit, n, name in re.findall(
        r"^ *([\d.]+) ([mun]?s) +([\d.]+) ([mun]?s) +(\d+)  (\w+)$",
        (path / "report.txt").read_text(), re.M):
    hold(f"uftrace, {name} with its callees", own(times, name, "total"),
         float(total) * UNITS[unit], UNITS[unit] / 1000)
    if name != "fork":  # it counts the return in the child, too
        hold(f"uftrace, calls of {name}", own(calls, name), int(n), 0)
    hold(f"uftrace, {name}", own(times, name), float(self) * UNITS[self_unit],
         UNITS[self_unit] / 1000)

# summaryRprof(): self and total in s, and MB by which memory grew, of functions;
# the total of lines.
path = captures / "rprof/full.Rprof"
said = (captures / "rprof/full.summary.md").read_text()
times, growth = rows(path), rows(path, "--measure", "memory-growth")
for name, self, total, grown in re.findall(
        r'^"(.*?)" +([\d.]+) +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+)$', said, re.M):
    hold(f"R, {name}", own(times, name), float(self) * 1e9, 1)
    hold(f"R, {name} with its callees", own(times, name, "total"), float(total) * 1e9, 1)
    hold(f"R, growth by {name}", own(growth, name, "total") / 2**20, float(grown), 0.051)
lines = json.loads(subprocess.run(
    [cli, "lines", path, "--source", "model.R", "--json"], check=True,
    capture_output=True, text=True).stdout)
lines = {row["line"]: row for row in lines["rows"]}
for line, total in re.findall(r"^model.R#(\d+) +[\d.]+ +[\d.]+ +([\d.]+)", said, re.M):
    hold(f"R, line {line}", own(lines, int(line), "total"), float(total) * 1e9, 1)

# Rprofmem(): bytes of each line, by the function that allocated.
path = captures / "rprofmem/small.Rprofmem"
times, counts = rows(path), rows(path, "--measure", "allocations")
sums, numbers = collections.Counter(), collections.Counter()
for size, name in re.findall(r'^(\d+) :"(.*?)"', path.read_text(), re.M):
    sums[name] += int(size)
    numbers[name] += 1
for name in sums:
    hold(f"R, bytes of {name}", own(times, name), sums[name], 0)
    hold(f"R, allocations of {name}", own(counts, name), numbers[name], 0)

if checked < 100:
    faults.append(f"only {checked} figures were compared")
print("\n".join(faults))
print(f"{checked} figures compared, {len(faults)} differ")
sys.exit(bool(faults))
