#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""oracles.py CLI: other tools' files, compared with those tools' own output:
each records a program during the test, and prints the content of its file.
Tools that are not installed are skipped."""

import cProfile
import json
import os
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
        # A thread that ends while the chunk is written has no name in it.
        name = values[thread] and values[thread]["javaName"]
        if name:
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


# --- gprof -------------------------------------------------------------------

C = """
volatile unsigned long sink;
__attribute__ ((noinline)) void leaf (int n) { for (int i = 0; i < n * 400; i++) sink += i * sink; }
__attribute__ ((noinline)) void heavy (void) { for (int i = 0; i < 800000; i++) sink ^= i + sink; leaf (500); }
__attribute__ ((noinline)) void light (void) { leaf (200); }
__attribute__ ((noinline)) void dive (int n) { if (n > 0) dive (n - 1); else leaf (100); }
int main (void) { for (int i = 0; i < 150; i++) { heavy (); light (); dive (9); } }
"""


def gprof_says(folder):
    text = subprocess.run(["gprof", "-b", "-p", "shop", "gmon.out"], cwd=folder,
                          check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in text.splitlines():
        found = re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s+(\d+)\s+\S+\s+\S+)?"
                         r"\s+(\S+)$", line)
        if found:
            rows[found[3]] = (float(found[1]), int(found[2] or 0))
    return rows


def check_gprof(folder):
    if not shutil.which("gprof") or not shutil.which("gcc"):
        return
    (folder / "shop.c").write_text(C)
    subprocess.run(["gcc", "-pg", "-O1", "-o", "shop", "shop.c"], cwd=folder, check=True)
    subprocess.run(["./shop"], cwd=folder, check=True)
    rows = gprof_says(folder)
    text = folder / "shop.gprof"
    text.write_text(subprocess.run(
        ["gprof", "-b", "shop", "gmon.out"], cwd=folder, check=True,
        capture_output=True, text=True).stdout)
    # The table has hundredths of a second; calls of main come from the system.
    for path in (folder / "gmon.out", text):
        times = flambeau("top", path, "--measure", "cpu-time", "--json")
        calls = flambeau("top", path, "--measure", "calls", "--json")
        times = {row["function"]: row["self"] for row in times["rows"]}
        calls = {row["function"]: row["self"] for row in calls["rows"]}
        for name, (seconds, n) in rows.items():
            hold(f"gprof, {path.name}: {name}", times.get(name, 0), seconds * 1e9, 2e7)
            if name != "main":
                hold(f"gprof, {path.name}: calls of {name}", calls.get(name, 0),
                     n if name != "dive" else 1500)
    if len(rows) < 4:
        faults.append(f"gprof: nothing to compare in {rows}")


# --- massif ------------------------------------------------------------------

DEEP = """
#include <stdlib.h>
static void *kept[60];
__attribute__ ((noinline)) void *make (int n) { return malloc (n); }
__attribute__ ((noinline)) void *down (int depth, int n)
{
  char room[64];
  void *block = depth > 0 ? down (depth - 1, n) : make (n);
  __asm__ volatile ("" : : "r" (room));
  return block;
}
int main (void)
{
  for (int i = 0; i < 60; i++) { kept[i] = down (i, 1000 + i * 37); if (i % 3 == 0) free (kept[i]); }
  free (malloc (3 << 20));
  return 0;
}
"""


def ms_print_says(path):
    """The highest row of its table: moment, total and useful heap. The snapshot that
    massif marks as the peak may be 1 % lower; of equal ones it is that one."""
    text = subprocess.run(["ms_print", path], check=True, capture_output=True,
                          text=True).stdout
    marked = re.search(r"(\d+) \(peak\)", text)[1]
    rows = [[int(figure.replace(",", "")) for figure in row] for row in re.findall(
        r"^ +(\S+) +([\d,]+) +([\d,]+) +([\d,]+) +[\d,]+ +[\d,]+$", text, re.M)]
    return max(rows, key=lambda row: (row[2], row[0] == int(marked)))[1:]


def check_massif(folder):
    if not shutil.which("ms_print") or not shutil.which("gcc"):
        return
    (folder / "deep.c").write_text(DEEP)
    subprocess.run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-o", "deep",
                    "deep.c"], cwd=folder, check=True)
    for option, cut in (("--stacks=yes", 1), ("--pages-as-heap=yes", 0), ("--depth=90", 0)):
        path = folder / f"{option}.massif"
        subprocess.run(["valgrind", "--tool=massif", option, f"--massif-out-file={path}",
                        "./deep"], cwd=folder, check=True, capture_output=True)
        moment, total, useful = ms_print_says(path)
        info = flambeau("info", path, "--json")
        measures = {measure["id"]: measure["total"] for measure in info["measures"]}
        hold(f"massif {option}: peak", measures["peak"], total)
        hold(f"massif {option}: useful", measures["peak-useful"], useful)
        hold(f"massif {option}: moment",
             flambeau("memory", path, "--json")["peak_time_ns"], moment)
        hold(f"massif {option}: cut stacks", min(info.get("truncated_stacks", 0), 1), cut)


# --- Scalene -----------------------------------------------------------------

PYTHON = """
import time
def chop(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
def cook():
    end = time.time() + 1.5
    while time.time() < end:
        chop(30000)
        sorted(range(200000), key=str)
cook()
"""


def check_scalene(folder):
    if not shutil.which("scalene"):
        return
    (folder / "kitchen.py").write_text(PYTHON)
    path = folder / "scalene.json"
    subprocess.run(["scalene", "--cli", "--cpu", "--json", "--outfile", path,
                    "kitchen.py"], cwd=folder, capture_output=True)
    if not path.exists():
        return
    said = json.loads(path.read_text())
    lines = {}
    for file in said["files"].values():
        for line in file["lines"]:
            percent = sum(line[key] for key in (
                "n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent"))
            lines[line["lineno"]] = percent / 100 * said["elapsed_time_sec"] * 1e9
    rows = flambeau("lines", path, "--source", "kitchen.py", "--json")
    rows = {row["line"]: row["total"] for row in rows["rows"]}
    for line, ns in lines.items():
        hold(f"scalene: line {line}", rows.get(line, 0), ns, 1000)


# --- perf data convert -------------------------------------------------------


def check_perf_json(folder):
    captures = os.environ.get("FLAM_CAPTURES")
    if not captures or not shutil.which("perf"):
        return
    recorded = folder / "nest.perf.data"
    found = pathlib.Path(captures) / "perf" / "nest-fp.perf.data"
    if not found.exists():
        return
    shutil.copy(found, recorded)
    path = folder / "nest.json"
    if subprocess.run(["perf", "data", "convert", "-i", recorded, "--to-json", path],
                      capture_output=True).returncode != 0:
        return
    said = json.loads(path.read_text())["samples"]
    info = flambeau("info", path, "--json")
    hold("perf json: samples", info["samples"], len(said))
    tops = {}
    for sample in said:
        top = sample.get("callchain", [{}])[0].get("symbol", "[unknown]")
        tops[top] = tops.get(top, 0) + 1
    top = flambeau("top", path, "--limit", 1000, "--json")
    ours = {}
    for row in top["rows"]:
        name = "[unknown]" if row["function"].startswith("[") else row["function"]
        ours[name] = ours.get(name, 0) + row["self"]
    for name, n in tops.items():
        hold(f"perf json: {name}", ours.get(name, 0), n)


# --- perf report -------------------------------------------------------------


def stacks_of(path):
    text = subprocess.run([cli, "export", path, "--to", "folded"],
                          check=True, capture_output=True, text=True).stdout
    rows = [line.rsplit(" ", 1) for line in text.splitlines()]
    total = sum(int(weight) for _, weight in rows)
    return {stack: int(weight) / total for stack, weight in rows}


def check_perf_report(folder):
    captures = pathlib.Path(__file__).parent.parent / "captures"
    samples = stacks_of(captures / "peers/perf/nest-report.script.txt")
    for path in sorted((captures / "perf-report").glob("*.txt")):
        if path.name.split(".")[0].split("@")[0] not in (
                "nest", "fractal", "counts", "default", "children-callee"):
            continue
        ours = stacks_of(path)
        if set(ours) != set(samples):
            faults.append(f"{path.name}: other stacks than perf script's: "
                          f"{set(ours) ^ set(samples)}")
        for stack, share in samples.items():
            hold(f"{path.name}: {stack}", ours.get(stack, 0), share, 0.0002)


# --- V8's log ----------------------------------------------------------------

SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Cart { total(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i); return s; } }
const end = Date.now() + 900, cart = new Cart();
let t = 0;
while (Date.now() < end) { t += fib(22); t += cart.total(200000); }
console.log(t);
"""


def check_v8_log(folder):
    if not shutil.which("node"):
        return
    (folder / "shop.js").write_text(SCRIPT)
    subprocess.run(["node", "--prof", "--no-logfile-per-isolate", "shop.js"], cwd=folder,
                   check=True, capture_output=True)
    path = folder / "v8.log"
    said = subprocess.run(["node", "--prof-process", "v8.log"], cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    hold("v8 log: ticks", flambeau("info", path, "--json")["samples"],
         int(re.search(r"\((\d+) ticks", said)[1]))
    theirs = {}
    section = said[said.index("[JavaScript]"):said.index("[C++]")]
    for n, name in re.findall(r"^ *(\d+) .*JS: [*~^+]?(\S+) ", section, re.M):
        theirs[name] = theirs.get(name, 0) + int(n)
    top = flambeau("top", path, "--limit", 10000, "--json")
    ours = {}
    for row in top["rows"]:
        ours[row["function"]] = ours.get(row["function"], 0) + row["self"]
    for name in ("fib", "total"):
        hold(f"v8 log: {name}", ours.get(name, 0), theirs.get(name, 0))
    if not theirs:
        faults.append("v8 log: nothing to compare")


# --- pprof ------------------------------------------------------------------


def check_pprof_merge(folder):
    """pprof's sums, function by function."""
    if not shutil.which("go"):
        return
    kitchen = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"]) / \
        "tests/captures/flambeau/kitchen.flambeau"
    parts = [folder / "early.pb", folder / "late.pb"]
    for part, span in zip(parts, ("..0.7", "0.5..")):
        subprocess.run([cli, "export", kitchen, "--no-symbols", "--time", span,
                        "--to", "pprof", "--output", part],
                       check=True, capture_output=True)
    pprof = ["go", "tool", "pprof", "-symbolize=none"]
    run = subprocess.run([*pprof, "-proto", f"-output={folder}/sum.pb", *parts],
                         capture_output=True, text=True)
    if run.returncode != 0:
        faults.append(f"pprof: {run.stderr}")
        return
    text = subprocess.run(
        [*pprof, "-raw", folder / "sum.pb"],
        check=True, capture_output=True, text=True).stdout
    head, rows = text.split("Samples:\n", 1)[1].split("\n", 1)
    rows = [line.split(":")[0].split() for line in rows.split("Locations")[0]
            .splitlines() if re.match(r" +[0-9 ]+:", line)]
    ours = folder / "sum.flambeau"
    subprocess.run([cli, "merge", *parts, "--output", ours], check=True,
                   capture_output=True)
    for i, word in enumerate(head.split()):
        measure = word.split("/")[0]
        hold(f"pprof: {measure}",
             flambeau("top", ours, "--measure", measure, "--json")["total"],
             sum(int(row[i]) for row in rows))
        tops = [{(row["function"], row["line"]): (row["self"], row["total"])
                 for row in flambeau("top", path, "--measure", measure,
                                     "--json")["rows"]}
                for path in (ours, folder / "sum.pb")]
        if tops[0] != tops[1] or not tops[0]:
            faults.append(f"pprof: {measure}: {tops[0]}, should be {tops[1]}")


def check_pprof_difference(folder):
    """pprof's differences, function by function: values below zero are previous
    ones."""
    if not shutil.which("go"):
        return
    peers = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"]) / "tests/captures/peers/pprof"
    pprof = ["go", "tool", "pprof", "-symbolize=none", "-nodefraction=0", "-nodecount=100000"]
    whole = peers / "go-cpu.pb.gz"
    part = folder / "part.pb"
    subprocess.run([*pprof, "-proto", "-focus=sort", f"-output={part}", whole],
                   check=True, capture_output=True)
    for option in ("-diff_base", "-base"):
        for base, new in ((whole, part), (part, whole)):
            path = folder / "difference.pb"
            subprocess.run([*pprof, "-proto", f"{option}={base}", f"-output={path}", new],
                           check=True, capture_output=True)
            for measure, unit in (("samples", "count"), ("cpu", "ns")):
                said = subprocess.run(
                    [*pprof, "-top", "-functions", f"-sample_index={measure}",
                     *(["-unit=ns"] if unit == "ns" else []), path],
                    check=True, capture_output=True, text=True).stdout
                theirs = {row[1]: round(float(row[0])) for row in re.findall(
                    r"^ *(-?[\d.]+)(?:ns)? +\S+ +\S+ +\S+ +\S+  (.*?)(?: \(inline\))?$",
                    said, re.M)}
                ours = {}
                ids = [m["id"] for m in flambeau("info", path, "--json")["measures"]]
                for name, sign in ((measure, 1), (f"{measure}-base", -1)):
                    rows = flambeau("top", path, "--measure", name, "--limit", 100000,
                                    "--json")["rows"] if name in ids else []
                    for row in rows:
                        ours[row["function"]] = \
                            ours.get(row["function"], 0) + sign * row["self"]
                ours = {name: self for name, self in ours.items() if self}
                theirs = {name: self for name, self in theirs.items() if self}
                if ours != theirs or not ours:
                    faults.append(f"pprof {option} {measure}: "
                                  f"{set(ours.items()) ^ set(theirs.items())}")


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_pstats, check_jfr, check_gprof, check_massif, check_scalene,
                  check_perf_json, check_perf_report, check_v8_log, check_pprof_merge,
                  check_pprof_difference):
        folder = pathlib.Path(scratch) / check.__name__
        folder.mkdir()
        check(folder)

print("\n".join(faults))
print(f"{len(faults)} faults")
sys.exit(bool(faults))
