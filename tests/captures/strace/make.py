#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the undamaged captures of strace, ltrace, perf trace and uftrace, by
these tools, from calls.c and ../ltrace/sort.c. The tables at the ends of those
with -C and -S are the tools' own sums. Times, addresses and ids differ each
time."""

import pathlib
import re
import shutil
import subprocess

here = pathlib.Path(__file__).resolve().parent
work = pathlib.Path("/tmp/flambeau-calls")
shutil.rmtree(work, ignore_errors=True)
(work / "linked").mkdir(parents=True)


def run(*words, **more):
    subprocess.run(words, check=True, cwd=work, stdout=subprocess.DEVNULL, **more)


def run_to_terminal(path, *words):
    with open(path, "w") as file:
        run(*words, stderr=file)


run("gcc", "-O1", "-g", "-static", "-o", "calls", here / "calls.c")
run("gcc", "-O1", "-g", "-o", "linked/calls", here / "calls.c")
run("gcc", "-O1", "-g", "-pg", "-o", "traced", here / "calls.c")
run("gcc", "-O0", "-g", "-no-pie", "-fcf-protection=none", "-Wl,-z,lazy", "-o", "sort",
    here / "../ltrace/sort.c")

few = "read,clock_nanosleep,clone,clone3"
run("strace", "-f", "-ttt", "-T", "-C", "-w", "-o", here / "calls.strace", "./calls")
run("strace", "-f", "-ttt", "-T", "-k", "-e", f"trace={few}", "-o", here / "stacks.strace",
    "linked/calls")
run_to_terminal(here / "terminal.strace", "strace", "-f", "-tt", "-T", "./calls")
run_to_terminal(here / "relative.strace",
                "strace", "-r", "-T", "-e", "trace=read,openat,clock_nanosleep", "./calls")
run("ltrace", "-f", "-ttt", "-T", "-o", here / "../ltrace/sort.ltrace", "./sort")
run_to_terminal(here / "../ltrace/terminal.ltrace", "ltrace", "-f", "-S", "-ttt", "-T", "./sort")
run("perf", "trace", "-S", "-o", here / "../perf-trace/calls.trace", "./calls")
run("perf", "trace", "--call-graph", "dwarf", "--max-stack", "8",
    "-e", "read,clock_nanosleep", "-o", here / "../perf-trace/stacks.trace", "linked/calls")
(here / "../perf-trace/stacks.trace.old").unlink(missing_ok=True)
(here / "../perf-trace/calls.trace.old").unlink(missing_ok=True)


def uftrace(name, keep, *words, events=()):
    folder = here / "../uftrace" / name
    shutil.rmtree(folder, ignore_errors=True)
    run(*words, "uftrace", "record", *events, "-d", "data", "./traced")
    shutil.move(work / "data", folder)
    report = subprocess.run(["uftrace", "report", *events, "-d", folder], check=True,
                            capture_output=True, text=True).stdout
    for path in folder.iterdir():
        if ".so" in path.name or not keep(path.name) or not path.stat().st_size:
            path.unlink()
    info = folder / "info"
    info.write_bytes(re.sub(rb"(?m)^((?:cpu|mem|os|load)info:).*\n", rb"", info.read_bytes()))
    (folder / "report.txt").write_text(report)


uftrace("calls", lambda name: not name.startswith("perf-"), events=("--no-event",))
# On one processor beside a program that never waits.
busy = subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"])
uftrace("switches", lambda name: True, "taskset", "-c", "0")
busy.kill()
busy.wait()
shutil.rmtree(work)
