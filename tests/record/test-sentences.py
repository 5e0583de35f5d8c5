#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sentence on what stands out, of recordings whose truth is known: the programs of
targets/sentences take given lengths of CPU time, wait for given times and allocate given
numbers of bytes. Prints each truth and each sentence.

  test-sentences.py [CASE...]"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from ground_truth import build, cli, interpreter  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "targets/sentences"
MIX, STRIPPED = build / "tests/record/mix", build / "tests/record/mix-stripped"
PYTHON = "/usr/bin/python3"
SHARE = r"(?:> )?(?P<share>[\d.]+) %"
MEMORY = ["--mode", "alloc"]
EXACT = [*MEMORY, "--exact"]
WALL = ["--mode", "wall"]
CPU = ["--mode", "cpu"]
# Of a share of time, in points; other programs may take the CPU.
BOUND = 8

# Name, options, program and case, truth, pattern of the sentence, and the true share.
CASES = [
    ("cpu", CPU, MIX, "cpu", "checksum 80 %, parse 20 %",
     rf"checksum takes {SHARE} \(mix\.c:\d+\)", 80),
    ("stripped", CPU, STRIPPED, "cpu", "all in a program without names",
     rf"No function names for {SHARE}, most of it in mix-stripped", 99),
    # Ten to twenty samples: the share is rough. Fewer name nothing.
    ("short", CPU, MIX, "short", "20 ms, checksum 80 %",
     rf"checksum takes {SHARE} \(mix\.c:\d+\)|Too few samples \(\d\) to tell what takes "
     r"the time", None),
    ("spread", CPU, MIX, "spread", "twelve with 7.6 %, m 9.3 %",
     rf"No function stands out\. The largest is [a-m] with {SHARE} \(mix\.c:\d+\)", 9),
    ("library", CPU, MIX, "library", "sort_rows by qsort, 100 %",
     rf"sort_rows takes {SHARE}, with the functions it calls \(mix\.c:\d+\)", 99),
    ("recursion", CPU, MIX, "recursion", "fibonacci 100 %",
     rf"fibonacci takes {SHARE} \(mix\.c:\d+\)", 99),
    ("two functions in turn", CPU, MIX, "mutual", "is_even and is_odd 40 % each, the clock 20 %",
     rf"is_(even|odd) takes {SHARE} \(mix\.c:\d+\)", 40),
    ("system calls", CPU, MIX, "calls", "read_zeros by the kernel, 100 %",
     rf"read_zeros takes {SHARE}, with the functions it calls \(mix\.c:\d+\)", 99),
    ("many threads", CPU, MIX, "threads", "16 threads, checksum 80 % of each",
     rf"checksum takes {SHARE} \(mix\.c:\d+\)", 80),
    ("children", CPU, MIX, "children", "three children, checksum 80 % of each",
     rf"checksum takes {SHARE} \(mix\.c:\d+\)", 80),
    ("idle", WALL, MIX, "idle", "sleeps for its whole time",
     rf"{SHARE} of the time sleeps in idle \(mix\.c:\d+\)", 99),
    ("lock", WALL, MIX, "lock", "two of three threads wait for a lock",
     rf"{SHARE} of the time waits for a lock in queue_pop \(mix\.c:\d+\)", 67),
    ("condition", WALL, MIX, "condition", "waits for 1 s for a condition",
     rf"{SHARE} of the time waits for another thread in await_job \(mix\.c:\d+\)", None),
    ("input", WALL, MIX, "pipe", "reads from a program that writes nothing",
     rf"{SHARE} of the time waits for input or output in fetch \(mix\.c:\d+\)", 99),
    ("poll", WALL, MIX, "poll", "polls a program that writes nothing for 0.9 s",
     rf"{SHARE} of the time waits for input or output in poll_input \(mix\.c:\d+\)", 99),
    ("naps", WALL, MIX, "naps", "three threads sleep, one waits for them",
     rf"{SHARE} of the time sleeps in nap \(mix\.c:\d+\)", 75),
    ("leak", EXACT, MIX, "leak", "peak 18.8 MB, 18 in load; 0.8 MB lost by open_session",
     rf"Peak 18\.8 MB, {SHARE} of it in load \(mix\.c:\d+\)\. "
     r"800 kB never freed, in open_session \(mix\.c:\d+\)", 96),
    ("sampled leak", MEMORY, MIX, "leak", "the same",
     rf"Peak 18\.[789] MB( ± [\d.]+ kB)?, ≈ {SHARE} of it in load \(mix\.c:\d+\)\. "
     r"80\d kB( ± [\d.]+ k?B)? never freed(, ≈ 100 % of it in open_session \(mix\.c:\d+\))?", None),
    ("leak alone", EXACT, MIX, "leak-only", "0.8 MB lost by open_session",
     rf"Peak 800 kB, {SHARE} of it in open_session \(mix\.c:\d+\)\. "
     r"800 kB never freed, in open_session \(mix\.c:\d+\)", 100),
    ("peak", EXACT, MIX, "peak", "30 MB in decode, after 18 MB",
     rf"Peak 30\.0 MB, {SHARE} of it in decode \(mix\.c:\d+\)", 100),
    ("sampled peak", MEMORY, MIX, "peak", "the same",
     rf"Peak 30\.0 MB( ± [\d.]+ kB)?, ≈ {SHARE} of it in decode \(mix\.c:\d+\)", 100),
    ("growing block", EXACT, MIX, "append", "12 MB in append, never freed",
     rf"Peak 12\.0 MB, {SHARE} of it in append \(mix\.c:\d+\)\. "
     r"12\.0 MB never freed, in append \(mix\.c:\d+\)", 100),
    ("short blocks", EXACT, MIX, "churn", "20,000 blocks of 100 bytes, one at a time",
     rf"Peak 100 B, {SHARE} of it in churn \(mix\.c:\d+\)", 100),
    ("Python", CPU, "mix.py", "cpu", "checksum 80 %, parse 20 %",
     rf"checksum takes {SHARE}, with the functions it calls \(mix\.py:\d+\)", 78),
    ("Python's library", CPU, "mix.py", "library", "sort_rows by sorted(), 100 %",
     rf"sort_rows takes {SHARE}, with the functions it calls \(mix\.py:\d+\)", 97),
    ("Python's packages", CPU, "mix.py", "json", "encode_rows by json, 100 %",
     rf"encode_rows takes {SHARE}, with the functions it calls \(mix\.py:\d+\)", 97),
    ("Python's lock", WALL, "mix.py", "lock", "three of four threads wait for a lock",
     rf"{SHARE} of the time waits for a lock in queue_pop \(mix\.py:\d+\)", 74),
    ("Python waits", WALL, "mix.py", "sleep", "pause sleeps for 1 s",
     rf"{SHARE} of the time sleeps in pause \(mix\.py:\d+\)", None),
    ("Python's memory", EXACT, "mix.py", "memory", "10 MB in load",
     rf"Peak 1[01]\.\d MB, {SHARE} of it in load \(mix\.py:\d+\)\. \d+ kB never freed.*", 91),
    # node's own functions have two percent of it: either figure is right.
    ("node", CPU, "mix.js", "cpu", "checksum 80 %, parse 20 %",
     rf"checksum takes {SHARE}(, with the functions it calls)? \(mix\.js:\d+\)", 76),
    ("node's library", CPU, "mix.js", "library", "decode by JSON.parse, 95 %",
     rf"decode takes {SHARE}, with the functions it calls \(mix\.js:\d+\)", None),
    ("node waits", WALL, "mix.js", "wait", "only node's own threads",
     rf"{SHARE} of the time waits for another thread in node::.* \(node\)", None),
    ("Java", CPU, "Mix.java", "cpu", "checksum 80 %, parse 20 %",
     rf"Mix\.checksum takes {SHARE} \(Mix\.java:\d+\)", 76),
    ("Java's library", CPU, "Mix.java", "library", "sortRows by Arrays.sort, 95 %",
     rf"Mix\.sortRows takes {SHARE}, with the functions it calls \(Mix\.java:\d+\)", None),
    ("Java's lock", WALL, "Mix.java", "lock", "two threads wait for the lock that hold has",
     rf"{SHARE} of the time waits for a lock in Mix\.queuePop \(Mix\.java:\d+\)", None),
    ("Ruby", CPU, "mix.rb", "cpu", "checksum 80 %, parse 20 %",
     rf"(Object#)?checksum takes {SHARE}(, with the functions it calls)? \(mix\.rb:\d+\)", 78),
    ("Ruby's library", CPU, "mix.rb", "library", "sort_rows by Array#sort, 95 %",
     rf"(Object#)?sort_rows takes {SHARE}, with the functions it calls \(mix\.rb:\d+\)", None),
]


