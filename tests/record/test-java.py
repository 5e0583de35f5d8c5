#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of Java, without a flag and without an agent: the frames of waiting
threads are those of jstack, those of a program those of its Flight Recorder, and a
busy thread's stacks are complete. The shares of functions are in test-ground-truth.py."""

import collections
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from ground_truth import (
    Condition,
    ask,
    cli,
    compiled,
    measure,
    recorder,
    script_command,
    scripts,
    top,
)

PARKED = pathlib.Path(__file__).resolve().parent / "targets/parked.java"

Frame = collections.namedtuple("Frame", "method file line")


def jstack_frames(pid):
    """Of each thread its name, and its frames, leaf first: "at java.lang.Thread.run(java.base@17/Thread.java:840)"."""
    text = subprocess.run(["jstack", str(pid)], check=True, stdout=subprocess.PIPE).stdout.decode()
    threads = {}
    for block in text.split("\n\n"):
        tid = re.search(r'^"(compiled|interpreted|sleeping, with a long name)".* nid=(0x[0-9a-f]+|\d+)', block, re.M)
        if not tid:
            continue
        threads[int(tid[2], 0)] = tid[1], [
            Frame(re.sub(r"/0x[0-9a-f]+", "", method), file or "", int(line or 0))
            for method, file, line in re.findall(
                r"^\tat (\S+)\((?:\S+/)?(?:(\w+\.java):(\d+)|Native Method|Unknown Source)\)",
                block, re.M)
        ]
    return threads


def named(text, line):
    """Of a function in a dump: "Parked.outer jit at parked.java:26 module=-"; None: it is
    not Java's."""
    match = re.fullmatch(r"function \d+ (\S+\.\S+) jit(?: at (\S+):\d+)? module=-", text)
    return match and Frame(match[1], pathlib.Path(match[2] or "").name if line else "", line)


