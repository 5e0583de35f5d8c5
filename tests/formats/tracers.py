#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tracers.py CLI CAPTURES: the times of calls in the output of tracers, compared with
the sums that the same tracers print for the same run or file; and those of R."""

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


# strace -C -w: " 5.48 0.004646 464 10 1 read". Each printed call lacks up to 1 µs.
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

# ltrace -T: every line that ends a call has its duration, including its callees.
path = captures / "ltrace/sort.ltrace"
sums = collections.Counter()
for resumed, name, seconds in re.findall(
        r"^\d+ [\d.]+ (<\.\.\. )?(\w+).*<([\d.]+)>$", path.read_text(), re.M):
    sums[name] += round(float(seconds) * 1e9)
times = rows(path)
for name, total in sums.items():
    hold(f"ltrace, time of {name}", own(times, name, "total"), total, 0)
hold("ltrace, own time of qsort", own(times, "qsort"), sums["qsort"] - sums["strcmp"], 0)

# Go to 1.21, the profiles that `go tool trace` makes: "  2034816ns 100% 100%
# 2034816ns 100%  runtime.chansend1".
path = captures / "go-trace/go119.trace"
ways = {"net": ("--label", "reason=network"), "sync": ("--states", "lock"), "syscall": ("--states", "io")}
for kind, table in re.findall(r"-pprof=(\w+)\n(.*?)(?=^go |\Z)", (captures / "peers/expect-go119-trace.txt").read_text(), re.M | re.S):
    times = rows(path, *ways[kind])
    for flat, name in re.findall(r"^ *(\d+)ns .*%  (\S+)$", table, re.M):
        hold(f"Go 1.19, {kind} in {name}", own(times, name), int(flat), 10)

# Go from 1.22 on: the states of all goroutines, added up here.
path = captures / "go-trace/go124.trace"
sums, states, end = collections.Counter(), {}, 0
for time, reason, goroutine, state in re.findall(
        r'^Time=(\d+)(?: Resource=Goroutine\(\d+\) Reason="([^"]*)" GoID=(\d+) \w+->(\w+))?$',
        (captures / "peers/expect-go124-trace.txt").read_text(), re.M):
    end = max(end, int(time))
    if goroutine:
        before, since = states.get(goroutine, (None, 0))
        sums[before] += int(time) - since
        states[goroutine] = (f"reason={reason}" if state == "Waiting" else state, int(time))
for state, since in states.values():
    sums[state] += end - since
for state, words in {"Running": ("--states", "running"), "Runnable": ("--states", "runnable"),
                     **{key: ("--label", key) for key in sums if key and len(key) > 7 and "=" in key}}.items():
    hold(f"Go 1.24, {state}", sum(row["self"] for row in rows(path, *words).values()), sums[state], 300)

# trace-cmd report: "cook-7 [001]  1000.000020: funcgraph_exit:  + 18.000 us  |    }",
# and the sums of the times between switches.
report = (captures / "peers/expect-trace-cmd.txt").read_text()
for name in ("graph", "plain", "zstd"):
    times, sums, open_calls = rows(captures / f"trace-cmd/{name}.dat"), collections.Counter(), collections.defaultdict(list)
    for task, us, call in re.findall(r"^ *(\S+) +\[\d+\] +[\d.]+: funcgraph_\w+: *\+? *(?:([\d.]+) us)? *\| +(.*)$", report, re.M):
        if call.endswith("{"):
            open_calls[task].append(call)
        else:
            sums[(open_calls[task].pop() if call == "}" else call).split("(")[0]] += round(float(us) * 1000)
    for call, total in sums.items():
        hold(f"trace-cmd, {call} of {name}.dat", own(times, call, "total"), total, 0)
for name in ("switch", "zlib"):
    since, sums, end = {}, collections.Counter(), 0
    for time, before, state, after in re.findall(
            r"([\d.]+): sched_switch: +(\w+)\S* \[120\] (\w) ==> (\w+)", report.replace("swapper/0", "swapper"), re.M):
        end = round(float(time) * 1e9)
        for task, now in ((before, {"R": "runnable", "S": "sleep", "D": "io"}[state]), (after, "running")):
            if task == "swapper":
                continue
            if task in since:
                sums[since[task][1]] += end - since[task][0]
            since[task] = (end, now)
    for start, state in since.values():
        sums[state] += end - start
    for state, total in sums.items():
        table = rows(captures / f"trace-cmd/{name}.dat", "--states", state)
        hold(f"trace-cmd, {state} of {name}.dat", sum(row["self"] for row in table.values()), total, 0)

# uftrace report: "  90.084 us    8.192 us           6  read_file", rounded. Time off
# the CPU is in rows of its own there, and a state here.
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
PAUSES = {"linux:schedule": "blocked", "linux:schedule (pre-empted)": "runnable"}
for folder in "calls", "switches":
    path = captures / "uftrace" / folder
    calls = rows(path, "--measure", "calls")
    times, own_times = rows(path), rows(path, "--states", "cpu")
    for total, unit, self, self_unit, n, name in re.findall(
            r"^ *([\d.]+) ([mun]?s) +([\d.]+) ([mun]?s) +(\d+)  (\w+|linux:.+)$",
            (path / "report.txt").read_text(), re.M):
        total, self = float(total) * UNITS[unit], float(self) * UNITS[self_unit]
        if name in PAUSES:
            paused = rows(path, "--states", PAUSES[name])
            hold(f"uftrace, {name} in {folder}",
                 sum(row["self"] for row in paused.values()), total, UNITS[unit] / 1000)
            continue
        if name == "fork" and folder == "switches":  # it counts the child's, too
            continue
        hold(f"uftrace, {name} with its callees in {folder}", own(times, name, "total"),
             total, UNITS[unit] / 1000)
        if name != "fork":  # it counts the return in the child, too
            hold(f"uftrace, calls of {name} in {folder}", own(calls, name), int(n), 0)
        hold(f"uftrace, {name} in {folder}", own(own_times, name), self, UNITS[self_unit] / 1000)

# babeltrace2 prints events of LTTng with their threads and times; calls are nested.
# In the kernel's trace, only thread 71 and then 90 make system calls.
for name in "session", "kernel":
    path = captures / "ctf" / name
    sums, calls, stacks = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for seconds, event, fields in re.findall(r"^\[(\S+)\] \S+ (\S+): (.*)$",
                                             (path / "events.txt").read_text(), re.M):
        now = int(seconds.replace(".", ""))
        thread = re.search(r"vtid = (\d+)|$", fields)[1] or event.split("_")[0]
        stack, what = stacks[thread], re.sub("_(begin|entry|end|exit)", "", event)
        if re.search("_(begin|entry)", event):
            stack.append([now, what, 0])
        elif re.search("_(end|exit)", event):
            start, what, inner = stack.pop()
            sums[what] += now - start - inner
            calls[what] += 1
            if stack:
                stack[-1][2] += now - start
    for start, what, inner in [call for stack in stacks.values() for call in stack]:
        sums[what] += now - start - inner
        calls[what] += 1
    ours = collections.Counter(), collections.Counter()
    for table, sum_of in zip((rows(path), rows(path, "--measure", "calls")), ours):
        for function, row in table.items():
            sum_of["lttng_ust_cyg_profile:func" if function[0] == "[" else function] += row["self"]
    for what in sums:
        hold(f"CTF, time of {what}", ours[0][what], sums[what], 0)
        hold(f"CTF, calls of {what}", ours[1][what], calls[what], 0)

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