def command(program, case, folder):
    """None: nothing here runs it."""
    if isinstance(program, pathlib.Path):
        return [program, case]
    suffix = pathlib.Path(program).suffix
    runs = PYTHON if suffix == ".py" else interpreter(suffix)
    if not runs or not os.path.exists(runs):
        return None
    if suffix == ".java":
        if subprocess.run(["javac", "-d", folder, HERE / program], check=False).returncode != 0:
            return None
        return [runs, "-cp", folder, "Mix", case]
    return [runs, HERE / program, case]


def sentence(options, words, folder):
    capture = f"{folder}/capture.flambeau"
    with subprocess.Popen(["sleep", "1"], stdout=subprocess.PIPE) as still:
        subprocess.run([cli, "record", *options, "--output", capture, "--force", "--", *words],
                       check=False, stdin=still.stdout, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    told = subprocess.run([cli, "info", capture], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout
    return re.sub("[\u202f\u00a0]", " ", told.split("\n")[0])


def fault(told, pattern, truth):
    found = re.fullmatch(pattern, told)
    if not found:
        return "  WRONG"
    if truth is not None and abs(float(found["share"]) - truth) > BOUND:
        return f"  WRONG: {truth} %"
    return ""


def main():
    chosen = sys.argv[1:]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options, program, case, truth, pattern, share in CASES:
            if chosen and name not in chosen:
                continue
            words = command(program, case, folder)
            if words is None:
                print(f"{name}: nothing here runs {program}")
                continue
            # Another program may take the CPU from it: a fault is one that repeats.
            for _ in range(3):
                told = sentence(options, words, folder)
                wrong = fault(told, pattern, share)
                if not wrong:
                    break
            faults += bool(wrong)
            print(f"{name}\n  truth: {truth}\n  {told}{wrong}", flush=True)
    return faults > 0


sys.exit(main())