def recorded_frames(capture):
    """The first stack of each thread, leaf first, as far as it is Java's."""
    text = subprocess.run([cli, "dump", capture, "--stage", "profile"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    functions, frames, stacks, threads = [], [], [], {}
    for line in text.splitlines():
        kind, *words = line.split()
        values = dict(word.split("=", 1) for word in words if "=" in word)
        if kind == "function":
            functions.append(line)
        elif kind == "frame":
            frames.append((int(values["function"]), int(values["line"])))
        elif kind == "stack":
            prefix = values["prefix"]
            stacks.append((None if prefix == "-" else int(prefix), int(values["frame"])))
        elif kind == "thread":
            tid = int(values["tid"])
        elif kind == "sample" and tid not in threads and values["stack"] != "-":
            threads[tid] = int(values["stack"])
    for tid, stack in threads.items():
        found = []
        while stack is not None:
            stack, frame = stacks[stack]
            function, line = frames[frame]
            found.append(named(functions[function], line))
        threads[tid] = [frame for frame in found if frame]
    return threads


def plain(name):
    """Without what a C library puts before names."""
    return re.sub(r"^_*(?:GI_+)?(?:libc_)?", "", name)


def mixed_frames(pid):
    """The main thread's frames of both kinds, root first, as the debugger of HotSpot's
    makers finds them. (Other threads end there at a wait.)
    "0x00007f2b424d1a1f  jni_CallStaticVoidMethod + 0x24f"
    "0x00007f2b2c941260  * java.io.BufferedInputStream.read() bci:12 line:263" """
    text = subprocess.run(["jhsdb", "jstack", "--mixed", "--pid", str(pid)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    block = re.search(r'^"main".*?(?=^---|\Z)', text, re.M | re.S)[0]
    names = re.findall(r"^0x[0-9a-f]+\s(?:\* )?([\w.:$]+)", block, re.M)
    return [plain(name) for name in names][::-1]


def chain_of(methods):
    """Only the program's own frames, leaf first, a recursion as one
    frame."""
    own = [name for name in methods if re.fullmatch(r"Kinds\.\w+", name)]
    return tuple(name for name, _ in itertools.groupby(own))


def flight_chains(path):
    """How often Java's Flight Recorder saw each chain of the main thread."""
    text = subprocess.run(["jfr", "print", "--json", "--stack-depth", "64", "--events",
                           "jdk.ExecutionSample", path], check=True, stdout=subprocess.PIPE).stdout
    chains = collections.Counter()
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        if values["sampledThread"]["javaName"] == "main" and not values["stackTrace"]["truncated"]:
            methods = [frame["method"] for frame in values["stackTrace"]["frames"]]
            chains[chain_of(f"{one['type']['name']}.{one['name']}" for one in methods)] += 1
    return chains


def recorded_chains(capture):
    """All chains of a capture, and all that begin them."""
    text = subprocess.run([cli, "dump", capture, "--stage", "profile"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    functions = re.findall(r"^function \d+ (\S+)", text, re.M)
    frames = [int(one) for one in re.findall(r"^frame \d+ .*?function=(\d+)", text, re.M)]
    stacks, chains = [], set()
    for prefix, frame in re.findall(r"^stack \d+ .*?prefix=(\S+) .*?frame=(\d+)", text, re.M):
        name = functions[frames[int(frame)]]
        above = stacks[int(prefix)] if prefix != "-" else ()
        stacks.append(chain_of([name, *above]))
        chains.add(stacks[-1])
    return chains


@unittest.skipUnless(shutil.which("javac") and shutil.which("jstack"), "there is no JDK here")
class Java(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-java.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.maxDiff = None

    def start_parked(self):
        target = subprocess.Popen(["java", "-cp", compiled(PARKED), "Parked"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        return target

    def test_waiting(self):
        target = self.start_parked()
        expected = jstack_frames(target.pid)
        self.assertEqual(len(expected), 3)
        capture = self.scratch / "parked.flambeau"
        subprocess.run([recorder, "--output", capture, "--mode", "wall", "--duration", "1",
                        "--pid", str(target.pid)], check=True, stderr=subprocess.DEVNULL)
        recorded = recorded_frames(capture)
        threads = {row["tid"]: row for row in ask("info", capture)["threads"]}
        for tid, (name, frames) in expected.items():
            self.assertEqual(threads[tid]["name"], name)
            # What the kernel keeps of it is not another name that it had.
            self.assertNotIn("former_names", threads[tid])
            self.assertGreater(len(frames), 8)
            self.assertEqual(recorded.get(tid), frames)
        self.assertIsNone(target.poll())

    @unittest.skipUnless(os.environ.get("FLAM_TEST_ALL"), "another oracle takes 6 s more")
    @unittest.skipUnless(shutil.which("jhsdb"), "HotSpot's debugger is not installed")
    def test_mixed(self):
        """Frames of C below and above those of Java."""
        target = self.start_parked()
        capture = self.scratch / "mixed.flambeau"
        subprocess.run([recorder, "--output", capture, "--mode", "wall", "--duration", "0.5",
                        "--pid", str(target.pid)], check=True, stderr=subprocess.DEVNULL)
        text = subprocess.run([cli, "export", capture, "--to", "folded", "--measure", "wall-time",
                               "--thread", "main"],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        stack, _ = max((line.rsplit(" ", 1) for line in text.splitlines()), key=lambda row: int(row[1]))
        ours = [plain(name) for name in stack.split(";")]
        theirs = mixed_frames(target.pid)
        self.assertEqual(theirs[-1], "read")
        self.assertIn("JavaMain", theirs)
        self.assertIn("Parked.main", theirs)
        # It leaves out what the C library and the JDK call on the way to a system call.
        rest = iter(ours)
        self.assertTrue(all(name in rest for name in theirs), (ours, theirs))
        self.assertLessEqual(len(ours), len(theirs) + 5)

    @unittest.skipUnless(shutil.which("jfr"), "there is no Flight Recorder here")
    def test_flight_recorder(self):
        flight, capture = self.scratch / "kinds.jfr", self.scratch / "kinds.flambeau"
        command = script_command(scripts / "kinds.java")
        command.insert(1, f"-XX:StartFlightRecording:filename={flight},settings=profile")
        subprocess.run([recorder, "--output", capture, "--", *command, "2"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        expected, ours = flight_chains(flight), recorded_chains(capture)
        known = sum(n for chain, n in expected.items() if chain in ours)
        self.assertGreater(len(expected), 3)
        self.assertGreaterEqual(known, 0.95 * sum(expected.values()), set(expected) - ours)

    def hold(self, attached):
        measured = measure(Condition("kinds.java", attached=attached, seconds=4), self.scratch)
        main = str(measured.truth.threads[0].tid)
        answer = top(measured.capture, "--thread", main)
        rows = {row["function"]: row["total"] for row in answer["rows"]}
        # The frames before main() belong to the machine's start.
        work = "Kinds.main" if attached else "JavaMain"
        self.assertGreater(rows[work], 0.95 * answer["total"])
        self.assertGreater(rows["Kinds.main"], 0.95 * rows.get("jni_invoke_static", 0))
        samples = top(measured.capture, "--measure", "samples")["total"]
        self.assertLess(ask("info", measured.capture)["truncated_stacks"], 0.02 * samples)
        # All 500 frames of a recursion are there, but for the first of these stacks.
        self.assertIn("Kinds.descend", rows)
        self.assert_named(measured)

    def assert_named(self, measured):
        """Whatever ran has a name: Java's functions and stubs, the collector's and the
        compilers' threads, and what starts and ends threads. What a thread does after its
        last sample, such as to free the machine's memory, has a row of its own."""
        nameless = {row["function"]: row["self"] for row in measured.rows
                    if re.match(r"\[|0x|\(unreadable", row["function"]) and row["function"] != "[not sampled]"}
        self.assertLess(sum(nameless.values()), 0.02 * 1e9 * measured.total, nameless)

    def test_launched(self):
        self.hold(False)

    def test_attached(self):
        self.hold(True)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    unittest.main(verbosity=2)
