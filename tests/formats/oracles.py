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
import re
import shutil
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


# --- Java's flight recorder --------------------------------------------------

JAVA = """
import java.util.*;
public class Shop {
  static final Object till = new Object();
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static long fill(int n) {
    Map<String, Integer> m = new HashMap<>();
    for (int i = 0; i < n; i++) m.merge("k" + (i % 997), 1, Integer::sum);
    return m.size();
  }
  static void sort(int n) {
    Integer[] a = new Integer[n];
    for (int i = 0; i < n; i++) a[i] = (i * 7919) % 10007;
    Arrays.sort(a, Comparator.comparing(x -> -x));
  }
  static void pay() throws Exception {
    synchronized (till) { Thread.sleep(30); }
  }
  public static void main(String[] words) throws Exception {
    long end = System.currentTimeMillis() + 2500;
    Thread t = new Thread(() -> {
      try {
        while (System.currentTimeMillis() < end) { sort(20000); pay(); }
      } catch (Exception e) { }
    }, "sorter");
    t.start();
    while (System.currentTimeMillis() < end) { fib(27); fill(20000); pay(); }
    t.join();
  }
}
"""

KINDS = {
    "jdk.ExecutionSample": ("samples", "sampledThread", None),
    "jdk.NativeMethodSample": ("native-samples", "sampledThread", None),
    "jdk.ObjectAllocationSample": ("allocated", "eventThread", "weight"),
    "jdk.JavaMonitorEnter": ("lock-time", "eventThread", "duration"),
    "jdk.ThreadPark": ("park-time", "eventThread", "duration"),
    "jdk.ThreadSleep": ("wait-time", "eventThread", "duration"),
    "jdk.JavaMonitorWait": ("wait-time", "eventThread", "duration"),
}


def nanoseconds(span):
    """PT1M2.5S, as Java writes spans."""
    found = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", span)
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return (hours * 3600 + minutes * 60 + seconds) * 1e9


def callee(frame):
    kind = frame["method"]["type"]["name"].replace("/", ".")
    return f"{kind}.{frame['method']['name']}"


def check_jfr(folder):
    if not shutil.which("java") or not shutil.which("jfr"):
        return
    (folder / "Shop.java").write_text(JAVA)
    path = folder / "shop.jfr"
    subprocess.run(
        ["java", f"-XX:StartFlightRecording:settings=profile,filename={path}",
         folder / "Shop.java"],
        check=True, capture_output=True)
    said = json.loads(subprocess.run(
        ["jfr", "print", "--json", "--stack-depth", "100", "--events",
         ",".join(KINDS), path],
        check=True, capture_output=True, text=True).stdout)
    totals, threads, tops = {}, {}, {}
    for event in said["recording"]["events"]:
        measure, thread, weight = KINDS[event["type"]]
        values = event["values"]
        n = 1 if weight is None else values[weight]
        n = nanoseconds(n) if isinstance(n, str) else n
        totals[measure] = totals.get(measure, 0) + n
        if measure != "samples":
            continue
        name = values[thread]["javaName"]
        threads[name] = threads.get(name, 0) + 1
        frames = values["stackTrace"]["frames"] if values["stackTrace"] else []
        if frames:
            top = callee(frames[0])
            tops[top] = tops.get(top, 0) + 1
    info = flambeau("info", path, "--json")
    ours = {measure["id"]: measure["total"] for measure in info["measures"]}
    for measure, total in totals.items():
        hold(f"jfr: {measure}", ours.get(measure, 0), total, total * 1e-6 + 1000
             if measure.endswith("time") else 0)
    ours = {thread["name"]: thread["total"] for thread in info["threads"]}
    for name, n in threads.items():
        hold(f"jfr: thread {name}", ours.get(name, 0), n)
    top = flambeau("top", path, "--measure", "samples", "--limit", 1000, "--json")
    ours = {row["function"]: row["self"] for row in top["rows"]}
    for name, n in tops.items():
        hold(f"jfr: {name}", ours.get(name, 0), n)
    if "lock-time" not in totals or "samples" not in totals:
        faults.append(f"jfr: nothing to compare in {sorted(totals)}")


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_pstats, check_jfr):
        folder = pathlib.Path(scratch) / check.__name__
        folder.mkdir()
        check(folder)

print("\n".join(faults))
print(f"{len(faults)} faults")
sys.exit(bool(faults))
