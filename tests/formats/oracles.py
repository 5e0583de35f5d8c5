#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""oracles.py CLI: what other tools' files mean, according to those tools: each
records a program now, and says itself what the file holds. A tool that is not
there is skipped."""

import cProfile
import json
import pathlib
import profile
import pstats
import subprocess
import sys
import tempfile

cli = sys.argv[1]
faults = []


def flambeau(*words):
    run = subprocess.run([cli, *map(str, words)], capture_output=True, text=True)
    if run.returncode != 0:
        faults.append(f"{' '.join(map(str, words))}: {run.stderr.strip()}")
        return {"rows": [], "total": 0, "threads": [], "measures": []}
    return json.loads(run.stdout)


def hold(what, ours, theirs, within=0.0):
    if abs(ours - theirs) > within:
        faults.append(f"{what}: {ours}, should be {theirs}")


# --- Python's profilers ------------------------------------------------------


def chop(n):
    return sum(i * i for i in range(n))


def stir(depth):
    return chop(300) if depth == 0 else stir(depth - 1)


def cook():
    for _ in range(20):
        sorted(map(chop, range(30)))
        stir(4)


def check_pstats(folder):
    for module in (cProfile, profile):
        path = folder / f"{module.__name__}.prof"
        profiler = module.Profile()
        profiler.runcall(cook)
        profiler.dump_stats(path)
        stats = pstats.Stats(str(path))
        by_self = {}
        calls = {}
        for (_, _, name), (_, nc, tt, _, _) in stats.stats.items():
            by_self[name] = by_self.get(name, 0) + tt
            calls[name] = calls.get(name, 0) + nc
        top = flambeau("top", path, "--measure", "wall-time", "--json")
        hold(f"{path.name}: total", top["total"], stats.total_tt * 1e9, len(calls))
        seen = {row["function"]: row["self"] for row in top["rows"]}
        for name, seconds in by_self.items():
            hold(f"{path.name}: {name}", seen.get(name, 0), seconds * 1e9, 2)
        top = flambeau("top", path, "--measure", "calls", "--json")
        hold(f"{path.name}: calls", top["total"], stats.total_calls)
        seen = {row["function"]: row["self"] for row in top["rows"]}
        for name, n in calls.items():
            hold(f"{path.name}: calls of {name}", seen.get(name, 0), n)


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_pstats,):
        folder = pathlib.Path(scratch) / check.__name__
        folder.mkdir()
        check(folder)

print("\n".join(faults))
print(f"{len(faults)} faults")
sys.exit(bool(faults))
