#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
""".NET's methods, without a flag of .NET's: the stacks of a program that waits, beside
its own System.Diagnostics.StackTrace, and shares by the program's own clock.

FLAM_DOTNETS is a folder with runtimes from npm's packages (dotnets.py); without it, the
`dotnet` of PATH is used, if it has a compiler.

  test-dotnet.py [Stacks|Shares][.test_NAME]..."""

import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import dotnets
from ground_truth import Condition, cli, hold, recorder

waits = pathlib.Path(__file__).resolve().parent / "targets/waits.cs"
SECONDS = 0.3
# Of a program that waits for a fifth of a second in each of its stacks.
LEAST = 0.5


def runtimes():
    """The shared ones: a single file has only the parts of the library that it needs."""
    folder = os.environ.get("FLAM_DOTNETS")
    found = dotnets.from_packages(pathlib.Path(folder)) if folder else []
    if found:
        dotnets.compiler = found[0]
        return [path for path in found if path.name == "dotnet"]
    return [*filter(None, [shutil.which("dotnet")])]


def programs(source):
    return [words for words in (dotnets.program(source, str(runs)) for runs in runtimes()) if words]


def without_repetitions(names):
    return [name for name, _ in itertools.groupby(names)]


def own_stacks(said):
    """As the program printed them. That of a method in the runtime, in C++, has no
    name of .NET's for us."""
    return [without_repetitions(name for name in (line.split("\t")[0] for line in stack.splitlines())
                                if name != "System.RuntimeMethodHandle.InvokeMethod")
            for stack in said.strip().split("\n\n")]


def own_lines(said):
    """Methods with the lines of their calls; that of Sleep() is another one when it
    waits."""
    return {tuple(line.split("\t")) for line in said.splitlines()
            if "\t" in line and not line.startswith("Some.Space.Waits.Sleep\t")}


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-dotnet.")
        self.addCleanup(folder.cleanup)
        self.capture = pathlib.Path(folder.name) / "dotnet.flambeau"


class Stacks(Scratch):
    def recorded(self):
        """The managed frames of stacks with a long wait, from Sleep() on. Between the
        handler of an exception and its method, there is what calls it."""
        text = subprocess.run([cli, "export", self.capture, "--to", "folded", "--measure", "wall-time"],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              encoding="utf-8").stdout
        stacks = []
        for line in text.splitlines():
            stack, ns = line.rsplit(" ", 1)
            frames = stack.split(";")[::-1]
            if int(ns) < LEAST * SECONDS * 1e9 or "Some.Space.Waits.Sleep" not in frames:
                continue
            frames = frames[frames.index("Some.Space.Waits.Sleep"):]
            stacks.append(without_repetitions(
                name for name in frames if name.startswith(("Some.", "System."))
                and not name.startswith("System.Runtime.EH.")))
        return stacks

    def lines(self):
        """Of the frames that lead to Sleep(), those of the program, with their lines."""
        text = subprocess.run([cli, "dump", self.capture, "--stage", "profile"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8").stdout
        functions, frames, stacks, found = [], [], [], set()
        for kind, *words in filter(None, map(str.split, text.splitlines())):
            values = dict(word.split("=", 1) for word in words if "=" in word)
            if kind == "function":
                functions.append(words[1] if waits.name in words[-2] else None)
            elif kind == "frame":
                frames.append((functions[int(values["function"])], values["line"]))
            elif kind == "stack":
                stacks.append((values["prefix"], frames[int(values["frame"])]))
        for at, (name, _) in stacks:
            while name == "Some.Space.Waits.Sleep" and at != "-":
                at, frame = stacks[int(at)]
                found |= {frame} if frame[0] else set()
        return found

    def record(self, *words):
        return [recorder, "--output", self.capture, "--force", "--mode", "wall", "--rate", "100", *words]

    def compare(self, said, stacks):
        theirs = own_stacks(said)
        self.assertGreater(len(theirs), 9)
        self.assertEqual(sorted(stacks), sorted(stack for stack, _ in itertools.groupby(sorted(theirs))))

    def test_launched(self):
        theirs = set()
        for words in programs(waits) or self.skipTest("there is no .NET with a compiler"):
            done = subprocess.run(self.record("--", *words, str(SECONDS)), check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
            self.compare(done.stdout, self.recorded())
            # 3.1 itself has the line after some of the calls, and not all lines.
            ours = self.lines()
            if not theirs:
                theirs = own_lines(done.stdout)
                self.assertGreater(len(theirs), 9)
                self.assertLessEqual(theirs, ours)
            # Where it was thrown and the handler are both on the stack, and both theirs
            # in one of the versions alone.
            self.assertLessEqual({name for name, _ in ours - theirs}, {"Some.Space.Waits.Catch"})

    def test_attached(self):
        """In the first of its stacks."""
        for words in programs(waits) or self.skipTest("there is no .NET with a compiler"):
            with subprocess.Popen([*words, "60"], stdout=subprocess.PIPE, encoding="utf-8") as process:
                try:
                    said = "".join(iter(process.stdout.readline, "\n"))
                    subprocess.run(self.record("--pid", str(process.pid), "--duration", str(SECONDS)),
                                   check=True, stderr=subprocess.DEVNULL)
                finally:
                    process.kill()
            self.assertEqual(self.recorded(), own_stacks(said))


class Shares(Scratch):
    """heavy() and light() of burst.cs."""

    @staticmethod
    def wrong(measured):
        return [*map(str, measured.work_faults() if measured.disturbed else measured.faults())]

    def hold(self, attached):
        for runs in runtimes() or self.skipTest("there is no .NET"):
            condition = Condition("burst.cs", attached=attached, seconds=3, runs=str(runs))
            hold(self, condition, self.capture.parent, self.wrong)

    def test_launched(self):
        self.hold(False)

    def test_attached(self):
        self.hold(True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
